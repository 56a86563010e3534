from __future__ import annotations

import io
from pathlib import Path

import pytest

from specrules.errors import EvidenceError, Location
from specrules.evidence import source
from specrules.evidence.source import read_source, source_from_bytes


def refusal(data: bytes) -> str:
    with pytest.raises(EvidenceError) as caught:
        source_from_bytes("f", data)
    return str(caught.value)


def test_a_file_and_standard_input_give_their_text(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    path.write_bytes("a\r\nµ\n".encode())
    read = read_source(str(path))
    assert (read.name, read.text, read.warnings) == (str(path), "a\r\nµ\n", ())
    assert read.complete_lines() == (["a", "µ"], ())
    piped = read_source("-", io.BytesIO(b"x 1\n"))
    assert (piped.name, piped.text) == ("<stdin>", "x 1\n")


def test_files_that_cannot_be_opened_are_the_users_mistake(tmp_path: Path) -> None:
    for path, reason in ((tmp_path / "none", "No such file"), (tmp_path, "Is a directory"), ("a\0b", "null byte")):
        with pytest.raises(EvidenceError, match=f"cannot be read: .*{reason}"):
            read_source(str(path))


def test_the_size_limit_holds_for_files_and_for_pipes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "MAX_BYTES", 1 << 20)
    path = tmp_path / "big"
    path.write_bytes(b"x" * (1 << 20))
    assert len(read_source(str(path)).text) == 1 << 20
    path.write_bytes(b"x" * ((1 << 20) + 1))
    for attempt in (lambda: read_source(str(path)), lambda: read_source("-", io.BytesIO(b"x" * (2 << 20)))):
        with pytest.raises(EvidenceError, match="larger than 1 MiB"):
            attempt()


def test_binary_files_are_refused_at_their_line() -> None:
    assert refusal(b"one\ntwo\nth\0ree\n") == "f:3: the file is binary: it holds a NUL byte here"
    assert refusal(b"\x1f\x8b\x08\0\0").endswith("(decompress it first)")
    assert refusal(b"GGUF\x03\0\0\0").endswith(
        "(a model is no evidence: a case names it under target or drafter, as file)"
    )
    assert refusal(b"  \n\n") == refusal(b"") == "f: the file is empty"


def test_utf16_with_a_mark_is_text_and_a_byte_order_mark_no_content() -> None:
    assert source_from_bytes("f", "log µ\n".encode("utf-16")).text == "log µ\n"
    assert source_from_bytes("f", b"\xef\xbb\xbflog\n").text == "log\n"


def test_bytes_that_are_no_utf8_are_replaced_and_counted() -> None:
    read = source_from_bytes("f", b"a\xff\xfe b \xef\xbf\xbd c\xe2\x82\n")
    assert read.text == "a\ufffd\ufffd b \ufffd c\ufffd\n"
    assert [problem.render() for problem in read.warnings] == ["f: 3 characters are not valid UTF-8 and were replaced"]


def test_a_last_line_without_an_end_is_left_out_unless_it_is_the_only_one() -> None:
    lines, warnings = source_from_bytes("f", b"one\ntwo 12").complete_lines()
    assert lines == ["one"]
    assert [problem.render() for problem in warnings] == ["f:2: the last line has no end and was not read"]
    assert source_from_bytes("f", b"one\n   ").complete_lines() == (["one"], ())
    assert source_from_bytes("f", b"\n\ntwo 12").complete_lines() == (["", "", "two 12"], ())


def test_only_line_feeds_end_lines() -> None:
    text = "a\x0bb\x85c\u2028d\re\n"
    assert source_from_bytes("f", text.encode()).complete_lines()[0] == [text[:-1]]


def test_a_line_that_is_too_long_is_an_error_at_its_place() -> None:
    longest = b"x" * source.MAX_LINE
    assert len(source_from_bytes("f", longest + b"\n").complete_lines()[0][0]) == 64 << 10
    with pytest.raises(EvidenceError) as caught:
        source_from_bytes("f", b"ok\n" + longest + b"x\n").complete_lines()
    assert caught.value.problems[0].where == Location("f", 2)
    assert "65537 characters" in caught.value.problems[0].message
