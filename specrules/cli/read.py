"""`specrules read`: what a file says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from specrules.cli import options

if TYPE_CHECKING:
    from specrules.evidence.reading import Reading


@click.command(name="read")
@click.argument("file")
@click.option("--engine", metavar="ID", help="The engine that printed it; without it the engine is detected.")
@click.option("--format", "format_name", type=click.Choice(["text", "json"]), default="text", show_default=True)
@options.output
@options.layers
def command(
    file: str,
    engine: str | None,
    format_name: str,
    output: Path | None,
    engines: tuple[Path, ...],
    rules: tuple[Path, ...],
    templates: tuple[Path, ...],
) -> None:
    """Show the facts found in a server log, a /metrics dump or a JSON response, each with its place.

    \b
    Examples:
      specrules read server.log
      curl -s localhost:8080/metrics | specrules read - --engine llama.cpp
    """
    from specrules.catalog.catalogue import Catalog
    from specrules.cli.writing import write
    from specrules.pipeline.reading import read

    catalog = Catalog.load(engines=engines, rules=rules, templates=templates)
    reading = read(file, engine, catalog=catalog)
    for problem in (*reading.warnings, *reading.contradictions, *reading.unread):
        click.echo(problem.render(), err=True)
    if reading.unread_lines > len(reading.unread):
        click.echo(f"{reading.unread_lines} lines look like evidence but match no pattern", err=True)
    write(_json(reading) if format_name == "json" else _text(reading), output)


def _text(reading: Reading) -> str:
    rows = [(fact.name, _value(fact.value), fact.unit, fact.provenance.source) for fact in reading.facts.values()]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(3)]
    lines = [f"{reading.path}: {reading.title} of {reading.engine_id} (reader {reading.reader_id})"]
    for row in rows:
        cells = "  ".join(cell.ljust(width) for cell, width in zip(row[:3], widths, strict=True))
        lines.append(f"  {cells}  {row[3]}")
    return "\n".join(lines)


def _json(reading: Reading) -> str:
    data: dict[str, Any] = {
        "schema": 1,
        "path": reading.path,
        "engine": reading.engine_id,
        "reader": reading.reader_id,
        "facts": [fact.model_dump(mode="json") for fact in reading.facts.values()],
        "warnings": [problem.render() for problem in reading.warnings],
        "contradictions": [problem.render() for problem in reading.contradictions],
        "unread_lines": reading.unread_lines,
    }
    return json.dumps(data, indent=2, ensure_ascii=False)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.6g}"
    return ", ".join(f"{item:.4g}" for item in value) if isinstance(value, tuple) else str(value)
