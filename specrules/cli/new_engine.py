"""`specrules engines new`: a commented file to start from."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from specrules.cli import options


@click.command(name="new")
@click.argument("name", metavar="ID")
@click.option("--title", help="How the engine is called; by default its id.")
@click.option(
    "--help-text", "help_text", metavar="SOURCE", help="A saved help text, a program or a URL to take flags from."
)
@click.option("--schema", default="engine.json", show_default=True, help="Where the editor finds the schema.")
@options.output
@options.now
def new(
    name: str, title: str | None, help_text: str | None, schema: str, output: Path | None, now: datetime | None
) -> None:
    """Write a commented engine file to start from. It loads and passes its check as it is.

    \b
    Examples:
      specrules engines new my-engine -o engines/my-engine.yaml
      specrules engines new my-engine --help-text my-server -o engines/my-engine.yaml
    """
    from specrules.cli.writing import write
    from specrules.pipeline.skeleton import engine_skeleton

    day = (now or datetime.now(UTC)).date()
    write(engine_skeleton(name, title or name, day, schema=schema, help_text=help_text), output)
