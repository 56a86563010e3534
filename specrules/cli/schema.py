"""`specrules schema`: JSON Schemas for editors and for readers of reports."""

from __future__ import annotations

from pathlib import Path

import click

from specrules.cli import options


@click.command(name="schema")
@click.argument("kind", required=False)
@click.option(
    "--all",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write every schema into a folder.",
)
@options.output
def command(kind: str | None, folder: Path | None, output: Path | None) -> None:
    """Print the JSON Schema of a kind of document; without a kind, list the kinds.

    \b
    Examples:
      specrules schema case
      specrules schema --all schemas
    """
    from specrules.catalog.schemas import KINDS, schema_text
    from specrules.cli.writing import write
    from specrules.errors import Location, Problem, UsageError

    if folder is not None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(Problem(f"cannot be made: {error.strerror or error}", Location(str(folder)))) from None
        for name in KINDS:
            write(schema_text(name), folder / f"{name}.json")
    elif kind is None:
        write("\n".join(KINDS), output)
    else:
        write(schema_text(kind), output)
