"""Whatever the bytes are, the outcome is a header or a GgufError, and the same one in one piece and in many."""

from __future__ import annotations

import tempfile
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from specrules.evidence.gguf import Array, GgufError, Header, HeaderParser, read_header
from tests.unit.evidence.gguf.build import BIG, CODES, LITTLE, Builder, toy

RANGES = {0: (0, 255), 1: (-128, 127), 2: (0, 65535), 3: (-32768, 32767), 4: (0, 2**32 - 1), 5: (-(2**31), 2**31 - 1)}
RANGES |= {10: (0, 2**64 - 1), 11: (-(2**63), 2**63 - 1)}


def plain(header: Header) -> tuple[object, ...]:
    values = {
        key: (list(value), bytes(value.raw)) if isinstance(value, Array) else value
        for key, value in header.values.items()
    }
    return header.version, header.byte_order, header.alignment, repr(values), header.tensors, header.header_bytes


def outcome(data: bytes, cuts: list[int], identity_only: bool) -> object:
    parser = HeaderParser("file", size=len(data), identity_only=identity_only)
    try:
        start = 0
        for cut in [*cuts, len(data)]:
            parser.feed(data[start:cut])
            start = cut
        return plain(parser.finish())
    except GgufError as error:
        if error.offset is None or not 0 <= error.offset <= len(data):
            raise AssertionError(f"no place in the file: {error.offset}") from error
        return str(error)


def outcome_of_file(data: bytes, identity_only: bool) -> object:
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        try:
            return plain(read_header(file.name, identity_only=identity_only))
        except GgufError as error:
            return str(error).replace(file.name, "file")


def numbers(kind: int) -> st.SearchStrategy[Any]:
    if kind in RANGES:
        return st.integers(*RANGES[kind])
    if kind == 7:
        return st.booleans()
    return st.floats(width=32 if kind == 6 else 64, allow_nan=False)


@st.composite
def values(draw: st.DrawFn) -> tuple[str, int, object]:
    shape = draw(st.sampled_from(["number", "numbers", "string", "strings"]))
    if shape == "string":
        return shape, 8, draw(st.binary(max_size=30))
    if shape == "strings":
        words = draw(st.lists(st.binary(max_size=9), max_size=5))
        return shape, 8, words * draw(st.sampled_from([1, 1, 1, 60, 300]))
    kind = draw(st.sampled_from(sorted(CODES)))
    return shape, kind, draw(numbers(kind) if shape == "number" else st.lists(numbers(kind), max_size=6))


keys = st.dictionaries(st.binary(min_size=1, max_size=12).filter(lambda key: b"\0" not in key), values(), max_size=6)
tensors = st.dictionaries(
    st.binary(max_size=12).filter(lambda name: b"\0" not in name),
    st.tuples(st.lists(st.integers(0, 2**40), max_size=4), st.integers(0, 2**32 - 1), st.integers(0, 2**64 - 1)),
    max_size=4,
)


def write(build: Builder, key: bytes, value: tuple[str, int, object]) -> bytes:
    shape, kind, content = value
    writers = {"string": build.string, "strings": build.strings}
    if shape in writers:
        return writers[shape](key, content)
    return build.number(key, kind, content) if shape == "number" else build.numbers(key, kind, content)


