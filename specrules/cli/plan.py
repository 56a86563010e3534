"""`specrules plan`: the script of the measurement that settles a case."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from specrules.cli import options


@click.command(name="plan")
@click.argument("case", type=click.Path(path_type=Path), metavar="CASE")
@click.option("--recipe", metavar="ID", help="Another measurement of the engine's file than the one that settles most.")
@click.option("--folder", default="measurement", show_default=True, metavar="DIR", help="Where results go.")
@click.option(
    "--port", type=click.IntRange(1024, 65_000), default=18080, show_default=True, help="Of its first server."
)
@click.option("--sequential", is_flag=True, help="Start one server after the other, where both do not fit at once.")
@click.option(
    "--evidence",
    "folders",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Results of an earlier script that count already. Repeatable.",
)
@options.output
@options.now
@options.layers
def command(
    case: Path,
    recipe: str | None,
    folder: str,
    port: int,
    sequential: bool,
    folders: tuple[Path, ...],
    output: Path | None,
    now: datetime | None,
    engines: tuple[Path, ...],
    rules: tuple[Path, ...],
    templates: tuple[Path, ...],
) -> None:
    """Print a script that carries out the one measurement which would settle CASE.

    It starts the servers of this engine with these models, measures them in turns with `specrules measure`, runs what
    the engine's file lists beside that, and reads the result back. Its folder is evidence: specrules triage CASE
    --evidence FOLDER. Nothing runs until you run the script.

    \b
    Examples:
      specrules plan case.yaml > measure.sh && bash measure.sh
      specrules plan case.yaml --recipe verify-curve --sequential -o measure.sh
    """
    from specrules.catalog.case import load_case
    from specrules.catalog.catalogue import Catalog
    from specrules.catalog.evidence_folder import with_folders
    from specrules.cli.writing import write
    from specrules.pipeline.planning import plan_script

    loaded = with_folders(load_case(case), folders)
    catalog = Catalog.load(engines=engines, rules=rules, templates=templates)
    script = plan_script(
        loaded,
        catalog=catalog,
        recipe=recipe,
        now=now or datetime.now(UTC),
        folder=folder,
        port=port,
        sequential=sequential,
    )
    if script.instead_of is not None:
        click.echo(f"{script.instead_of!r} would settle more, and no script can do it", err=True)
    write(script.text, output)
