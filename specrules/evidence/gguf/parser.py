"""The walk through the bytes of a GGUF header, which can stop wherever they end and go on when more have come.

Layout (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md): magic, version, number of tensors, number of keys,
keys with their values, descriptions of tensors, padding. What is refused follows libggml (ggml/src/gguf.cpp).
"""

from __future__ import annotations

import mmap
import struct
from array import array
from collections.abc import Generator, Sequence
from itertools import repeat
from typing import NoReturn

from specrules.evidence.gguf import foreign
from specrules.evidence.gguf.arrays import ARRAY_TYPE, NUMBERS, STRIDE, STRING, STRING_TYPE, Array, ByteOrder, layout
from specrules.evidence.gguf.errors import GgufError
from specrules.evidence.gguf.header import Header, Values
from specrules.evidence.gguf.tensors import (
    MAX_DIMENSIONS,
    MAX_ELEMENTS,
    MAX_NAME_BYTES,
    TensorInfo,
    check_layout,
    too_many_elements,
)

MAGIC = b"GGUF"
MAX_HEADER_BYTES = 64 << 20
MAX_KEYS = 1 << 16
MAX_TENSORS = 1 << 17
VERSIONS = (2, 3)
DEFAULT_ALIGNMENT = 32
ALIGNMENT_KEY = "general.alignment"
_FIXED_BYTES = 24
#: The least that a key with its value, and the description of a tensor, can take.
_LEAST_KEY = 14
_LEAST_TENSOR = 24
#: Room for the largest offset that the struct module takes.
_FAR = 1 << 62

_Walk = Generator[int, None, None]


