"""`specrules read`: what a file says."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from specrules.cli import options

if TYPE_CHECKING:
    from specrules.evidence.readers.reading import Reading
    from specrules.evidence.readers.recognition import Recognition
    from specrules.model.fact import Fact

_BIG = 8 << 20


@click.command(name="read")
@click.argument("file")
@click.option("--engine", metavar="ID", help="The engine or bench tool that printed it; else it is detected.")
@click.option(
    "--before",
    metavar="EARLIER",
    help="An earlier /metrics dump of the same server: what happened in between is shown.",
)
@click.option(
    "--where",
    multiple=True,
    metavar="NAME=VALUE",
    help="Of several runs in a bench output, show those with this setting. Repeatable.",
)
@click.option("--format", "format_name", type=click.Choice(["text", "json"]), default="text", show_default=True)
@options.output
@options.layers
def command(
    file: str,
    engine: str | None,
    before: str | None,
    where: tuple[str, ...],
    format_name: str,
    output: Path | None,
    engines: tuple[Path, ...],
    rules: tuple[Path, ...],
    templates: tuple[Path, ...],
) -> None:
    """Show the facts found in a server log, a /metrics dump, a response or a bench output, each with its place.

    The engine and the era of a file are recognised from its text; how sure that is stands below the first line. A log
    may have any length. A bench output may hold several runs: all of them are shown.

    \b
    Examples:
      specrules read server.log
      specrules read after.txt --before before.txt
      specrules read batched-bench.md --where prompt=512
      curl -s localhost:8080/metrics | specrules read - --engine llama.cpp
    """
    from specrules.catalog.catalogue import Catalog
    from specrules.cli.writing import write
    from specrules.pipeline.reading import read_runs, runs_where

    catalog = Catalog.load(engines=engines, rules=rules, templates=templates)
    with _bar(file) as advance:
        readings = runs_where(read_runs(file, engine, catalog=catalog, before=before, advance=advance), _pairs(where))
    for reading in readings:
        for problem in (*reading.warnings, *reading.contradictions, *reading.unread):
            click.echo(problem.render(), err=True)
        if reading.unread_lines > len(reading.unread):
            click.echo(f"{reading.unread_lines} lines look like evidence but match no pattern", err=True)
    write(_json(readings) if format_name == "json" else _texts(readings), output)


def _pairs(texts: Sequence[str]) -> dict[str, str]:
    """Take NAME=VALUE apart. UsageError for a text that is none."""
    from specrules.errors import UsageError

    wrong = [text for text in texts if "=" not in text]
    if wrong:
        raise UsageError(f"--where {wrong[0]}: it has the form NAME=VALUE, such as concurrency=4")
    return {name.strip(): value.strip() for name, _, value in (text.partition("=") for text in texts)}


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


def _texts(readings: Sequence[Reading]) -> str:
    """One block for each run, with what tells it from the others."""
    from specrules.evidence.readers.runs import differing, shown

    names = differing([reading.run for reading in readings])
    runs = [shown({name: reading.run[name] for name in names if name in reading.run}) for reading in readings]
    return "\n".join(_text(reading, run) for reading, run in zip(readings, runs, strict=True))


def _text(reading: Reading, run: str) -> str:
    rows = [(fact.name, _spread(fact), fact.unit, fact.provenance.source) for fact in reading.facts.values()]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(3)]
    since = "" if reading.before is None else f" since {reading.before}"
    lines = [
        f"{reading.path}{since}: {reading.title} of {reading.engine_id} (reader {reading.reader_id})",
        f"  {reading.recognition.describe()}",
        *(f"  era: {era}" for era in reading.recognition.eras),
        *([f"  run: {run}"] if run else []),
    ]
    for row in rows:
        cells = "  ".join(cell.ljust(width) for cell, width in zip(row[:3], widths, strict=True))
        lines.append(f"  {cells}  {row[3]}")
    return "\n".join(lines)


def _json(readings: Sequence[Reading]) -> str:
    """One object for one run, an array of them for several."""
    data = [_data(reading) for reading in readings]
    return json.dumps(data[0] if len(data) == 1 else data, indent=2, ensure_ascii=False)


def _data(reading: Reading) -> dict[str, Any]:
    return {
        "schema": 1,
        "path": reading.path,
        "before": reading.before,
        "engine": reading.engine_id,
        "reader": reading.reader_id,
        "recognition": _recognition(reading.recognition),
        "run": dict(reading.run),
        "idle": reading.is_idle,
        "facts": [fact.model_dump(mode="json") for fact in reading.facts.values()],
        "warnings": [problem.render() for problem in reading.warnings],
        "contradictions": [problem.render() for problem in reading.contradictions],
        "unread_lines": reading.unread_lines,
    }


def _recognition(recognition: Recognition) -> dict[str, Any]:
    return {
        "sureness": recognition.sureness,
        "stated": recognition.is_stated,
        "matches": [{"engine": item.engine_id, recognition.unit: item.count} for item in recognition.matches],
        "compared_lines": recognition.compared_lines,
        "eras": list(recognition.eras),
    }


def _spread(fact: Fact) -> str:
    text = _value(fact.value)
    return text if fact.low is None or fact.high is None else f"{text} ({fact.low:.6g} to {fact.high:.6g})"


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.6g}"
    return ", ".join(f"{item:.4g}" for item in value) if isinstance(value, tuple) else str(value)
