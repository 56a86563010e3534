from __future__ import annotations

import io
import json

import pytest

from specrules.errors import EvidenceError
from specrules.evidence.readers import detect, stream
from specrules.evidence.readers.compiling import compile_readers
from specrules.evidence.readers.detect import Candidate
from specrules.evidence.readers.shape import may_be_structured
from specrules.evidence.readers.stream import Stream

from .support import engine, log_reader

EXAMPLE = [{"text": "x", "facts": {}, "source": "made up"}]
FACTS = [{"fact": "n", "value": "n"}]
OF = engine(
    {
        "id": "dump",
        "kind": "prometheus",
        "requires": ["e:n_total"],
        "fields": {"n": {"metric": "e:n_total"}},
        "facts": FACTS,
        "examples": EXAMPLE,
    },
    {
        "id": "json",
        "kind": "json",
        "requires": ["t.n"],
        "fields": {"n": {"path": "t.n"}},
        "facts": FACTS,
        "examples": EXAMPLE,
    },
    log_reader({"n": {}}, FACTS, [r"n=(?P<n>\d+)"]),
)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "HEAD", 200)


def reader_of(text: str) -> str | None:
    found = Candidate(Stream("f", io.BytesIO(text.encode()))).recognise(compile_readers(OF))
    return None if found is None else found.reader.spec.id


LINES = "".join(f'{{"type": "log", "msg": "n={number}"}}\n' for number in range(40))


@pytest.mark.parametrize(
    ("text", "reader"),
    [
        (json.dumps({"prompt": "x" * 400, "t": {"n": 3}}), "json"),
        (json.dumps([{"i": number, "t": {"n": 3}} for number in range(99)], indent=1), "json"),
        (json.dumps([[1.5] * 99, {"t": {"n": 3}}]), "json"),
        ("".join(json.dumps({"t": {"n": number}}) + "\n" for number in range(99)), "json"),
        (LINES, "log"),
        ("[2026-11-29 12:00:00] INFO n=3\n" * 20, "log"),
        ("[53409] n=3\n" * 40, "log"),
        ("# HELP e:m M\n# TYPE e:m gauge\n" + 'e:m{a="b c"} 1.5e+06\n' * 40 + "e:n_total 3\n", "dump"),
        ("curl: noise\n" * 12 + "e:n_total 3\n" + "x\n" * 99, "dump"),
        ("x y z\n" * 50 + "e:n_total 3\nn=4\n", "log"),
        ("x\n" * 300, None),
    ],
)
def test_large_files_are_tried_as_what_they_begin_like(text: str, reader: str | None) -> None:
    assert len(text) > 200
    assert reader_of(text) == reader


def test_a_log_of_json_lines_is_not_held_at_once() -> None:
    readers = compile_readers(OF)
    assert not may_be_structured(LINES[:200], readers)
    assert may_be_structured('{"t": {"n": 3}}\n' * 9, readers)


def test_small_files_are_tried_as_everything() -> None:
    assert reader_of("x y z\n" * 20 + "e:n_total 3\nn=4\n") == "dump"


def test_only_logs_may_be_larger_than_what_is_held_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (stream, detect):
        monkeypatch.setattr(module, "MAX_BYTES", 1 << 12)
    assert reader_of("n=1\n" * 2000) == "log"
    assert reader_of(LINES * 10) == "log"
    document = json.dumps({"prompt": "some words " * 500, "t": {"n": 3}}, indent=0)
    large = json.dumps([{"word": "x"} for _ in range(500)], indent=0)
    assert min(len(document), len(large)) > 1 << 12
    for text, message in (
        (large, r"^f: the file is larger than 0 MiB, and only logs may be \(cut it"),
        (document, r"^f: the file is larger than 0 MiB"),
    ):
        with pytest.raises(EvidenceError, match=message):
            detect.detect(Stream("f", io.BytesIO(text.encode())), [OF])


def test_a_large_document_that_does_not_parse_is_said_at_its_place() -> None:
    text = json.dumps([{"t": {"n": 3}}] * 99, indent=1).replace("3", "", 50).replace("[", "[", 1)
    with pytest.raises(EvidenceError, match=r"^f:\d+:\d+: this is not JSON: Expecting value"):
        detect.detect(Stream("f", io.BytesIO(text.encode())), [OF])


def test_a_named_engine_that_does_not_know_a_large_file_is_told_who_does() -> None:
    mine = engine(log_reader({"n": {}}, FACTS, [r"never=(?P<n>\d+)"]), name="mine")
    with pytest.raises(EvidenceError, match=r"\(Toy recognises it as its log\)$"):
        detect.recognise(Stream("f", io.BytesIO(b"n=1\n" * 300)), mine, [OF])
