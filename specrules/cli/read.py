"""`specrules read`: what a file says."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from specrules.cli import options

if TYPE_CHECKING:
    from specrules.evidence.readers.reading import Reading
    from specrules.evidence.readers.recognition import Recognition

_BIG = 8 << 20


@click.command(name="read")
@click.argument("file")
@click.option("--engine", metavar="ID", help="The engine that printed it; without it the engine is detected.")
@click.option(
    "--before",
    metavar="EARLIER",
    help="An earlier /metrics dump of the same server: what happened in between is shown.",
)
@click.option("--format", "format_name", type=click.Choice(["text", "json"]), default="text", show_default=True)
@options.output
@options.layers
def command(
    file: str,
    engine: str | None,
    before: str | None,
    format_name: str,
    output: Path | None,
    engines: tuple[Path, ...],
    rules: tuple[Path, ...],
    templates: tuple[Path, ...],
) -> None:
    """Show the facts found in a server log, a /metrics dump or a JSON response, each with its place.

    The engine and the era of a file are recognised from its text; how sure that is stands below the first line. A log
    may have any length.

    \b
    Examples:
      specrules read server.log
      specrules read after.txt --before before.txt
      curl -s localhost:8080/metrics | specrules read - --engine llama.cpp
    """
    from specrules.catalog.catalogue import Catalog
    from specrules.cli.writing import write
    from specrules.pipeline.reading import read

    catalog = Catalog.load(engines=engines, rules=rules, templates=templates)
    with _bar(file) as advance:
        reading = read(file, engine, catalog=catalog, before=before, advance=advance)
    for problem in (*reading.warnings, *reading.contradictions, *reading.unread):
        click.echo(problem.render(), err=True)
    if reading.unread_lines > len(reading.unread):
        click.echo(f"{reading.unread_lines} lines look like evidence but match no pattern", err=True)
    write(_json(reading) if format_name == "json" else _text(reading), output)


@contextmanager
def _bar(path: str) -> Iterator[Callable[[int], None] | None]:
    """Show on a terminal how much of a big file was read; a pipe or a CI log gets nothing."""
    from specrules.pipeline.reading import size_of

    size = size_of(path) if sys.stderr.isatty() else None
    if size is None or size < _BIG:
        yield None
        return
    with click.progressbar(
        length=size, label=f"reading {Path(path).name}", file=sys.stderr, update_min_steps=size // 200
    ) as bar:
        yield bar.update


def _text(reading: Reading) -> str:
    rows = [(fact.name, _value(fact.value), fact.unit, fact.provenance.source) for fact in reading.facts.values()]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(3)]
    since = "" if reading.before is None else f" since {reading.before}"
    lines = [
        f"{reading.path}{since}: {reading.title} of {reading.engine_id} (reader {reading.reader_id})",
        f"  {reading.recognition.describe()}",
        *(f"  era: {era}" for era in reading.recognition.eras),
    ]
    for row in rows:
        cells = "  ".join(cell.ljust(width) for cell, width in zip(row[:3], widths, strict=True))
        lines.append(f"  {cells}  {row[3]}")
    return "\n".join(lines)


def _json(reading: Reading) -> str:
    data: dict[str, Any] = {
        "schema": 1,
        "path": reading.path,
        "before": reading.before,
        "engine": reading.engine_id,
        "reader": reading.reader_id,
        "recognition": _recognition(reading.recognition),
        "idle": reading.is_idle,
        "facts": [fact.model_dump(mode="json") for fact in reading.facts.values()],
        "warnings": [problem.render() for problem in reading.warnings],
        "contradictions": [problem.render() for problem in reading.contradictions],
        "unread_lines": reading.unread_lines,
    }
    return json.dumps(data, indent=2, ensure_ascii=False)


def _recognition(recognition: Recognition) -> dict[str, Any]:
    return {
        "sureness": recognition.sureness,
        "stated": recognition.is_stated,
        "matches": [{"engine": item.engine_id, recognition.unit: item.count} for item in recognition.matches],
        "compared_lines": recognition.compared_lines,
        "eras": list(recognition.eras),
    }


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.6g}"
    return ", ".join(f"{item:.4g}" for item in value) if isinstance(value, tuple) else str(value)
