"""`specrules read`: what a file, or a Prometheus server, says."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from specrules.cli import options

if TYPE_CHECKING:
    from specrules.catalog.catalogue import Catalog
    from specrules.evidence.readers.reading import Reading

_BIG = 8 << 20


@click.command(name="read")
@click.argument("file", required=False)
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
    help="Of several runs or deployments, show those with this setting. Repeatable.",
)
@click.option("--prometheus", "url", metavar="URL", help="Ask a Prometheus server in place of reading a file.")
@click.option("--range", "length", metavar="TIME", help="How far back, such as 30m, 6h or 1d12h.  [default: 1h]")
@click.option("--selector", metavar="MATCHERS", help="Which series, such as '{job=\"llm\"}'.  [default: {}]")
@click.option("--until", type=options.Moment(), metavar="TIME", help="End of the range.  [default: now]")
@click.option(
    "--by", multiple=True, metavar="LABEL", help="Tell deployments apart by this label.  [default: job, instance]"
)
@click.option("--format", "format_name", type=click.Choice(["text", "json"]), default="text", show_default=True)
@options.output
@options.access
@options.layers
def command(
    file: str | None,
    engine: str | None,
    before: str | None,
    where: tuple[str, ...],
    format_name: str,
    output: Path | None,
    engines: tuple[Path, ...],
    rules: tuple[Path, ...],
    templates: tuple[Path, ...],
    **asked: Any,
) -> None:
    """Show the facts found in a server log, a /metrics dump, a response or a bench output, each with its place.

    The engine and the era of a file are recognised from its text; how sure that is stands below the first line. A log
    may have any length. A bench output may hold several runs: all of them are shown.

    With --prometheus they come from a server that scraped /metrics: counters by how far they rose in the range, gauges
    as means, and how many sequences were served at once; for each deployment by itself. Nothing is asked without it.

    \b
    Examples:
      specrules read server.log
      specrules read after.txt --before before.txt
      specrules read batched-bench.md --where prompt=512
      curl -s localhost:8080/metrics | specrules read - --engine llama.cpp
      specrules read --prometheus http://localhost:9090 --range 6h --selector '{job="llm"}'
    """
    from specrules.catalog.catalogue import Catalog
    from specrules.cli.readings import json_of, text_of
    from specrules.cli.writing import write
    from specrules.pipeline.reading import read_runs, runs_where

    _check(file, before, asked)
    wanted = _pairs(where)
    catalog = Catalog.load(engines=engines, rules=rules, templates=templates)
    if file is None:
        found = _ask(engine, catalog, **asked)
    else:
        with _bar(file) as advance:
            found = read_runs(file, engine, catalog=catalog, before=before, advance=advance)
    readings = runs_where(found, wanted)
    for reading in readings:
        for problem in (*reading.warnings, *reading.contradictions, *reading.unread):
            click.echo(problem.render(), err=True)
        if reading.unread_lines > len(reading.unread):
            click.echo(f"{reading.unread_lines} lines look like evidence but match no pattern", err=True)
    write(json_of(readings) if format_name == "json" else text_of(readings), output)


def _check(file: str | None, before: str | None, asked: dict[str, Any]) -> None:
    """Refuse options that do not go together. UsageError with all of them."""
    from specrules.errors import Problem, UsageError

    problems = []
    if (file is None) is (asked["url"] is None):
        problems.append("name a file to read, or a server with --prometheus URL" + (", not both" if file else ""))
    if asked["url"] is None:
        given = [name for name, key in _RANGE_OPTIONS.items() if asked[key]]
        problems += [f"{name} goes with --prometheus URL" for name in given]
    elif before is not None:
        problems.append("--before goes with a file: a range of time ends with --until")
    if problems:
        raise UsageError(Problem(message) for message in problems)


_RANGE_OPTIONS = {"--range": "length", "--selector": "selector", "--until": "until", "--by": "by"}


def _ask(
    engine: str | None,
    catalog: Catalog,
    url: str,
    length: str | None,
    selector: str | None,
    until: datetime | None,
    by: tuple[str, ...],
    token_env: str,
    allow_private_redirects: bool,
    timeout: float,
) -> tuple[Reading, ...]:
    """Ask the server, with a bar on a terminal."""
    from specrules.errors import UsageError
    from specrules.model.duration import seconds
    from specrules.pipeline.prometheus import Range, read_range
    from specrules.pipeline.servers import Access

    text = length or "1h"
    try:
        whole = seconds(text)
    except ValueError as error:
        raise UsageError(f"--range: {error}") from None
    wanted = Range(url, text, selector or "{}", until, by or ("job", "instance"))
    access = Access(token_variable=token_env, allow_private=allow_private_redirects, silent_s=timeout)
    if not sys.stderr.isatty():
        return read_range(wanted, engine, catalog=catalog, access=access)
    with click.progressbar(length=whole, label="asking for the range", file=sys.stderr) as bar:
        return read_range(wanted, engine, catalog=catalog, access=access, advance=lambda step: bar.update(round(step)))


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