@given(st.sampled_from([LITTLE, BIG]), keys, tensors, st.data())
@settings(max_examples=150, deadline=None)
def test_what_is_written_is_read(build: Builder, keys: dict, tensors: dict, data: st.DataObject) -> None:
    parts = [write(build, key, value) for key, value in keys.items()]
    infos = [build.tensor(name, shape, kind, offset) for name, (shape, kind, offset) in tensors.items()]
    size = 2**63
    if any(_product(shape) >= size // 2 for shape, _, _ in tensors.values()):
        return
    content = build.header(parts, infos)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(content)), max_size=4)))
    parser = HeaderParser("file", size=len(content), identity_only=True)
    start = 0
    for cut in [*cuts, len(content)]:
        parser.feed(content[start:cut])
        start = cut
    header = parser.finish()
    assert header.header_bytes == len(content)
    assert [key.encode("utf-8", "surrogateescape") for key in header.values] == list(keys)
    for (shape, kind, content_), value in zip(keys.values(), header.values.values(), strict=True):
        if shape == "string":
            assert value.encode("utf-8", "surrogateescape") == content_
        elif shape == "strings":
            assert list(value.each_bytes()) == content_
        elif shape == "numbers":
            assert list(value) == content_
            assert value.raw == LITTLE.pack(f"{len(content_)}{CODES[kind]}", *content_)
        else:
            assert value == content_
    read = [(tensor.name.encode("utf-8", "surrogateescape"), *_fields(tensor)) for tensor in header.tensors]
    assert read == [(name, tuple(shape), kind, offset) for name, (shape, kind, offset) in tensors.items()]


def _fields(tensor: Any) -> tuple[object, ...]:
    return tensor.shape, tensor.type_id, tensor.offset


def _product(shape: list[int]) -> int:
    product = 1
    for size in shape:
        product *= max(size, 1)
    return product


GOOD = {"<": toy(LITTLE), ">": toy(BIG)}
NUMBERS = [0, 1, 3, 13, 64, 2**16, 2**31, 2**32 - 1, 2**40, 2**61, 2**62, 2**63 - 1, 2**63, 2**64 - 1]


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """Return a good file with bytes changed, numbers put in place of others, parts taken out or put in twice."""
    order = draw(st.sampled_from("<>"))
    data = bytearray(GOOD[order])
    build = LITTLE if order == "<" else BIG
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(data) - 1))
        change = draw(st.sampled_from(["byte", "u32", "u64", "cut", "remove", "repeat", "insert"]))
        if change == "byte":
            data[at] = draw(st.integers(0, 255))
        elif change in {"u32", "u64"}:
            code, size = ("I", 4) if change == "u32" else ("Q", 8)
            data[at : at + size] = build.pack(code, draw(st.sampled_from(NUMBERS)) % 2 ** (size * 8))
        elif change == "cut":
            del data[at + 1 :]
        else:
            end = at + draw(st.integers(1, 64))
            data[at:end] = {"remove": b"", "repeat": data[at:end] * 2, "insert": bytes(8) + data[at:end]}[change]
        if not data:
            data.append(0)
    return bytes(data)


@given(damaged(), st.lists(st.integers(0, 1200), max_size=4), st.booleans())
@settings(max_examples=400, deadline=None)
def test_a_damaged_file_is_judged_the_same_in_one_piece_and_in_many(
    data: bytes, cuts: list[int], identity_only: bool
) -> None:
    whole = outcome(data, [], identity_only)
    assert outcome(data, sorted(min(cut, len(data)) for cut in cuts), identity_only) == whole


@given(damaged(), st.booleans())
@settings(max_examples=100, deadline=None)
def test_a_damaged_file_on_disk_is_judged_the_same(data: bytes, identity_only: bool) -> None:
    assert outcome_of_file(data, identity_only) == outcome(data, [], identity_only)


@given(st.binary(max_size=300), st.sampled_from([b"", b"GGUF", b"GGUF\x03\0\0\0", b"GGUF\0\0\0\x03", GOOD["<"][:60]]))
@settings(max_examples=200, deadline=None)
def test_bytes_of_any_kind_give_a_header_or_an_error(data: bytes, head: bytes) -> None:
    outcome(head + data, [], False)


@given(damaged())
@settings(max_examples=100, deadline=None)
def test_a_size_that_is_not_known_changes_no_good_outcome(data: bytes) -> None:
    known = outcome(data, [], True)
    parser = HeaderParser("file", identity_only=True)
    try:
        parser.feed(data)
        unknown: object = plain(parser.finish())
    except GgufError as error:
        unknown = str(error)
    assert isinstance(known, str) is isinstance(unknown, str)
    if not isinstance(known, str):
        assert known == unknown
