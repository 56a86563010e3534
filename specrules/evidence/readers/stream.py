"""The bytes of a file, read once and a piece at a time: a log may be larger than memory, and a pipe cannot go back."""

from __future__ import annotations

import codecs
import re
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import fstat
from typing import BinaryIO

from specrules.errors import EvidenceError, Problem
from specrules.evidence.source import (
    MAX_BYTES,
    MAX_LINE,
    REPLACEMENT,
    STDIN,
    STDIN_NAME,
    UTF16_MARKS,
    Source,
    cut_line,
    lost_characters,
    refuse_empty,
    refuse_nul,
    source_from_bytes,
    unreadable,
)

HEAD = 2 << 20
BLOCK = 256 << 10
# No character takes more than four bytes.
_MAX_LINE_BYTES = 4 * MAX_LINE
_UTF8_MARK = b"\xef\xbb\xbf"
_COLOUR = re.compile(rb"\x1b\[[0-9;]*+[A-Za-z]")
Advance = Callable[[int], None]
"""Is told how many more bytes were read."""


@dataclass(frozen=True, slots=True)
class Block:
    """Whole lines of a log as valid UTF-8, each with a line feed at its end; the first one has the number `first`."""

    first: int
    data: bytes

    @property
    def after(self) -> int:
        """The number of the line after this block."""
        return self.first + self.data.count(b"\n")


class Stream:
    """A file that is read once. `name` is how messages show it.

    `head` is its beginning, the whole file where it has no more than 2 MiB; `size` counts the bytes that were read.
    `warnings` says what was lost on the way to text, once all blocks were read.
    """

    def __init__(self, name: str, file: BinaryIO, advance: Advance | None = None) -> None:
        self.name = name
        self.warnings: list[Problem] = []
        self._file = file
        self._advance = advance
        self._lost = 0
        self._has_content = False
        self._held = b""
        self._ended = False
        self.size = 0
        self.at = Source(name, "").at
        self.head = self._hold(HEAD)
        self.is_whole = self._ended

    @property
    def is_too_large(self) -> bool:
        """Whether more was read than may be held at once."""
        return self.size > MAX_BYTES

    def head_text(self) -> str:
        """Return the beginning of the file, up to 2 MiB, as text."""
        if self.head.startswith(UTF16_MARKS):
            return self.head.decode("utf-16", errors="replace")
        return self.head.decode("utf-8-sig", errors="replace")

    def source(self) -> Source | None:
        """Return the whole text, None for more than 64 MiB. Raises EvidenceError for what is no text.

        The blocks can still be read afterwards.
        """
        data = self._hold(MAX_BYTES + 1)
        return None if len(data) > MAX_BYTES else source_from_bytes(self.name, data)

    def blocks(self) -> Iterator[Block]:
        """Yield the lines of a log without colours and without carriage returns at their ends. Works once.

        A last line without an end is left out, except where nothing else has content. Raises EvidenceError for a line
        of more than 64 Ki characters, a NUL byte, and a file without content.
        """
        rest = b""
        number = 1
        decode = self._decoder()
        for raw in self._pieces():
            data = rest + decode(raw)
            refuse_nul(data, self.at, number, self.head)
            cut = data.rfind(b"\n") + 1
            rest = data[cut:]
            if cut:
                block = self._block(number, data[:cut])
                number = block.after
                yield block
            if len(rest) > _MAX_LINE_BYTES:
                raise self._too_long(number)
        if rest.strip():
            if self._has_content:
                self.warnings.append(cut_line(self.at(number)))
            else:
                yield self._block(number, rest + b"\n")
        if not self._has_content:
            refuse_empty(self.at())
        if self._lost:
            self.warnings.insert(0, lost_characters(self._lost, self.at()))

    def _hold(self, size: int) -> bytes:
        """Read on until so many bytes are held, and return all that are."""
        parts = [self._held]
        missing = size - len(self._held)
        while missing > 0 and not self._ended:
            part = self._read(min(missing, 1 << 20))
            parts.append(part)
            missing -= len(part)
        self._held = b"".join(parts)
        return self._held

    def _read(self, size: int) -> bytes:
        try:
            data = self._file.read(size)
        except (OSError, ValueError) as error:
            raise unreadable(error, self.name) from None
        self._ended = not data
        self.size += len(data)
        if self._advance is not None:
            self._advance(len(data))
        return data

    def _pieces(self) -> Iterator[bytes]:
        held, self._held = self._held, b""
        for start in range(0, len(held), BLOCK):
            yield held[start : start + BLOCK]
        del held
        while not self._ended:
            yield self._read(BLOCK)

    def _decoder(self) -> Callable[[bytes], bytes]:
        """Return what turns bytes of the file into UTF-8."""
        if self.head.startswith(UTF16_MARKS):
            decoder = codecs.getincrementaldecoder("utf-16")(errors="replace")
            return lambda raw: decoder.decode(raw, final=not raw).encode()
        skip = len(_UTF8_MARK) if self.head.startswith(_UTF8_MARK) else 0

        def without_mark(raw: bytes) -> bytes:
            nonlocal skip
            cut, skip = skip, 0
            return raw[cut:]

        return without_mark

    def _block(self, first: int, data: bytes) -> Block:
        if not data.isascii():
            text = data.decode(errors="replace")
            self._lost += text.count(REPLACEMENT)
            if REPLACEMENT in text:
                self._lost -= data.count(REPLACEMENT.encode())
                data = text.encode()
        self._refuse_long_lines(first, data)
        self._has_content = self._has_content or bool(data.strip())
        return Block(first, plain(data))

    def _refuse_long_lines(self, first: int, data: bytes) -> None:
        position = 0
        while position < len(data):
            # The last line feed in reach: one look for many lines.
            end = data.rfind(b"\n", position, position + MAX_LINE + 1)
            if end < 0:
                end = data.index(b"\n", position)
                if len(data[position:end].decode().removesuffix("\r")) > MAX_LINE:
                    raise self._too_long(first + data.count(b"\n", 0, position))
            position = end + 1

    def _too_long(self, line: int) -> EvidenceError:
        message = f"the line has more than {MAX_LINE} characters, and such lines are not read"
        return EvidenceError(Problem(message, self.at(line)))


def plain(data: bytes) -> bytes:
    """Return lines without colours, and without the carriage returns of Windows."""
    if b"\x1b" in data:
        data = _COLOUR.sub(b"", data)
    return data.replace(b"\r\n", b"\n") if b"\r\n" in data else data


def stream_of(source: Source) -> Stream:
    """Return the text of a source as a stream."""
    from io import BytesIO

    stream = Stream(source.name, BytesIO(source.text.encode()))
    stream.warnings.extend(source.warnings)
    return stream


@contextmanager
def open_stream(path: str, advance: Advance | None = None, stdin: BinaryIO | None = None) -> Iterator[Stream]:
    """Open a file, or standard input for `-`. Raises EvidenceError where it cannot be opened."""
    if path == STDIN:
        yield Stream(STDIN_NAME, stdin or sys.stdin.buffer, advance)
        return
    try:
        file = open(path, "rb", buffering=0)  # noqa: SIM115
    except (OSError, ValueError) as error:
        raise unreadable(error, path) from None
    with file:
        yield Stream(path, file, advance)


def size_of(path: str) -> int | None:
    """Return how many bytes a file holds, None for a pipe and for what cannot be looked at."""
    try:
        if path == STDIN:
            state = fstat(sys.stdin.fileno())
        else:
            with open(path, "rb") as file:
                state = fstat(file.fileno())
    except (OSError, ValueError):
        return None
    return state.st_size if stat.S_ISREG(state.st_mode) else None
