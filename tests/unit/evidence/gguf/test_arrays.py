from __future__ import annotations

import hashlib
import struct

import pytest

from specrules.evidence.gguf import Array, HeaderParser
from tests.unit.evidence.gguf.build import BIG, CODES, LITTLE, Builder


def array(build: Builder, key: bytes) -> Array:
    data = build.file([key])
    parser = HeaderParser(size=len(data))
    parser.feed(data)
    (value,) = parser.header.values.values()
    assert isinstance(value, Array)
    return value


WORDS = [bytes([index * 37 % 256]) * (index % 40) for index in range(1000)]


@pytest.mark.parametrize("build", [LITTLE, BIG], ids=["little", "big"])
@pytest.mark.parametrize("count", [0, 1, 255, 256, 257, 512, 1000])
def test_strings_by_index_and_in_order(build: Builder, count: int) -> None:
    words = WORDS[:count]
    strings = array(build, build.strings("a", words))
    assert (strings.type, len(strings)) == ("string", count)
    assert list(strings.each_bytes()) == words
    assert [strings.bytes_at(index) for index in range(count)] == words
    assert [item.encode("utf-8", "surrogateescape") for item in strings] == words
    assert [strings[index] for index in range(count)] == list(strings)
    assert [strings[index - count] for index in range(count)] == list(strings)
    assert strings[3:600:7] == list(strings)[3:600:7]
    assert strings[::-1] == list(strings)[::-1]
    for index in (count, -count - 1):
        with pytest.raises(IndexError):
            strings.bytes_at(index)
        with pytest.raises(IndexError):
            _ = strings[index]


@pytest.mark.parametrize("build", [LITTLE, BIG], ids=["little", "big"])
@pytest.mark.parametrize("kind", CODES)
def test_numbers_of_every_kind(build: Builder, kind: int) -> None:
    values = struct.unpack(f"<4{CODES[kind]}", bytes(range(1, 4 * struct.calcsize("<" + CODES[kind]) + 1)))
    numbers = array(build, build.numbers("a", kind, values))
    assert list(numbers) == list(values)
    assert [numbers[index] for index in range(-4, 4)] == [*values, *values]
    assert numbers[1:3] == list(values[1:3])
    assert numbers.raw == struct.pack(f"<4{CODES[kind]}", *values)
    assert type(numbers[0]) is type(values[0])
    with pytest.raises(IndexError):
        _ = numbers[4]
    with pytest.raises(TypeError, match="has no strings"):
        numbers.bytes_at(0)
    with pytest.raises(TypeError, match="has no strings"):
        next(numbers.each_bytes())


def test_the_raw_body_is_the_same_in_both_byte_orders_and_a_view_in_the_first() -> None:
    little, big = (array(build, build.strings("a", WORDS)) for build in (LITTLE, BIG))
    body = b"".join(struct.pack("<Q", len(word)) + word for word in WORDS)
    assert little.raw == big.raw == body
    assert hashlib.sha256(little.raw).digest() == hashlib.sha256(big.raw).digest() == hashlib.sha256(body).digest()
    assert isinstance(little.raw.obj, bytearray)
    assert little.raw.readonly
    assert array(BIG, BIG.strings("a", [])).raw == b""


def test_an_array_says_what_it_is() -> None:
    assert repr(array(LITTLE, LITTLE.numbers("a", 5, [1, 2]))) == "<Array of 2 int32>"
