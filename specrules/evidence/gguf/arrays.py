"""Arrays of a GGUF header, decoded item by item from the bytes of the file."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterator, Sequence
from struct import Struct, iter_unpack, unpack_from
from typing import Literal, overload

ByteOrder = Literal["little", "big"]
Item = int | float | bool | str

STRING = "string"
#: Numeric value types by the number in the file: name, format of the struct module.
NUMBERS = {
    0: ("uint8", "B"),
    1: ("int8", "b"),
    2: ("uint16", "H"),
    3: ("int16", "h"),
    4: ("uint32", "I"),
    5: ("int32", "i"),
    6: ("float32", "f"),
    7: ("bool", "?"),
    10: ("uint64", "Q"),
    11: ("int64", "q"),
    12: ("float64", "d"),
}
STRING_TYPE = 8
ARRAY_TYPE = 9
#: One string position in this many is remembered; the others are found by walking on from there.
STRIDE = 256

_FORMATS = dict(NUMBERS.values())
_PREFIX: dict[ByteOrder, str] = {"little": "<", "big": ">"}


def layout(order: ByteOrder, fmt: str) -> Struct:
    """Return the packed layout of `fmt` in a byte order."""
    return Struct(_PREFIX[order] + fmt)


class Array(Sequence[Item]):
    """A lazy view of an array: nothing is decoded before it is asked for.

    `type` names the item type as the GGUF specification does in lower case: `string`, `int32`, `float32`, ... Strings
    decode as UTF-8 with `surrogateescape`, so bytes that are no UTF-8 survive; `bytes_at` and `each_bytes` give them as
    they are in the file. `marks` holds the position in `body` of every `STRIDE`th string.
    """

    __slots__ = ("_body", "_count", "_marks", "_order", "type")

    def __init__(
        self, type_: str, count: int, body: memoryview, order: ByteOrder, marks: Sequence[int] | None = None
    ) -> None:
        self.type = type_
        self._count = count
        self._body = body
        self._order: ByteOrder = order
        self._marks = marks or ()

    def __repr__(self) -> str:
        return f"<Array of {self._count} {self.type}>"

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Item]:
        if self.type == STRING:
            for data in self.each_bytes():
                yield data.decode("utf-8", "surrogateescape")
        else:
            for (item,) in iter_unpack(_PREFIX[self._order] + _FORMATS[self.type], self._body):
                yield item

    @overload
    def __getitem__(self, index: int) -> Item: ...

    @overload
    def __getitem__(self, index: slice) -> list[Item]: ...

    def __getitem__(self, index: int | slice) -> Item | list[Item]:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(self._count))]
        if self.type == STRING:
            return self.bytes_at(index).decode("utf-8", "surrogateescape")
        packed = layout(self._order, _FORMATS[self.type])
        item: Item = packed.unpack_from(self._body, self._place(index) * packed.size)[0]
        return item

    def bytes_at(self, index: int) -> bytes:
        """Return the bytes of one string. Raises IndexError, and TypeError where the items are no strings."""
        self._only_strings()
        at = self._place(index)
        position = self._marks[at // STRIDE]
        length = layout(self._order, "Q").unpack_from
        for _ in range(at % STRIDE):
            position += 8 + length(self._body, position)[0]
        size = length(self._body, position)[0]
        return bytes(self._body[position + 8 : position + 8 + size])

    def each_bytes(self) -> Iterator[bytes]:
        """Yield the bytes of every string in order. Raises TypeError where the items are no strings."""
        self._only_strings()
        body, position = self._body, 0
        length = layout(self._order, "Q").unpack_from
        for _ in range(self._count):
            end = position + 8 + length(body, position)[0]
            yield bytes(body[position + 8 : end])
            position = end

    @property
    def raw(self) -> memoryview:
        """The body in little-endian order, whatever the order of the file, so that equal arrays have equal hashes.

        A string is a 64-bit length and its bytes. No copy is made of a little-endian file.
        """
        if self._order == "little" or not self._count:
            return self._body
        if self.type == STRING:
            return memoryview(b"".join(len(data).to_bytes(8, "little") + data for data in self.each_bytes()))
        code = _FORMATS[self.type]
        numbers = array("B" if code == "?" else code)
        numbers.frombytes(self._body)
        numbers.byteswap()
        return memoryview(numbers.tobytes())

    def _place(self, index: int) -> int:
        at = index + self._count if index < 0 else index
        if not 0 <= at < self._count:
            raise IndexError(f"index {index} of an array of {self._count}")
        return at

    def _only_strings(self) -> None:
        if self.type != STRING:
            raise TypeError(f"an array of {self.type} has no strings")


def host_order() -> ByteOrder:
    """Return the byte order of this machine."""
    return "little" if sys.byteorder == "little" else "big"


def scalar(type_: int, order: ByteOrder, data: memoryview, at: int) -> int | float | bool:
    """Return the number of a numeric type at a place in the data."""
    value: int | float | bool = unpack_from(_PREFIX[order] + NUMBERS[type_][1], data, at)[0]
    return value
