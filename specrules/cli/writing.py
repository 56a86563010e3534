"""Output: to stdout, or to a file as a whole."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import click

from specrules.errors import Location, Problem, UsageError


def write(text: str, path: Path | None) -> None:
    """Print text, or replace a file by it in one step. UsageError where the file cannot be written."""
    if path is None:
        click.echo(text, nl=not text.endswith("\n"))
        return
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        temporary = Path(name)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                stream.write(text if text.endswith("\n") else text + "\n")
            temporary.chmod(path.stat().st_mode & 0o777 if path.exists() else 0o644)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(Problem(f"cannot be written: {error.strerror or error}", Location(str(path)))) from None


def progress(text: str) -> None:
    """Say on a terminal what is being done; a pipe or a CI log gets nothing."""
    if sys.stderr.isatty():
        click.echo(text, err=True)