class HeaderParser:
    """A parser that is fed the file from its first byte on, in pieces of any size.

    `feed` returns None once the header is complete, and otherwise the offset from which on more bytes are wanted: the
    number of bytes fed so far. `needed` is a lower bound of the bytes that the header takes, as far as it is known yet.
    `size` is the size of the file, None where it is not known; `finish` says that no more bytes will come. All raise
    GgufError with the offset of the fault. With `identity_only` the types and sizes of tensors are not judged.
    """

    def __init__(
        self,
        name: str = "",
        *,
        size: int | None = None,
        identity_only: bool = False,
        max_bytes: int = MAX_HEADER_BYTES,
    ) -> None:
        self.name = name
        self.size = size
        self.needed = _FIXED_BYTES
        self._buffer: bytearray | mmap.mmap = bytearray()
        self._identity_only = identity_only
        self._max_bytes = max_bytes
        self._header: Header | None = None
        self._start()

    def feed(self, data: bytes | memoryview) -> int | None:
        """Take the bytes that follow those fed before. Returns None once the header is complete, else their number."""
        if self._header is None:
            if isinstance(self._buffer, bytearray):
                self._buffer += data
            if len(self._buffer) >= self._waiting:
                self._go_on()
        return None if self._header else len(self._buffer)

    def over(self, mapped: mmap.mmap) -> Header:
        """Parse a whole file that is mapped into memory; its pages are read as they are needed."""
        self._buffer = mapped
        self.size = len(mapped)
        self._go_on()
        return self.finish()

    def finish(self) -> Header:
        """Return the header; raises GgufError where the bytes ended before it was complete."""
        if self._header is None:
            if self.size is None or self.size > len(self._buffer):
                self.size = len(self._buffer)
            self._within(self._waiting, "the header")
        return self.header

    @property
    def header(self) -> Header:
        """The parsed header. Raises ValueError before it is complete."""
        if self._header is None:
            raise ValueError("the header is not complete yet")
        return self._header

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys whose values have been read so far."""
        return tuple(self._values)

    @property
    def received(self) -> int:
        """How many bytes have been fed."""
        return len(self._buffer)

    def _start(self) -> None:
        self._at = 0
        self._waiting = 1
        self._order: ByteOrder = "little"
        self._texts: dict[str, tuple[int, int]] = {}
        self._values: dict[str, int | float | bool | _Body | None] = {}
        self._tensors: list[TensorInfo] = []
        self._places: list[int] = []
        self._walk = self._file()

    def _go_on(self) -> None:
        try:
            self._waiting = next(self._walk)
        except StopIteration:
            self._walk.close()
            return
        self.needed = max(self.needed, self._waiting)

    # What follows yields the number of bytes that must be there before it can go on.

    def _file(self) -> _Walk:
        yield from self._until(4, "the magic number")
        if self._buffer[:4] != MAGIC:
            yield from self._foreign()
        yield from self._until(_FIXED_BYTES, "the fixed part of the header")
        version = self._version()
        tensors, keys = layout(self._order, "QQ").unpack_from(self._buffer, 8)
        self._count(tensors, MAX_TENSORS, _LEAST_TENSOR, "tensors", 8)
        self._count(keys, MAX_KEYS, _LEAST_KEY, "keys", 16)
        self._within(_FIXED_BYTES + keys * _LEAST_KEY + tensors * _LEAST_TENSOR, "keys and tensors", 8)
        self._at = _FIXED_BYTES
        for done in range(keys):
            self.needed = self._at + (keys - done) * _LEAST_KEY + tensors * _LEAST_TENSOR
            yield from self._key()
        alignment = self._alignment()
        names: set[str] = set()
        for done in range(tensors):
            self.needed = self._at + (tensors - done) * _LEAST_TENSOR
            yield from self._tensor(names)
        end = self._at
        start = end + (-end % alignment if tensors else 0)
        if self.size is not None and start > self.size:
            self._fail(f"the file ends before its tensor data begin, at {start}", end)
        if not self._identity_only:
            check_layout(self._tensors, self._places, alignment, self.name)
        self._complete(version, alignment, end, start)

    def _foreign(self) -> _Walk:
        if self.size is None or self.size > foreign.TELLING_BYTES:
            yield min(foreign.TELLING_BYTES, self.size or foreign.TELLING_BYTES)
        message, hint = foreign.describe(bytes(self._buffer[: foreign.TELLING_BYTES]))
        self._fail(message, 0, hint)

    def _version(self) -> int:
        version: int = layout("little", "I").unpack_from(self._buffer, 4)[0]
        if version & 0xFFFF == 0 and version:
            self._order = "big"
            version = layout("big", "I").unpack_from(self._buffer, 4)[0]
        if version not in VERSIONS:
            hint = "convert the model again: version 1 was given up in 2023" if version == 1 else ""
            self._fail(f"GGUF version {version}, and versions 2 and 3 can be read", 4, hint)
        return version

    def _key(self) -> _Walk:
        start = self._at
        name = yield from self._name("a key", 1 << 16)
        if not name:
            self._fail("a key is empty", start)
        if name in self._values:
            self._fail(f"the key {name!r} comes twice", start)
        yield from self._until(self._at + 4, f"the type of {name!r}")
        place = self._at
        type_ = self._take("I")
        if type_ == ARRAY_TYPE:
            yield from self._array(name, place)
        elif type_ == STRING_TYPE:
            yield from self._text(name)
        elif type_ in NUMBERS:
            code = NUMBERS[type_][1]
            yield from self._until(self._at + struct.calcsize("<" + code), f"the value of {name!r}")
            self._values[name] = self._take(code)
        else:
            self._fail(f"{name!r} has the value type {type_}, which does not exist", place)

    def _text(self, name: str) -> _Walk:
        place = self._at
        yield from self._until(place + 8, f"the length of {name!r}")
        length = self._take("Q")
        self._within(self._at + length, f"the text of {name!r}, {length} bytes", place)
        yield from self._until(self._at + length, f"the text of {name!r}")
        self._values[name] = None
        self._texts[name] = (self._at, self._at + length)
        self._at += length

    def _array(self, name: str, place: int) -> _Walk:
        yield from self._until(self._at + 12, f"the array {name!r}")
        type_ = self._take("I")
        count = self._take("Q")
        start = self._at
        if type_ == STRING_TYPE:
            self._count(count, self._max_bytes, 8, f"strings in {name!r}", start - 8)
            marks = array("Q")
            yield from self._strings(name, count, marks)
            self._values[name] = _Body(STRING, count, start, self._at, marks)
        elif type_ in NUMBERS:
            kind, code = NUMBERS[type_]
            size = struct.calcsize("<" + code)
            self._count(count, self._max_bytes, size, f"numbers in {name!r}", start - 8)
            yield from self._until(start + count * size, f"the array {name!r}")
            self._at = start + count * size
            self._values[name] = _Body(kind, count, start, self._at)
        else:
            what = "arrays" if type_ == ARRAY_TYPE else f"the value type {type_}"
            self._fail(f"{name!r} is an array of {what}, which libggml does not read either", place)

    def _strings(self, name: str, count: int, marks: array[int]) -> _Walk:
        """Walk over `count` strings. A chunk whose bytes have not all come is walked again when they have."""
        start = self._at
        length = layout(self._order, "Q").unpack_from
        done = 0
        while done < count:
            chunk = min(STRIDE, count - done)
            at = self._at
            try:
                for _ in repeat(None, chunk):
                    at += 8 + length(self._buffer, at)[0]
            except (struct.error, OverflowError):
                at = _FAR
            if at > len(self._buffer):
                yield self._short_of(name, done, chunk, count)
                continue
            marks.append(self._at - start)
            self._at = at
            done += chunk

    def _short_of(self, name: str, done: int, chunk: int, count: int) -> int:
        """Return the bytes that the first string needs that is not there yet; raise where the file cannot hold it."""
        length = layout(self._order, "Q").unpack_from
        at = self._at
        for index in range(done, done + chunk):
            what = f"string {index} of {count} in {name!r}"
            if at + 8 > len(self._buffer):
                self._within(at + (count - index) * 8, what, at)
                return at + 8
            size: int = length(self._buffer, at)[0]
            self._within(at + 8 + size, f"{what}, {size} bytes", at)
            at += 8 + size
            if at > len(self._buffer):
                return at
        raise AssertionError("the chunk was there after all")

    def _tensor(self, names: set[str]) -> _Walk:
        start = self._at
        name = yield from self._name("the name of a tensor", MAX_NAME_BYTES)
        if name in names:
            self._fail(f"the tensor {name!r} comes twice", start)
        names.add(name)
        yield from self._until(self._at + 4, f"tensor {name!r}")
        place = self._at
        dimensions = self._take("I")
        if dimensions > MAX_DIMENSIONS:
            self._fail(f"tensor {name!r} has {dimensions} dimensions, and {MAX_DIMENSIONS} are possible", place)
        yield from self._until(self._at + dimensions * 8 + 12, f"tensor {name!r}")
        shape = tuple(self._take("Q") for _ in range(dimensions))
        if any(size > MAX_ELEMENTS for size in shape) or too_many_elements(shape):
            self._fail(f"tensor {name!r} has a shape of more elements than can be counted: {shape}", place)
        self._places.append(start)
        self._tensors.append(TensorInfo(name, shape, self._take("I"), self._take("Q")))

    def _name(self, what: str, most: int) -> Generator[int, None, str]:
        start = self._at
        yield from self._until(start + 8, what)
        length = self._take("Q")
        if length > most:
            self._fail(f"{what} has {length} bytes, and {most} are possible", start)
        yield from self._until(self._at + length, what)
        data = bytes(self._buffer[self._at : self._at + length])
        self._at += length
        if b"\0" in data:
            self._fail(f"{what} holds a NUL byte, where engines would cut it: {data!r}", start)
        return data.decode("utf-8", "surrogateescape")

    def _until(self, end: int, what: str) -> _Walk:
        if end > len(self._buffer):
            self._within(end, what)
            while end > len(self._buffer):
                yield end

    def _take(self, code: str) -> int:
        packed = layout(self._order, code)
        value: int = packed.unpack_from(self._buffer, self._at)[0]
        self._at += packed.size
        return value

    def _alignment(self) -> int:
        value = self._values.get(ALIGNMENT_KEY, DEFAULT_ALIGNMENT)
        if not isinstance(value, int) or isinstance(value, bool):
            self._fail(f"{ALIGNMENT_KEY!r} is no whole number", self._at)
        if value <= 0 or value & (value - 1):
            self._fail(f"{ALIGNMENT_KEY!r} is {value}, and only a power of two is possible", self._at)
        return value

    def _count(self, count: int, most: int, least: int, what: str, place: int) -> None:
        if count > most:
            self._fail(f"{count} {what}, and at most {most} are read", place)
        self._within(self._at + count * least, f"{count} {what}", place)

    def _within(self, end: int, what: str, place: int | None = None) -> None:
        """Refuse what would end behind the file, or behind the largest header that is read."""
        where = self._at if place is None else place
        if self.size is not None and end > self.size:
            self._fail(
                f"{what} would end at {end}, and the file has {self.size} bytes", where, "is the file cut short?"
            )
        if end > self._max_bytes:
            self._fail(f"{what} would end at {end}, and headers of at most {self._max_bytes} bytes are read", where)

    def _fail(self, message: str, place: int, hint: str = "") -> NoReturn:
        raise GgufError(message, self.name, place, hint)

    def _complete(self, version: int, alignment: int, end: int, start: int) -> None:
        view = memoryview(self._buffer).toreadonly()
        items: dict[str, int | float | bool | memoryview | Array] = {}
        for key, value in self._values.items():
            if value is None:
                first, last = self._texts[key]
                items[key] = view[first:last]
            elif isinstance(value, _Body):
                items[key] = Array(value.kind, value.count, view[value.start : value.end], self._order, value.marks)
            else:
                items[key] = value
        tensors = tuple(self._tensors)
        self._header = Header(version, self._order, alignment, Values(items), tensors, end, start, self.name, self.size)


class _Body:
    """Where an array lies in the buffer."""

    __slots__ = ("count", "end", "kind", "marks", "start")

    def __init__(self, kind: str, count: int, start: int, end: int, marks: Sequence[int] = ()) -> None:
        self.kind = kind
        self.count = count
        self.start = start
        self.end = end
        self.marks = marks
