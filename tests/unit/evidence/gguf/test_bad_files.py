from __future__ import annotations

import os
import time
import tracemalloc
from pathlib import Path

import pytest

from specrules.evidence.gguf import GgufError, Header, HeaderParser, read_header
from tests.unit.evidence.gguf.bad import BAD, GOOD, ODD, Bad


def outcome(data: bytes) -> Header:
    parser = HeaderParser("file", size=len(data))
    parser.feed(data)
    return parser.finish()


def in_steps(data: bytes, step: int) -> Header:
    """Feed the first 300 steps one by one, then the rest."""
    parser = HeaderParser("file", size=len(data))
    first = min(len(data), 300 * step)
    for at in range(0, first, step):
        parser.feed(data[at : min(at + step, first)])
    parser.feed(data[first:])
    return parser.finish()


def test_there_are_at_least_forty_of_each_a_name_of_its_own() -> None:
    assert len({bad.name for bad in BAD}) == len(BAD) >= 40


@pytest.mark.parametrize("bad", BAD, ids=[bad.name for bad in BAD])
def test_a_bad_file_is_refused_with_the_place_and_the_reason(tmp_path: Path, bad: Bad) -> None:
    path = tmp_path / "bad.gguf"
    path.write_bytes(bad.data)
    with pytest.raises(GgufError) as caught:
        read_header(path)
    (problem,) = caught.value.problems
    assert problem.where is not None
    assert problem.where.path == str(path)
    assert bad.words in problem.render()
    assert caught.value.offset is not None
    assert problem.message.startswith(f"byte {caught.value.offset}: ")
    assert 0 <= caught.value.offset <= len(bad.data)
    if bad.offset is not None:
        assert caught.value.offset == bad.offset


@pytest.mark.parametrize("step", [1, 7, 1000])
def test_the_error_is_the_same_when_the_file_comes_in_pieces(step: int) -> None:
    for bad in BAD:
        with pytest.raises(GgufError) as expected:
            outcome(bad.data)
        with pytest.raises(GgufError) as caught:
            in_steps(bad.data, step)
        assert str(caught.value) == str(expected.value), bad.name


def test_no_bad_file_takes_long_or_much_memory(tmp_path: Path) -> None:
    path = tmp_path / "bad.gguf"
    for bad in BAD:
        path.write_bytes(bad.data)
        tracemalloc.start()
        start = time.process_time()
        with pytest.raises(GgufError):
            read_header(path)
        spent = time.process_time() - start
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 1 << 20, bad.name
        assert spent < 0.25, bad.name


@pytest.mark.parametrize("name", ODD)
def test_an_odd_file_is_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / "odd.gguf"
    path.write_bytes(ODD[name])
    header = read_header(path)
    assert header.file_bytes == len(ODD[name])


def test_every_cut_of_a_good_file_is_refused() -> None:
    start = outcome(GOOD).data_offset
    for end in range(start):
        with pytest.raises(GgufError, match=r"cut short|empty|ends after"):
            outcome(GOOD[:end])
    assert outcome(GOOD[:start]).data_offset == start


def test_what_is_no_regular_file_is_refused_without_waiting(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path, words in (
        (pipe, "not a regular file"),
        (tmp_path, "not a regular file"),
        (tmp_path / "none.gguf", "No such file"),
        (tmp_path / "a\0b", "null"),
    ):
        with pytest.raises(GgufError, match=words) as caught:
            read_header(path)
        assert caught.value.offset is None
