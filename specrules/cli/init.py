"""`specrules init`: from a running server to a case."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from specrules.cli import options


@click.command(name="init")
@click.option("--target", metavar="URL", help="The server that runs today.")
@click.option("--drafter", metavar="FILE|URL", help="A GGUF file, its URL, or a server that serves the drafter alone.")
@click.option("--log", metavar="FILE", help="A log of the server that runs today; the case names it as evidence.")
@click.option("--metrics", metavar="FILE|URL", help="A /metrics dump, or where it is served.")
@click.option("--engine", metavar="ID", help="The engine, where it is not to be recognised.")
@click.option(
    "--no-requests", is_flag=True, help="Send GET requests only: none that makes the server generate a few tokens."
)
@options.access
@options.output
@options.now
@options.layers
def command(
    target: str | None,
    drafter: str | None,
    log: str | None,
    metrics: str | None,
    engine: str | None,
    no_requests: bool,
    token_env: str,
    allow_private_redirects: bool,
    timeout: float,
    output: Path | None,
    now: datetime | None,
    engines: tuple[Path, ...],
    rules: tuple[Path, ...],
    templates: tuple[Path, ...],
) -> None:
    """Ask a running server what it is and whether it drafts, and write a case to start from.

    The engine is recognised by the answers that its file describes. Asking takes a dozen short GET requests and, unless
    --no-requests is given, the few small requests that the engine's file lists as probes. What could not be learned
    stands in the case as a comment, with the command that would tell.

    \b
    Examples:
      specrules init --target http://localhost:8080 --drafter small.gguf -o case.yaml
      specrules init --log server.log --engine llama.cpp
    """
    from specrules.catalog.catalogue import Catalog
    from specrules.cli.writing import write
    from specrules.pipeline.servers import Access
    from specrules.pipeline.sketch import Wanted, learn
    from specrules.pipeline.sketch_text import case_text

    moment = now or datetime.now(UTC)
    catalog = Catalog.load(engines=engines, rules=rules, templates=templates)
    access = Access(token_env, allow_private_redirects, total_s=max(120, timeout), silent_s=timeout)
    file = output or Path("case.yaml")
    wanted = Wanted(target, drafter, log, metrics, engine, generates=not no_requests, folder=file.parent)
    learned = learn(wanted, now=moment, access=access, catalog=catalog, say=announce)
    write(case_text(learned, moment, file), output)


def announce(text: str) -> None:
    """Say what is about to be asked, before it is."""
    click.echo(text, err=True)
