"""The text of an evidence file: read with limits, decoded, split into lines."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, NoReturn

from specrules.errors import EvidenceError, Location, Problem

MAX_BYTES = 64 << 20
MAX_LINE = 64 << 10
STDIN = "-"
STDIN_NAME = "<stdin>"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_MODEL_HINT = "a model is no evidence: a case names it under target or drafter, as file"
_COMPRESSED = (b"\x1f\x8b", b"(\xb5/\xfd", b"BZh", b"\xfd7zXZ")


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
                warnings = (cut_line(self.at(len(lines) + 1)),)
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
    name = STDIN_NAME if path == STDIN else path
    try:
        if path == STDIN:
            data = (stdin or sys.stdin.buffer).read(MAX_BYTES + 1)
        else:
            with Path(path).open("rb") as file:
                data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise unreadable(error, name) from None
    return source_from_bytes(name, data)


def source_from_bytes(name: str, data: bytes) -> Source:
    """Return the text in `data`. Raises EvidenceError like `read_source`."""
    if len(data) > MAX_BYTES:
        message = f"the file is larger than {MAX_BYTES >> 20} MiB"
        raise EvidenceError(Problem(message, Location(name), "cut it to the requests that count"))
    if data.startswith(UTF16_MARKS):
        text = data.decode("utf-16", errors="replace")
        lost = text.count(REPLACEMENT)
    else:
        text, lost = _from_utf8(data)
    source = Source(name, text)
    refuse_nul(text.encode() if "\0" in text else b"", source.at, 1, data)
    if not text.strip():
        refuse_empty(source.at())
    return Source(name, text, (lost_characters(lost, source.at()),)) if lost else source


def unreadable(error: OSError | ValueError, name: str) -> EvidenceError:
    """Return the error for a file that cannot be opened or read."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return EvidenceError(Problem(f"cannot be read: {reason}", Location(name)))


def refuse_nul(data: bytes, at: Callable[[int], Location], first: int, head: bytes) -> None:
    """Raise EvidenceError for a NUL byte. The data begin with the line `first` of a file that begins with `head`."""
    if b"\0" in data:
        hint = "decompress it first" if head.startswith(_COMPRESSED) else _MODEL_HINT if head[:4] == b"GGUF" else ""
        line = first + data.count(b"\n", 0, data.index(b"\0"))
        raise EvidenceError(Problem("the file is binary: it holds a NUL byte here", at(line), hint))


def refuse_empty(where: Location) -> NoReturn:
    """Raise EvidenceError for a file without content."""
    raise EvidenceError(Problem("the file is empty", where))


def lost_characters(count: int, where: Location) -> Problem:
    """Return the warning for characters that were no UTF-8."""
    return Problem(f"{count} characters are not valid UTF-8 and were replaced", where)


def cut_line(where: Location) -> Problem:
    """Return the warning for a last line that was left out."""
    return Problem("the last line has no end and was not read", where)


def _from_utf8(data: bytes) -> tuple[str, int]:
    """Return the text without a byte order mark, and how many characters had to be replaced."""
    try:
        return data.decode("utf-8-sig"), 0
    except UnicodeDecodeError:
        text = data.decode("utf-8-sig", errors="replace")
        return text, text.count(REPLACEMENT) - data.count(REPLACEMENT.encode())
