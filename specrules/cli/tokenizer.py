"""`specrules tokenizer`: two tokenizers and what engines do with the pair."""

from __future__ import annotations

from pathlib import Path

import click

from specrules.cli import options


@click.command(name="tokenizer")
@click.argument("target")
@click.argument("drafter")
@click.option("--engine", metavar="ID", help="Ask this engine only; without it every engine is asked.")
@click.option("--engine-version", metavar="VERSION", help="The engine's version, where it is not the described one.")
@click.option("--format", "format_name", type=click.Choice(["md", "json"]), default="md", show_default=True)
@options.output
@options.layers
def command(
    target: str,
    drafter: str,
    engine: str | None,
    engine_version: str | None,
    format_name: str,
    output: Path | None,
    engines: tuple[Path, ...],
    rules: tuple[Path, ...],
    templates: tuple[Path, ...],
) -> None:
    """Compare the tokenizers of TARGET and DRAFTER, and say what engines do with this pair.

    Each is a GGUF file, tokenizer.json, vocab.json beside merges.txt, a SentencePiece tokenizer.model, a tiktoken rank
    file, a folder with one of these, or an http(s) address of one. config.json, tokenizer_config.json and
    added_tokens.json beside a file are read as well. Leaves with 0 where the pair was compared, whatever came out.

    \b
    Examples:
      specrules tokenizer large.gguf small.gguf --engine llama.cpp
      specrules tokenizer Qwen3-32B/ Qwen3-0.6B/tokenizer.json --format json
    """
    from specrules.catalog.catalogue import Catalog
    from specrules.cli.fetching import web
    from specrules.cli.tokenizer_report import as_json, as_markdown
    from specrules.cli.writing import write
    from specrules.pipeline.tokenizer import tokenizers

    catalog = Catalog.load(engines=engines, rules=rules, templates=templates)
    pair = tokenizers(target, drafter, engine, version=engine_version, catalog=catalog, sources=web())
    write(as_json(pair) if format_name == "json" else as_markdown(pair), output)
