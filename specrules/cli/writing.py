"""Output: to stdout, or to a file as a whole."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import click

from specrules.errors import Location, Problem, UsageError


def write(text: str, path: Path | None = None) -> None:
    """Print text, or replace a file by it in one step. UsageError where it cannot be written.

    Where the reader of a pipe has gone (`| head`) the rest is dropped and the command goes on to its exit code.
    """
    try:
        if path is None:
            click.echo(text, nl=not text.endswith("\n"))
        elif path.exists() and not path.is_file():
            # A pipe or a device such as /dev/stdout: there is nothing to replace.
            path.write_text(_ended(text), encoding="utf-8", errors="backslashreplace")
        else:
            _replace(Path(os.path.realpath(path)), _ended(text))
    except BrokenPipeError:
        discard_stdout()
    except OSError as error:
        if path is None:
            discard_stdout()
        shown = "<stdout>" if path is None else str(path)
        raise UsageError(Problem(f"cannot be written: {error.strerror or error}", Location(shown))) from None


def progress(text: str) -> None:
    """Say on a terminal what is being done; a pipe or a CI log gets nothing."""
    if sys.stderr.isatty():
        click.echo(text, err=True)


def discard_stdout() -> None:
    """Send all further output nowhere: what is still buffered would fail once more at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _ended(text: str) -> str:
    return text if text.endswith("\n") else text + "\n"


def _replace(path: Path, text: str) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(text)
        temporary.chmod(path.stat().st_mode & 0o777 if path.exists() else _mode_of_new_files())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _mode_of_new_files() -> int:
    umask = os.umask(0o077)
    os.umask(umask)
    return 0o666 & ~umask
