"""The wire format of Protocol Buffers, as much of it as a SentencePiece model needs.

A reader of our own: a message is a list of numbered fields in four encodings, and three fields are needed. The
libraries that read it bring a C++ runtime (`sentencepiece`) or generated classes and their own version policy
(`protobuf`), for what is forty lines here.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import unpack_from

Field = int | float | bytes
_MAX_SHIFT = 63


class WireError(ValueError):
    """The bytes are no message. `offset` counts from the start of the message."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(f"byte {offset}: {message}")
        self.offset = offset


def fields(data: bytes | memoryview) -> Iterator[tuple[int, Field]]:
    """Yield number and value of every field: integers as unsigned, 32 bits as a float, the rest as bytes.

    WireError where the bytes end inside of a field, or where a field has no number or an unknown encoding.
    """
    position, end = 0, len(data)
    while position < end:
        start = position
        key, position = _integer(data, position)
        number, encoding = key >> 3, key & 7
        value: Field
        if not number:
            raise WireError("a field without a number", start)
        if encoding == 0:
            value, position = _integer(data, position)
        elif encoding == 2:
            size, position = _integer(data, position)
            value, position = _taken(data, position, size)
        elif encoding in {1, 5}:
            value, position = _taken(data, position, 8 if encoding == 1 else 4)
            if encoding == 5:
                value = float(unpack_from("<f", value)[0])
        else:
            raise WireError(f"encoding {encoding} is not known", start)
        yield number, value


def _integer(data: bytes | memoryview, position: int) -> tuple[int, int]:
    value, start = 0, position
    for shift in range(0, _MAX_SHIFT + 1, 7):
        if position >= len(data):
            raise WireError("the file ends inside of a number", start)
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
    raise WireError("a number of more than 64 bits", start)


def _taken(data: bytes | memoryview, position: int, size: int) -> tuple[bytes, int]:
    if size > len(data) - position:
        raise WireError(f"a field of {size} bytes, and {len(data) - position} are left", position)
    return bytes(data[position : position + size]), position + size
