"""Output: to stdout, or to a file as a whole."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Mapping
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
        raise _unwritable("<stdout>" if path is None else str(path), error) from None


def write_files(texts: Mapping[Path, str]) -> None:
    """Replace several files: every text is on disk before the first file is replaced. UsageError where one cannot be.

    Interrupted before that, nothing has changed.
    """
    staged: list[tuple[Path, Path]] = []
    try:
        for path, text in texts.items():
            try:
                if path.exists() and not path.is_file():
                    continue
                target = Path(os.path.realpath(path))
                staged.append((_stage(target, _ended(text)), target))
            except OSError as error:
                raise _unwritable(str(path), error) from None
        for temporary, target in staged:
            temporary.replace(target)
    finally:
        for temporary, _ in staged:
            temporary.unlink(missing_ok=True)
    for path, text in texts.items():
        if not path.is_file():
            write(text, path)


def append(text: str, path: Path) -> None:
    """Add text to the end of a file in one step. UsageError where it cannot be written."""
    try:
        with path.open("a", encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(_ended(text))
    except OSError as error:
        raise _unwritable(str(path), error) from None


def progress(text: str) -> None:
    """Say on a terminal what is being done; a pipe or a CI log gets nothing."""
    if sys.stderr.isatty():
        click.echo(text, err=True)


def discard_stdout() -> None:
    """Send all further output nowhere: what is still buffered would fail once more at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _ended(text: str) -> str:
    return text if text.endswith("\n") else text + "\n"


def _unwritable(path: str, error: OSError) -> UsageError:
    return UsageError(Problem(f"cannot be written: {error.strerror or error}", Location(path)))


def _replace(path: Path, text: str) -> None:
    temporary = _stage(path, text)
    try:
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _stage(path: Path, text: str) -> Path:
    """Write a new file beside `path`, with the mode that it has or would get."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(text)
        temporary.chmod(path.stat().st_mode & 0o777 if path.exists() else _mode_of_new_files())
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return temporary


def _mode_of_new_files() -> int:
    umask = os.umask(0o077)
    os.umask(umask)
    return 0o666 & ~umask
