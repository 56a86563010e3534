from __future__ import annotations

import io
import re
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from specrules.errors import EvidenceError
from specrules.evidence.readers import stream
from specrules.evidence.readers.stream import Stream, open_stream, plain, size_of, stream_of
from specrules.evidence.source import MAX_LINE, source_from_bytes


class Pipe(io.RawIOBase):
    """Bytes that are made while they are read, that cannot be read twice, and that may come in small pieces."""

    def __init__(self, parts: Iterator[bytes], most: int = 1 << 20) -> None:
        self.parts = parts
        self.most = most
        self.rest = b""
        self.given = 0

    def read(self, size: int = -1) -> bytes:
        while len(self.rest) < min(size, self.most):
            part = next(self.parts, b"")
            if not part:
                break
            self.rest += part
        data, self.rest = self.rest[: min(size, self.most)], self.rest[min(size, self.most) :]
        self.given += len(data)
        return data


def lines_of(found: Stream) -> list[str]:
    """Every line, with a look at whether blocks know where they begin."""
    lines: list[str] = []
    for block in found.blocks():
        assert block.first == len(lines) + 1
        assert block.data.endswith(b"\n")
        lines += block.data.decode().removesuffix("\n").split("\n")
        assert block.after == len(lines) + 1
    return lines


def refusal(data: bytes) -> str:
    with pytest.raises(EvidenceError) as caught:
        lines_of(Stream("f", io.BytesIO(data)))
    return str(caught.value)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "BLOCK", 7)


PIECES = [
    b"one",
    b"\n",
    b"\r\n",
    b"\r",
    "é€\U0001f600".encode(),
    b"\xff",
    b"\xe2\x82",
    b"\xef\xbb\xbf",
    b" ",
    b"x" * 20,
]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=30).map(b"".join), st.integers(3, 9), st.integers(3, 40))
@example(b"\xef\xbb\xbfa\nb", 3, 3)
def test_lines_are_the_same_in_pieces_as_at_once(data: bytes, block: int, head: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stream, "BLOCK", block)
        patch.setattr(stream, "HEAD", head)
        if not data.decode("utf-8-sig", errors="replace").strip():
            assert refusal(data) == "f: the file is empty"
            return
        source = source_from_bytes("f", data)
        wanted, warnings = source.complete_lines()
        found = Stream("f", Pipe(iter([data]), 3))
        assert lines_of(found) == wanted
        # Characters that were cut in two at the end of the file stand in a line that is left out.
        lost = source.warnings if data.endswith(b"\n") or not warnings else found.warnings[:-1]
        assert found.warnings == [*lost, *warnings]


@pytest.mark.usefixtures("small_blocks")
def test_utf16_is_read_in_pieces_too() -> None:
    found = Stream("f", io.BytesIO("log µ\r\nsecond €\n".encode("utf-16")))
    assert lines_of(found) == ["log µ", "second €"]
    assert found.warnings == []
    assert found.head_text() == "log µ\r\nsecond €\n"


def test_colours_are_removed() -> None:
    assert plain(b"\x1b[36m(Engine pid=1)\x1b[0;0m x\x1b[K\r\n") == b"(Engine pid=1) x\n"
    assert plain(b"\x1b]8 \x1b[12;") == b"\x1b]8 \x1b[12;"


@pytest.mark.usefixtures("small_blocks")
def test_binary_and_empty_files_are_refused() -> None:
    assert refusal(b"one\ntwo\nthree\nfo\0ur\n") == "f:4: the file is binary: it holds a NUL byte here"
    assert refusal(b"\x1f\x8b\x08\0\0").endswith("(decompress it first)")
    assert refusal(b"") == refusal(b" \n\n  ") == "f: the file is empty"


def test_a_line_may_have_as_many_characters_as_allowed_and_no_more() -> None:
    for character in ("x", "é", "\U0001f600"):
        line = character * MAX_LINE
        assert lines_of(Stream("f", io.BytesIO(f"a\n{line}\r\nb\n".encode()))) == ["a", line, "b"]
        message = "f:2: the line has more than 65536 characters, and such lines are not read"
        assert refusal(f"a\n{line}x\nb\n".encode()) == message


def test_an_endless_line_ends_the_reading() -> None:
    pipe = Pipe(iter(lambda: b"x" * 65536, None))
    with pytest.raises(EvidenceError, match=r"^f:1: the line has more than 65536 characters"):
        lines_of(Stream("f", pipe))
    assert pipe.given < 4 << 20


def test_every_byte_is_reported_and_counted() -> None:
    steps: list[int] = []
    found = Stream("f", io.BytesIO(b"one\n" * 1_000_000), steps.append)
    assert (sum(steps), found.is_whole) == (2 << 20, False)
    assert sum(block.data.count(b"\n") for block in found.blocks()) == 1_000_000
    assert (sum(steps), found.size) == (4_000_000, 4_000_000)
    assert max(steps) <= 1 << 20


def test_the_whole_text_can_be_asked_for_and_the_blocks_still_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "HEAD", 4)
    found = Stream("f", Pipe(iter([b"one\ntwo\nthree\n"])))
    assert (found.head, found.is_whole) == (b"one\n", False)
    source = found.source()
    assert source is not None
    assert source.text == "one\ntwo\nthree\n"
    assert lines_of(found) == ["one", "two", "three"]
    monkeypatch.setattr(stream, "MAX_BYTES", 8)
    large = Stream("f", Pipe(iter([b"one\ntwo\nthree\n"])))
    assert large.source() is None
    assert large.is_too_large
    assert lines_of(large) == ["one", "two", "three"]


def test_files_are_opened_and_closed(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"a\n")
    with open_stream(str(path)) as found:
        assert (found.name, found.is_whole, lines_of(found)) == (str(path), True, ["a"])
    with open_stream("-", stdin=io.BytesIO(b"b\n")) as found:
        assert (found.name, lines_of(found)) == ("<stdin>", ["b"])
    for missing, reason in ((tmp_path / "none", "No such file"), (tmp_path, "Is a directory"), ("a\0b", "null byte")):
        with pytest.raises(EvidenceError, match=f"cannot be read: .*{reason}"), open_stream(str(missing)) as found:
            lines_of(found)


def test_the_size_of_a_file_is_known_and_that_of_anything_else_is_not(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"abc")
    assert size_of(str(tmp_path / "log")) == 3
    assert [size_of(str(path)) for path in (tmp_path / "none", tmp_path, "/dev/null")] == [None, None, None]


def test_a_source_keeps_what_it_had_lost() -> None:
    source = source_from_bytes("f", b"a\xff\n")
    found = stream_of(source)
    assert lines_of(found) == ["a\ufffd"]
    assert found.warnings == list(source.warnings)


def test_a_file_of_any_length_takes_the_same_memory() -> None:
    def peak(lines: int) -> int:
        noise = b"0.01.254.040 I srv  update_slots: all slots are idle and nothing is to be read here\n" * 1000
        found = Stream("f", Pipe(iter([noise] * (lines // 1000))))
        tracemalloc.start()
        assert sum(1 for _ in found.blocks()) > lines // 4000
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    assert peak(240_000) < 1.1 * peak(60_000) < 8 << 20


def test_colours_are_no_work_without_end() -> None:
    assert re.fullmatch(rb"\x1b\[[0-9;]+", plain(b"\x1b[" + b"1;" * 200_000)) is not None
