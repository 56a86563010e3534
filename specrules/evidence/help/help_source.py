"""Where a help text comes from: a file, standard input, a program, or a URL."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from specrules.errors import EvidenceError, Location, Problem
from specrules.evidence.source import Source, read_source, source_from_bytes

SECONDS = 60
MAX_BYTES = 4 << 20


def help_source(source: str, arguments: Sequence[str]) -> Source:
    """Return the help text that `source` stands for. EvidenceError where there is none to be had.

    A file with the executable bit, and a name that is found on PATH, is a program: it is run with `arguments`, without
    a shell and without input.
    """
    if source.startswith(("http://", "https://")):
        return source_from_bytes(source, _fetched(source))
    program = _program(source)
    return read_source(source) if program is None else source_from_bytes(source, _printed(program, arguments))


def _program(source: str) -> str | None:
    path = Path(source)
    if path.is_file():
        return str(path.resolve()) if os.access(path, os.X_OK) else None
    return None if source == "-" or path.exists() else shutil.which(source)


def _printed(program: str, arguments: Sequence[str]) -> bytes:
    try:
        done = subprocess.run(  # noqa: S603 - the user named the program, and no shell reads the arguments
            [program, *arguments], stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False
        )
    except OSError as error:
        raise EvidenceError(Problem(f"cannot be run: {error.strerror or error}", Location(program))) from None
    except subprocess.TimeoutExpired:
        raise EvidenceError(Problem(f"did not end within {SECONDS} seconds", Location(program))) from None
    text = done.stdout if done.stdout.strip() else done.stderr
    if not text.strip():
        raise EvidenceError(Problem(f"printed nothing and ended with {done.returncode}", Location(program)))
    return text[:MAX_BYTES]


def _fetched(url: str) -> bytes:
    import httpx

    try:
        with httpx.stream("GET", url, timeout=SECONDS, follow_redirects=False) as answer:
            if answer.status_code != httpx.codes.OK:
                raise EvidenceError(Problem(f"answered {answer.status_code}", Location(url)))
            text = b""
            for chunk in answer.iter_bytes():
                text += chunk
                if len(text) > MAX_BYTES:
                    raise EvidenceError(Problem(f"is larger than {MAX_BYTES} bytes", Location(url)))
    except httpx.HTTPError as error:
        raise EvidenceError(Problem(f"cannot be fetched: {error}", Location(url))) from None
    return text
