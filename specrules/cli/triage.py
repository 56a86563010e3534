"""`specrules triage`: the five-part report."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from specrules.cli import options
from specrules.cli.main import EXIT_COULD_NOT_JUDGE, EXIT_OK

if TYPE_CHECKING:
    from specrules.errors import UserError


@click.command(name="triage")
@click.argument("cases", nargs=-1, type=click.Path(path_type=Path), metavar="[CASE]...")
@click.option("--format", "format_name", type=click.Choice(["md", "json", "summary"]), default="md", show_default=True)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="PATH=VALUE",
    help="Set one value of the case, such as target.step_ms=67. Repeatable; enough of them need no CASE.",
)
@click.option(
    "--evidence",
    "folders",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="What the script of specrules plan left behind. Repeatable.",
)
@click.option(
    "--fetch",
    is_flag=True,
    help="Read models' headers from http(s) addresses, and ask the Prometheus servers of evidence. Else nothing is.",
)
@options.policy
@options.output
@options.now
@options.layers
def command(
    cases: tuple[Path, ...],
    format_name: str,
    settings: tuple[str, ...],
    folders: tuple[Path, ...],
    fetch: bool,
    policy: str | None,
    output: Path | None,
    now: datetime | None,
    engines: tuple[Path, ...],
    rules: tuple[Path, ...],
    templates: tuple[Path, ...],
) -> int:
    """Say whether a drafter is worth deploying, why, and which one measurement would settle it.

    Leaves with 0 whenever a verdict was reached, whatever it is, and with 2 where nothing could be judged.

    \b
    Examples:
      specrules triage examples/frank-large-27b.yaml
      specrules triage a.yaml b.yaml --format json -o verdicts.json
      specrules triage --set engine=llama.cpp --set incumbent.rate_tok_s=25 \\
          --set incumbent.drafting=false --set drafter.step_ms=4
    """
    from specrules.catalog.case import load_case
    from specrules.catalog.evidence_folder import with_folders
    from specrules.errors import UsageError, UserError

    if not cases and not settings:
        raise UsageError("no case: name a file, or set engine, incumbent and step times with --set PATH=VALUE")
    moment = now or datetime.now(UTC)
    complaints = _Complaints()
    loaded = []
    for case in cases or (None,):
        try:
            loaded.append(with_folders(load_case(case, settings), folders))
        except UserError as error:
            complaints.add(error)
    if not loaded:
        return EXIT_COULD_NOT_JUDGE

    from specrules.catalog.catalogue import Catalog
    from specrules.cli.fetching import web
    from specrules.cli.writing import progress, write
    from specrules.pipeline.triage import triage
    from specrules.report import render

    catalog = Catalog.load(engines=engines, rules=rules, templates=templates, policy=policy)
    sources = web() if fetch else None
    verdicts = []
    for item in loaded:
        try:
            verdicts.append(triage(item, catalog=catalog, now=moment, progress=progress, sources=sources))
        except UserError as error:
            complaints.add(error)
    if verdicts and not (complaints.shown and output is not None):
        write(render(verdicts, format_name, catalog.template_folders, several=len(cases) > 1), output)
    return EXIT_COULD_NOT_JUDGE if complaints.shown else EXIT_OK


class _Complaints:
    """Problems as they come up, each once: those of settings and of the catalogue come with every case."""

    def __init__(self) -> None:
        self.shown: set[str] = set()

    def add(self, error: UserError) -> None:
        """Show the problems of one case."""
        for problem in error.problems:
            text = problem.render()
            if text not in self.shown:
                self.shown.add(text)
                click.echo(text, err=True)
