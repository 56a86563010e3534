"""The text of an evidence file: read with limits, decoded, split into lines."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import BinaryIO

from specrules.errors import EvidenceError, Location, Problem

MAX_BYTES = 64 << 20
MAX_LINE = 64 << 10
STDIN = "-"
_STDIN_NAME = "<stdin>"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


class Source:
    """The text of one file and the name under which messages show it.

    `warnings` says what was lost on the way from bytes to text.
    """

    def __init__(self, name: str, text: str, warnings: tuple[Problem, ...] = ()) -> None:
        self.name = name
        self.text = text
        self.warnings = warnings

    def at(self, line: int = 0, column: int = 0) -> Location:
        """Return a place in this file; line 0 stands for the file as a whole."""
        return Location(self.name, line, column)

    def complete_lines(self) -> tuple[list[str], tuple[Problem, ...]]:
        """Return the lines without their ends, and a warning where the last one was left out.

        A last line without an end was cut while it was written: half a number in it would be read as a whole one. It
        counts only where nothing else in the file has content. Raises EvidenceError for a line of more than 64 KiB.
        """
        lines = [line.removesuffix("\r") for line in self.text.split("\n")]
        rest = lines.pop()
        warnings: tuple[Problem, ...] = ()
        if rest.strip():
            if any(line.strip() for line in lines):
                warnings = (Problem("the last line has no end and was not read", self.at(len(lines) + 1)),)
            else:
                lines.append(rest)
        for number, line in enumerate(lines, start=1):
            if len(line) > MAX_LINE:
                message = f"the line has {len(line)} characters, and lines of more than {MAX_LINE} are not read"
                raise EvidenceError(Problem(message, self.at(number)))
        return lines, warnings


def read_source(path: str, stdin: BinaryIO | None = None) -> Source:
    """Return the text of a file, or of standard input for `-`.

    Raises EvidenceError for a file that cannot be opened, is empty, holds more than 64 MiB, or is no text.
    """
    name = _STDIN_NAME if path == STDIN else path
    try:
        if path == STDIN:
            data = (stdin or sys.stdin.buffer).read(MAX_BYTES + 1)
        else:
            with Path(path).open("rb") as file:
                data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise EvidenceError(Problem(f"cannot be read: {reason}", Location(name))) from None
    return source_from_bytes(name, data)


def source_from_bytes(name: str, data: bytes) -> Source:
    """Return the text in `data`. Raises EvidenceError like `read_source`."""
    if len(data) > MAX_BYTES:
        message = f"the file is larger than {MAX_BYTES >> 20} MiB"
        raise EvidenceError(Problem(message, Location(name), "cut it to the requests that count"))
    if data.startswith(_UTF16_MARKS):
        text = data.decode("utf-16", errors="replace")
        lost = text.count(_REPLACEMENT)
    else:
        text, lost = _from_utf8(data)
    if "\0" in text:
        hint = "decompress it first" if data.startswith((b"\x1f\x8b", b"(\xb5/\xfd", b"BZh", b"\xfd7zXZ")) else ""
        line = text.count("\n", 0, text.index("\0")) + 1
        raise EvidenceError(Problem("the file is binary: it holds a NUL byte here", Location(name, line), hint))
    if not text.strip():
        raise EvidenceError(Problem("the file is empty", Location(name)))
    if not lost:
        return Source(name, text)
    return Source(name, text, (Problem(f"{lost} characters are not valid UTF-8 and were replaced", Location(name)),))


def _from_utf8(data: bytes) -> tuple[str, int]:
    """Return the text without a byte order mark, and how many characters had to be replaced."""
    try:
        return data.decode("utf-8-sig"), 0
    except UnicodeDecodeError:
        text = data.decode("utf-8-sig", errors="replace")
        return text, text.count(_REPLACEMENT) - data.count(_REPLACEMENT.encode())
