from __future__ import annotations

import mmap
import sys
from pathlib import Path

import pytest

from specrules.evidence.gguf import Array, GgufError, Header, HeaderParser, TensorInfo, read_header
from specrules.evidence.gguf.parser import MAX_HEADER_BYTES
from tests.unit.evidence.gguf.build import BIG, F32, LITTLE, Q8_0, Builder, toy

B = LITTLE
ORDERS = [(LITTLE, "little"), (BIG, "big")]


def parse(data: bytes, **options: object) -> Header:
    parser = HeaderParser("file", size=len(data), **options)
    parser.feed(data)
    return parser.finish()


def plain(header: Header) -> dict[str, object]:
    return {key: list(value) if isinstance(value, Array) else value for key, value in header.values.items()}


@pytest.mark.parametrize(("build", "order"), ORDERS)
def test_every_kind_of_value_is_read_in_both_byte_orders(tmp_path: Path, build: Builder, order: str) -> None:
    data = toy(build)
    path = tmp_path / "toy.gguf"
    path.write_bytes(data)
    header = read_header(path)
    assert (header.version, header.byte_order, header.alignment) == (3, order, 32)
    assert plain(header) == {
        "general.architecture": "llama",
        "tokenizer.ggml.tokens": ["a", "b", "\u2581c", "\udcff\x00d", ""],
        "one.B": 255,
        "one.b": -1,
        "one.H": 65535,
        "one.h": -2,
        "one.I": 7,
        "one.i": -3,
        "one.f": 0.5,
        "one.?": True,
        "one.Q": 2**64 - 1,
        "one.q": -(2**63),
        "one.d": 0.1,
        "many.B": [255] * 3,
        "many.b": [-1] * 3,
        "many.H": [65535] * 3,
        "many.h": [-2] * 3,
        "many.I": [7] * 3,
        "many.i": [-3] * 3,
        "many.f": [0.5] * 3,
        "many.?": [True] * 3,
        "many.Q": [2**64 - 1] * 3,
        "many.q": [-(2**63)] * 3,
        "many.d": [0.1] * 3,
    }
    assert header.values["one.?"] is True
    assert header.tensors == (
        TensorInfo("token_embd.weight", (32, 2), F32, 0),
        TensorInfo("output.weight", (64,), Q8_0, 256),
    )
    assert header.header_bytes == data.rindex(build.pack("IQ", Q8_0, 256)) + 12
    assert header.data_offset == header.header_bytes + -header.header_bytes % 32
    assert header.file_bytes == len(data)
    assert header.name == str(path)


@pytest.mark.parametrize(("build", "order"), ORDERS)
def test_it_can_be_fed_in_two_pieces_cut_anywhere(build: Builder, order: str) -> None:
    data = toy(build)
    whole = parse(data)
    for cut in range(whole.header_bytes + 1):
        parser = HeaderParser("file", size=len(data))
        if cut < whole.header_bytes:
            assert parser.feed(data[:cut]) == cut == parser.received
            assert parser.needed <= whole.header_bytes
            assert not parser.complete
        assert parser.feed(data[parser.received :]) is None
        assert plain(parser.header) == plain(whole)
        assert parser.header.tensors == whole.tensors
        assert (parser.header.byte_order, parser.header.data_offset) == (order, whole.data_offset)


def test_it_can_be_fed_byte_by_byte_and_tells_the_keys_so_far() -> None:
    data = toy()
    parser = HeaderParser("file")
    seen = []
    for at in range(len(data)):
        wanted = parser.feed(data[at : at + 1])
        seen.append(len(parser.keys))
        if wanted is None:
            break
        assert wanted == at + 1
    assert parser.header.header_bytes == at + 1
    assert seen == sorted(seen)
    assert parser.keys == tuple(parser.header.values)
    assert parser.feed(b"more") is None


def test_what_comes_behind_the_header_is_not_kept_from_ending_it() -> None:
    data = toy()
    parser = HeaderParser("file")
    assert parser.feed(data) is None
    assert parser.header.header_bytes < len(data)
    assert parser.header.file_bytes is None


def test_the_header_is_not_there_before_it_is_complete() -> None:
    parser = HeaderParser("file")
    parser.feed(toy()[:100])
    with pytest.raises(ValueError, match="not complete yet"):
        _ = parser.header


def test_an_error_comes_again_when_more_is_fed() -> None:
    parser = HeaderParser("file")
    for _ in range(3):
        with pytest.raises(GgufError, match="byte 0: no GGUF file: it is an HTML"):
            parser.feed(b"<html>" + bytes(60))
    with pytest.raises(GgufError, match="byte 0: no GGUF file: it is an HTML"):
        parser.finish()


