"""`specrules engines verify`: an engine's file held against the engine itself."""

from __future__ import annotations

from pathlib import Path

import click

from specrules.cli import options
from specrules.cli.main import EXIT_GATE_FAILED, EXIT_OK


@click.command(name="verify")
@click.argument("name", metavar="ID")
@click.argument("source")
@options.layers
def verify(
    name: str, source: str, engines: tuple[Path, ...], rules: tuple[Path, ...], templates: tuple[Path, ...]
) -> int:
    """Hold an engine's file against its own help text: flags that appeared, vanished or have another default.

    SOURCE is a saved help text, a program to run with the arguments that the file names, a URL, or - for standard
    input. Only the flags within the scope that the file declares are compared. Leaves with 0 where both agree, 1 where
    they drifted apart, 2 where that cannot be judged.

    \b
    Examples:
      specrules engines verify llama.cpp llama-server
      llama-server --help | specrules engines verify llama.cpp -
    """
    from specrules.catalog.catalogue import Catalog
    from specrules.cli.writing import write
    from specrules.pipeline.verifying import verify_help

    catalog = Catalog.load(engines=engines, rules=rules, templates=templates)
    found = verify_help(catalog.engine(name).model, source)
    lines = [f"{found.source}:{item.line}: {item.message}" if item.line else item.message for item in found.drift]
    write("\n".join([*lines, f"{name}: {found.compared} flags compared, {len(found.drift)} drifted"]))
    return EXIT_GATE_FAILED if found.drift else EXIT_OK
