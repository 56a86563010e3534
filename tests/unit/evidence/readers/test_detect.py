from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from specrules.errors import EvidenceError
from specrules.evidence.readers import read_any, read_file, read_text
from specrules.evidence.source import source_from_bytes
from specrules.model.engine import Engine

from .support import PAIR, RUNS, engine, log_reader, read, shipped

FIELDS: dict[str, Any] = {"n": {}}
FACTS = [{"fact": "n", "value": "n"}]


def logs(name: str, *patterns: str, **more: Any) -> Engine:
    return engine(log_reader(FIELDS, FACTS, list(patterns), **more), name=name)


@pytest.mark.parametrize(
    ("path", "reader"),
    [
        (RUNS / "self4.log", "server-log"),
        (RUNS / "bad.log", "server-log"),
        (RUNS / "self4.metrics.txt", "metrics"),
        (RUNS / "self4.response.json", "completion"),
        (RUNS / "self4.slots.json", "slots"),
        (RUNS / "self4.props.json", "props"),
        (PAIR / "pair-k3.responses.json", "timings"),
        (PAIR / "llama-bench-SmolLM2-drop12.json", "bench"),
        (PAIR / "batched-bench-target.jsonl", "batched-bench"),
    ],
)
def test_every_kind_of_file_finds_its_reader_also_among_all_engines(path: Path, reader: str) -> None:
    engines = [shipped("halogen-flash-server"), shipped()]
    reading = read_any(str(path), engines)
    assert (reading.engine_id, reader) == ("llama.cpp", reading.reader_id)
    assert replace(reading, recognition=None) == replace(read_file(str(path), shipped()), recognition=None)


def test_a_response_of_halogen_is_not_taken_for_one_of_llama_cpp(tmp_path: Path) -> None:
    path = tmp_path / "response.json"
    path.write_text('{"timings": {"predicted_n": 63, "predicted_ms": 1313.3, "prompt_n": 27, "prompt_ms": 210.4}}')
    for engines in ([shipped(), shipped("halogen-flash-server")], [shipped("halogen-flash-server"), shipped()]):
        assert read_any(str(path), engines).engine_id == "halogen-flash-server"


def test_a_file_that_nothing_knows_names_the_engine_and_what_it_reads() -> None:
    with pytest.raises(EvidenceError) as caught:
        read("hello\n", engine(log_reader(FIELDS, FACTS, [r"n=(?P<n>\d)"], title="server log"), name="mine"))
    assert str(caught.value) == "file: nothing in this file is known from Mine, which reads: server log"
    with pytest.raises(EvidenceError, match="known from Mine, which reads: nothing"):
        read("hello\n", engine(name="mine"))


def test_another_engine_that_knows_the_file_is_named() -> None:
    others = [logs("one", r"m=(?P<n>\d)"), logs("two", r"^n=(?P<n>\d)", title="the log"), logs("mine", "n=(?P<n>.)")]
    with pytest.raises(EvidenceError) as caught:
        read_text(source_from_bytes("f", b"n=1\n"), logs("mine", r"z=(?P<n>\d)"), others=others)
    assert str(caught.value).endswith("(Two recognises it as its the log)")


def test_a_shape_of_another_version_is_named_as_such() -> None:
    of = engine(log_reader(FIELDS, FACTS, [{"pattern": r"n=(?P<n>\d)", "until": "b9"}], title="old log"))
    assert read_text(source_from_bytes("f", b"n=1\n"), of, version="b8").facts.number("n") == 1.0
    with pytest.raises(EvidenceError, match=r"\(its reader for old log knows it, but not for version b10\)"):
        read_text(source_from_bytes("f", b"n=1\n"), of, version="b10")


def test_the_log_reader_that_knows_most_lines_counts_and_the_first_of_equals(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("n=1\nn=2\nm=3\n")
    few, many, same = logs("few", r"m=(?P<n>\d)"), logs("many", r"n=(?P<n>\d)"), logs("same", r"^n=(?P<n>\d)")
    assert read_any(str(path), [few, many, same]).engine_id == "many"
    assert read_any(str(path), [same, many, few]).engine_id == "same"
    path.write_text("x\n")
    with pytest.raises(EvidenceError, match=r"known from any engine \(Few\)"):
        read_any(str(path), [few])
    with pytest.raises(EvidenceError, match="there is none"):
        read_any(str(path), [])


def test_json_that_does_not_parse_is_said_where_it_was_meant(tmp_path: Path) -> None:
    cut = (RUNS / "self4.slots.json").read_bytes()[:200]
    with pytest.raises(EvidenceError, match=r"^f:1:\d+: this is not JSON: "):
        read_text(source_from_bytes("f", cut), shipped())
    # One endless line is not what is wrong with a document that was cut.
    with pytest.raises(EvidenceError, match=r"^f:1:\d+: this is not JSON: "):
        read_text(source_from_bytes("f", b'{"content": "' + b"x" * 70000), shipped())
    path = tmp_path / "answer.json"
    path.write_text("oops\n")
    with pytest.raises(EvidenceError, match=r"answer.json:1:1: this is not JSON: Expecting value"):
        read_any(str(path), [shipped()])
    with pytest.raises(EvidenceError, match="nothing in this file is known"):
        read("[2026-11-29 12:00:00] INFO hello\n", shipped())
