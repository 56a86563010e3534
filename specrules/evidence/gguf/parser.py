"""The walk through the bytes of a GGUF header, which can stop wherever they end and go on when more have come.

Layout (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md): magic, version, number of tensors, number of keys,
keys with their values, descriptions of tensors, padding. What is refused follows libggml (ggml/src/gguf.cpp).
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Generator, Sequence

from specrules.evidence.gguf import foreign
from specrules.evidence.gguf.arrays import ARRAY_TYPE, NUMBERS, STRING, STRING_TYPE, Array, ByteOrder, layout
from specrules.evidence.gguf.cursor import Cursor, Walk
from specrules.evidence.gguf.descriptions import walk_tensor
from specrules.evidence.gguf.errors import GgufError
from specrules.evidence.gguf.header import Header, Values
from specrules.evidence.gguf.strings import walk_strings
from specrules.evidence.gguf.tensors import TensorInfo, check_layout

MAGIC = b"GGUF"
VERSIONS = (2, 3)
DEFAULT_ALIGNMENT = 32
ALIGNMENT_KEY = "general.alignment"
#: The largest real header known has 16 MB, fewer than 200 keys and some thousand tensors.
MAX_HEADER_BYTES = 64 << 20
MAX_KEYS = 1 << 16
MAX_KEY_BYTES = (1 << 16) - 1
MAX_TENSORS = 1 << 17
_FIXED_BYTES = 24
#: The least that a key with its value, and the description of a tensor, can take.
_LEAST_KEY = 14
_LEAST_TENSOR = 24
#: What a name and two dimensions add to the description of a tensor.
_MORE_TENSOR = 40


class HeaderParser:
    """A parser that is fed the file from its first byte on, in pieces of any size.

    `feed` returns None once the header is complete, and otherwise the offset from which on more bytes are wanted: the
    number of bytes fed so far. `needed` is a lower bound of the bytes that the header takes, as far as it is known yet.
    `size` is the size of the file, None where it is not known; `finish` says that no more bytes will come. All raise
    GgufError with the offset of the fault, and raise it again when called again. With `identity_only` the types and
    sizes of tensors are not judged.
    """

    def __init__(
        self,
        name: str = "",
        *,
        size: int | None = None,
        identity_only: bool = False,
        max_bytes: int = MAX_HEADER_BYTES,
    ) -> None:
        self.needed = _FIXED_BYTES
        self._cursor = Cursor(name, size, max_bytes)
        self._identity_only = identity_only
        self._header: Header | None = None
        self._error: GgufError | None = None
        self._waiting = 1
        self._values: dict[str, int | float | bool | _Body] = {}
        self._tensors: list[TensorInfo] = []
        self._places: list[int] = []
        self._alignment = DEFAULT_ALIGNMENT
        self._tensors_left = 0
        self._walk = self._file()

    def feed(self, data: bytes | memoryview) -> int | None:
        """Take the bytes that follow those fed before. Returns None once the header is complete, else their number."""
        if self._header is None and isinstance(self._cursor.buffer, bytearray):
            self._cursor.buffer += data
            self._go_on()
        return None if self._header else self.received

    def over(self, mapped: mmap.mmap) -> Header:
        """Parse a whole file that is mapped into memory; its pages are read as they are needed."""
        self._cursor.buffer = mapped
        self._cursor.size = len(mapped)
        self._go_on()
        return self.finish()

    def finish(self) -> Header:
        """Return the header; raises GgufError where the bytes ended before it was complete."""
        if self._header is None:
            self._cursor.size = self.received
            self._go_on()
            self._cursor.within(self._waiting, "the header")
        return self.header

    @property
    def complete(self) -> bool:
        """Whether the whole header has been fed."""
        return self._header is not None

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
        return len(self._cursor.buffer)

    @property
    def size(self) -> int | None:
        """The size of the file, where it is known."""
        return self._cursor.size

    @size.setter
    def size(self, size: int | None) -> None:
        self._cursor.size = size

    @property
    def likely(self) -> int:
        """A guess of the bytes that the header takes: an array of strings is taken to go on as it began."""
        return max(self.needed, self._cursor.likely) + self._tensors_left * _MORE_TENSOR

    def fed(self, start: int, end: int) -> bytes:
        """Return bytes that have been fed."""
        return bytes(self._cursor.buffer[start:end])

    def _go_on(self) -> None:
        if self._error:
            raise self._error
        if self.received < self._waiting and self._cursor.size != self.received:
            return
        try:
            self._waiting = next(self._walk)
        except StopIteration:
            return
        except GgufError as error:
            self._error = error
            raise
        self.needed = max(self.needed, self._waiting)

    def _file(self) -> Walk:
        cursor = self._cursor
        yield from self._magic()
        yield from cursor.until(_FIXED_BYTES, "the fixed part of the header")
        version = self._version()
        tensors, keys = layout(cursor.order, "QQ").unpack_from(cursor.buffer, 8)
        cursor.at = _FIXED_BYTES
        cursor.count(tensors, MAX_TENSORS, _LEAST_TENSOR, "tensors", 8)
        cursor.count(keys, MAX_KEYS, _LEAST_KEY, "keys", 16)
        self._tensors_left = tensors
        for done in range(keys):
            self._need((keys - done) * _LEAST_KEY + tensors * _LEAST_TENSOR)
            yield from self._key()
        names: set[str] = set()
        for done in range(tensors):
            self._need((tensors - done) * _LEAST_TENSOR)
            self._places.append(cursor.at)
            tensor = yield from walk_tensor(cursor, names)
            self._tensors.append(tensor)
            self._tensors_left -= 1
        end = cursor.at
        start = end + (-end % self._alignment if tensors else 0)
        if not self._identity_only:
            if cursor.size is not None and start > cursor.size:
                cursor.fail(f"the file ends before its tensor data begin, at {start}", end, "is the file cut short?")
            check_layout(self._tensors, self._places, self._alignment, cursor.name)
        self._header = self._complete(version, end, start)

    def _need(self, more: int) -> None:
        self.needed = self._cursor.at + more
        self._cursor.within(self.needed, "the rest of the header")

    def _magic(self) -> Walk:
        cursor = self._cursor
        while MAGIC.startswith(cursor.buffer[: len(MAGIC)]) and self.received < min(len(MAGIC), self._end()):
            yield self.received + 1
        if cursor.buffer[: len(MAGIC)] != MAGIC:
            while self.received < min(foreign.TELLING_BYTES, self._end()):
                yield self.received + 1
            message, hint = foreign.describe(bytes(cursor.buffer[: foreign.TELLING_BYTES]))
            cursor.fail(message, 0, hint)

    def _end(self) -> int:
        return self._cursor.max_bytes if self._cursor.size is None else self._cursor.size

    def _version(self) -> int:
        cursor = self._cursor
        version: int = layout("little", "I").unpack_from(cursor.buffer, 4)[0]
        if version & 0xFFFF == 0 and version:
            cursor.order = "big"
            version = layout("big", "I").unpack_from(cursor.buffer, 4)[0]
        if version not in VERSIONS:
            hint = "convert the model again: version 1 was given up in 2023" if version == 1 else ""
            cursor.fail(f"GGUF version {version}, and versions 2 and 3 can be read", 4, hint)
        return version

    def _key(self) -> Walk:
        cursor = self._cursor
        start = cursor.at
        name = yield from cursor.short_text("a key", MAX_KEY_BYTES)
        if not name:
            cursor.fail("a key is empty", start)
        if name in self._values:
            cursor.fail(f"the key {name!r} comes twice", start)
        place = cursor.at
        yield from cursor.until(place + 4, f"the type of {name!r}")
        type_ = cursor.take("I")
        if type_ == ARRAY_TYPE:
            self._values[name] = yield from self._array(name, place)
        elif type_ == STRING_TYPE:
            self._values[name] = yield from self._text(name)
        elif type_ in NUMBERS:
            code = NUMBERS[type_][1]
            yield from cursor.until(cursor.at + struct.calcsize("<" + code), f"the value of {name!r}")
            self._values[name] = cursor.take(code)
        else:
            cursor.fail(f"{name!r} has the value type {type_}, which does not exist", place)
        if name == ALIGNMENT_KEY:
            self._alignment = self._checked_alignment(type_, place)

    def _text(self, name: str) -> Generator[int, None, _Body]:
        cursor = self._cursor
        yield from cursor.until(cursor.at + 8, f"the length of {name!r}")
        length = cursor.take("Q")
        start, end = cursor.at, cursor.at + length
        cursor.within(end, f"the text of {name!r}, {length} bytes,", start - 8)
        yield from cursor.until(end, f"the text of {name!r}")
        cursor.at = end
        return _Body("", 1, start, end)

    def _array(self, name: str, place: int) -> Generator[int, None, _Body]:
        cursor = self._cursor
        yield from cursor.until(cursor.at + 12, f"the array {name!r}")
        type_, count = cursor.take("I"), cursor.take("Q")
        start = cursor.at
        if type_ == STRING_TYPE:
            cursor.count(count, cursor.max_bytes, 8, f"strings in {name!r}", start - 8)
            marks = yield from walk_strings(cursor, name, count)
            return _Body(STRING, count, start, cursor.at, marks)
        if type_ not in NUMBERS:
            what = "arrays" if type_ == ARRAY_TYPE else f"the value type {type_}"
            cursor.fail(f"{name!r} is an array of {what}, which libggml does not read either", place + 4)
        kind, code = NUMBERS[type_]
        size = struct.calcsize("<" + code)
        cursor.count(count, cursor.max_bytes, size, f"numbers in {name!r}", start - 8)
        cursor.at = start + count * size
        yield from cursor.until(cursor.at, f"the array {name!r}")
        return _Body(kind, count, start, cursor.at)

    def _checked_alignment(self, type_: int, place: int) -> int:
        value = self._values[ALIGNMENT_KEY]
        if NUMBERS.get(type_) != ("uint32", "I") or not isinstance(value, int):
            self._cursor.fail(f"{ALIGNMENT_KEY!r} is no uint32", place)
        if value == 0 or value & (value - 1):
            self._cursor.fail(f"{ALIGNMENT_KEY!r} is {value}, and only a power of two is possible", place + 4)
        return value

    def _complete(self, version: int, end: int, start: int) -> Header:
        cursor = self._cursor
        view = memoryview(cursor.buffer).toreadonly()
        items: dict[str, int | float | bool | memoryview | Array] = {}
        for key, value in self._values.items():
            items[key] = value.within(view, cursor.order) if isinstance(value, _Body) else value
        return Header(
            version,
            cursor.order,
            self._alignment,
            Values(items),
            tuple(self._tensors),
            end,
            start,
            cursor.name,
            cursor.size,
        )


class _Body:
    """Where a text or an array lies in the buffer, which may still move."""

    __slots__ = ("count", "end", "kind", "marks", "start")

    def __init__(self, kind: str, count: int, start: int, end: int, marks: Sequence[int] = ()) -> None:
        self.kind = kind
        self.count = count
        self.start = start
        self.end = end
        self.marks = marks

    def within(self, view: memoryview, order: ByteOrder) -> memoryview | Array:
        """Return the bytes of a text, or the array."""
        body = view[self.start : self.end]
        return Array(self.kind, self.count, body, order, self.marks) if self.kind else body
