"""`specrules triage`: the five-part report."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from specrules.cli import options
from specrules.cli.main import EXIT_COULD_NOT_JUDGE, EXIT_OK


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
@options.output
@options.now
@options.layers
def command(
    cases: tuple[Path, ...],
    format_name: str,
    settings: tuple[str, ...],
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
    from specrules.catalog.catalogue import Catalog
    from specrules.cli.writing import progress, write
    from specrules.errors import Problem, UsageError, UserError
    from specrules.pipeline.triage import triage
    from specrules.report import render

    if not cases and not settings:
        raise UsageError("no case: name a file, or set engine, incumbent and step times with --set PATH=VALUE")
    catalog = Catalog.load(engines=engines, rules=rules, templates=templates)
    moment = now or datetime.now(UTC)
    verdicts = []
    failed = False
    # Each problem once: those of the catalogue come up with every case.
    shown: set[Problem] = set()
    for case in cases or (None,):
        try:
            verdicts.append(triage(case, catalog=catalog, now=moment, settings=settings, progress=progress))
        except UserError as error:
            failed = True
            for problem in error.problems:
                if problem not in shown:
                    shown.add(problem)
                    click.echo(problem.render(), err=True)
    if verdicts and not (failed and output is not None):
        write(render(verdicts, format_name, catalog.template_folders, several=len(cases) > 1), output)
    return EXIT_COULD_NOT_JUDGE if failed else EXIT_OK