def test_what_is_needed_never_shrinks_and_what_is_likely_comes_close() -> None:
    data = B.file([B.strings("a", ["x" * 12] * 20_000)], [B.tensor(f"t{n}", (32,), F32, n * 128) for n in range(50)])
    size = parse(data).header_bytes
    parser = HeaderParser("file")
    needed = 0
    for at in range(0, size - 10_000, 10_000):
        parser.feed(data[at : at + 10_000])
        assert needed <= parser.needed <= size
        needed = parser.needed
        assert 0.99 * size <= parser.likely <= 1.01 * size
    assert needed > size // 2


def test_a_guess_that_was_too_large_is_forgotten_when_the_array_is_over() -> None:
    head = [B.strings("a", ["x" * 400] * 2560 + [""] * 2560), B.numbers("b", 4, [0] * 5000)]
    data = B.header([*head, B.string("c", "x" * 100)])
    parser = HeaderParser("file")
    parser.feed(data[: 24 + 2560 * 408 + 21 + 10])
    assert 2.0e6 < parser.likely < 2.2e6
    parser.feed(data[parser.received : 24 + len(head[0]) + 100])
    assert len(data) - 200 < parser.likely <= len(data)


def test_a_file_that_ends_when_no_size_was_said_is_cut_short() -> None:
    data = toy()
    for cut in (0, 3, 20, 30, 100, 500):
        parser = HeaderParser("file")
        parser.feed(data[:cut])
        with pytest.raises(GgufError, match=r"empty|ends after 3 bytes|cut short"):
            parser.finish()


def test_version_2_has_the_layout_of_version_3() -> None:
    header = parse(b"GGUF" + B.pack("I", 2) + toy()[8:])
    assert header.version == 2
    assert plain(header) == plain(parse(toy()))


def test_the_order_of_keys_is_that_of_the_file() -> None:
    keys = ["z", "tokenizer.ggml.tokens", "a"]
    header = parse(B.file([B.strings(key, []) for key in keys]))
    assert list(header.values) == keys
    assert len(header.values) == 3
    assert "a" in header.values
    assert "b" not in header.values


@pytest.mark.parametrize("alignment", [1, 8, 32, 4096])
def test_the_alignment_says_where_the_data_begin(alignment: int) -> None:
    data = B.file([B.number("general.alignment", 4, alignment)], [B.tensor("t")], alignment=alignment)
    header = parse(data)
    assert header.alignment == alignment
    assert header.data_offset == len(data) - 128
    assert header.data_offset % alignment == 0


def test_without_tensors_no_padding_follows() -> None:
    data = B.header([B.string("general.architecture", "llama")])
    assert parse(data).data_offset == parse(data).header_bytes == len(data)


def test_text_that_is_no_utf8_keeps_its_bytes() -> None:
    header = parse(B.file([B.string("a", b"\xff\x00\xfe"), B.string("\u2581".encode(), "\ufeffx")]))
    assert header.values["a"] == "\udcff\x00\udcfe"
    assert header.values["\u2581"] == "\ufeffx"


@pytest.mark.parametrize("kind", [4, 43, 1000, 2**32 - 1])
def test_identity_does_not_need_the_types_of_tensors(kind: int) -> None:
    data = B.file([], [B.tensor("t", (7,), kind, 5)], 0)[:-7]
    assert parse(data, identity_only=True).tensors == (TensorInfo("t", (7,), kind, 5),)
    with pytest.raises(GgufError, match="ends before its tensor data begin"):
        parse(data)


def test_a_header_beyond_the_limit_is_refused_although_the_file_is_large_enough(tmp_path: Path) -> None:
    path = tmp_path / "sparse.gguf"
    with path.open("wb") as file:
        file.write(B.header([B.array("a", 8, 1 << 30, b"")]))
        file.truncate(16 << 30)
    with pytest.raises(GgufError, match="1073741824 strings in 'a', and at most 67108864 are read"):
        read_header(path)
    assert MAX_HEADER_BYTES == 67108864


def test_the_modules_that_are_slow_to_import_are_not_needed(tmp_path: Path) -> None:
    import subprocess

    path = tmp_path / "toy.gguf"
    path.write_bytes(toy())
    code = (
        "import sys; from specrules.evidence.gguf import read_header; read_header(sys.argv[1]);"
        "print(sorted({'numpy', 'gguf', 'httpx'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "growing.gguf"
    path.write_bytes(toy())
    over = HeaderParser.over

    def slowly(parser: HeaderParser, mapped: mmap.mmap) -> Header:
        with path.open("ab") as file:
            file.write(b"more")
        return over(parser, mapped)

    monkeypatch.setattr(HeaderParser, "over", slowly)
    with pytest.raises(GgufError, match="the file was changed while it was read"):
        read_header(path)
