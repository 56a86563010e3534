"""A place in the bytes of a header, which may not all have come yet, and the limits that nothing may reach beyond."""

from __future__ import annotations

import mmap
from collections.abc import Generator
from typing import NoReturn

from specrules.evidence.gguf.arrays import ByteOrder, layout
from specrules.evidence.gguf.errors import GgufError

#: What a walk yields: the number of bytes that must be there before it can go on.
Walk = Generator[int, None, None]


class Cursor:
    """Bytes, the place `at` which reading stands, and the size of the file where it is known.

    `likely` is where the array of strings that is being read will end, if it goes on as it began.
    Every length and count of the file goes through `within` before anything is read or stored for it.
    """

    def __init__(self, name: str, size: int | None, max_bytes: int) -> None:
        self.name = name
        self.size = size
        self.max_bytes = max_bytes
        self.buffer: bytearray | mmap.mmap = bytearray()
        self.at = 0
        self.likely = 0
        self.order: ByteOrder = "little"

    def until(self, end: int, what: str) -> Walk:
        """Wait until the bytes before `end` are there. `what` names, in an error, what they hold."""
        while end > len(self.buffer):
            self.within(end, what)
            yield end

    def take(self, code: str) -> int:
        """Return the number in the struct format `code` that is next, and go behind it. Its bytes must be there."""
        packed = layout(self.order, code)
        value: int = packed.unpack_from(self.buffer, self.at)[0]
        self.at += packed.size
        return value

    def short_text(self, what: str, most: int) -> Generator[int, None, str]:
        """Return a name of at most `most` bytes. A NUL is refused: llama.cpp would compare only what is before it."""
        start = self.at
        yield from self.until(start + 8, what)
        length = self.take("Q")
        if length > most:
            self.fail(f"{what} has {length} bytes, and {most} are possible", start)
        yield from self.until(self.at + length, what)
        data = bytes(self.buffer[self.at : self.at + length])
        self.at += length
        if b"\0" in data:
            self.fail(f"{what} holds a NUL byte, where engines would cut it: {data!r}", start)
        return data.decode("utf-8", "surrogateescape")

    def count(self, count: int, most: int, least: int, what: str, place: int) -> None:
        """Refuse more than `most` of something, or more than fit in the file where one takes `least` bytes."""
        if count > most:
            self.fail(f"{count} {what}, and at most {most} are read", place)
        self.within(self.at + count * least, f"{count} {what}", place)

    def within(self, end: int, what: str, place: int | None = None) -> None:
        """Refuse what would end behind the file, or behind the largest header that is read."""
        where = self.at if place is None else place
        if self.size is not None and end > self.size:
            message = f"{what} would end at {end}, and the file has {self.size} bytes"
            self.fail(message, where, "is the file cut short?")
        if end > self.max_bytes:
            self.fail(f"{what} would end at {end}, and headers of at most {self.max_bytes} bytes are read", where)

    def fail(self, message: str, place: int, hint: str = "") -> NoReturn:
        """Raise GgufError for the byte at `place`."""
        raise GgufError(message, self.name, place, hint)
