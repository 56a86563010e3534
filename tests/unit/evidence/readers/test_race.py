from __future__ import annotations

import io
from typing import Any

import pytest

from specrules.errors import EvidenceError
from specrules.evidence.readers import race, stream
from specrules.evidence.readers.detect import Recognised, detect, recognise
from specrules.evidence.readers.stream import Stream
from specrules.model.engine import Engine

from .support import engine, log_reader


def logs(name: str, *patterns: Any) -> Engine:
    return engine(log_reader({"n": {}}, [{"fact": "n", "value": "n"}], list(patterns)), name=name)


ONE = logs("one", r"^n=(?P<n>\d+)$", r"^one=(?P<n>\d+)$")
FORK = logs("fork", r"^n=(?P<n>\d+)$", r"^fork=(?P<n>\d+)$")
OTHER = logs("other", r"^m=(?P<n>\d+)$")


class Once(io.BytesIO):
    """A pipe: it can be read once and tells nothing else."""

    def seek(self, *_: object) -> int:
        raise OSError("a pipe cannot go back")

    tell = seekable = seek  # type: ignore[assignment]


def found(text: str, *engines: Engine) -> Recognised:
    return detect(Stream("f", Once(text.encode())), engines)


def value(seen: Recognised) -> object:
    return seen.runs[0].combined().values["n"]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Heads of 64 bytes or 10 lines, read 16 bytes at a time."""
    for module in (race, stream):
        monkeypatch.setattr(module, "HEAD", 64)
    monkeypatch.setattr(race, "HEAD_LINES", 10)
    monkeypatch.setattr(stream, "BLOCK", 16)


NOISE = "nothing is to be read in this line\n" * 40


def test_a_log_whose_evidence_begins_late_is_recognised() -> None:
    assert found(NOISE + "m=3\n" + NOISE, ONE, OTHER).reader.engine.id == "other"
    stated = recognise(Stream("f", Once((NOISE + "m=3\n").encode())), OTHER)
    assert (value(stated), stated.recognition.is_stated) == (3.0, True)
    with pytest.raises(EvidenceError, match="nothing in this file is known from any engine"):
        found(NOISE, ONE, OTHER)


def test_one_line_at_the_beginning_does_not_decide_against_many_later_ones() -> None:
    seen = found("m=1\n" + NOISE + "one=1\n" * 30, OTHER, ONE)
    assert (seen.reader.engine.id, value(seen)) == ("one", 30.0)
    assert [(item.engine_id, item.count) for item in seen.recognition.matches] == [("one", 22), ("other", 1)]
    assert seen.recognition.sureness == "certain"


def test_readers_that_know_little_of_the_head_stop_and_the_best_goes_on() -> None:
    text = "m=1\n" + "one=1\n" * 30 + "m=1\n" * 100
    seen = found(text, OTHER, ONE)
    # `other` was out of the race when its lines came.
    assert (seen.reader.engine.id, value(seen)) == ("one", 30.0)
    assert (seen.recognition.compared_lines, seen.recognition.matches[1].count) == (21, 1)
    assert seen.recognition.describe().startswith("certain, 20 lines of the first 21 recognised, 1 by other")


def test_rivals_that_know_as_much_run_to_the_end() -> None:
    seen = found("n=1\n" * 60 + "fork=1\n" + "n=1\n" * 60, ONE, FORK)
    assert (seen.reader.engine.id, value(seen)) == ("fork", 121.0)
    assert seen.recognition.compared_lines is None
    assert [(item.engine_id, item.count) for item in seen.recognition.matches] == [("fork", 121), ("one", 120)]
    assert seen.recognition.sureness == "likely"


@pytest.mark.parametrize(
    ("text", "engine_id", "sureness"),
    [
        ("one=1\n" * 3, "one", "certain"),
        ("one=1\n" * 2, "one", "likely"),
        ("n=1\n" * 5, "one", "ambiguous"),
        ("n=1\n" * 5 + "fork=1\n", "fork", "likely"),
        ("n=1\n" * 5 + "fork=1\n" * 2 + "one=1\n", "fork", "ambiguous"),
        ("n=1\n" * 5 + "fork=1\n" * 5, "fork", "certain"),
        ("n=1\n" * 6 + "fork=1\n" * 5, "fork", "likely"),
        ("m=1\n" + "fork=1\n" * 4, "fork", "ambiguous"),
        ("m=1\n" + "fork=1\n" * 12, "fork", "certain"),
    ],
)
def test_sureness(text: str, engine_id: str, sureness: str) -> None:
    seen = found(text, ONE, FORK, OTHER)
    assert (seen.reader.engine.id, seen.recognition.sureness) == (engine_id, sureness)
    stated = recognise(Stream("f", Once(text.encode())), FORK if engine_id == "fork" else ONE).recognition
    assert (stated.sureness, stated.is_stated, len(stated.matches)) == ("certain", True, 1)


def test_both_candidates_are_named() -> None:
    seen = found("n=1\n" * 5, ONE, FORK).recognition
    assert seen.describe() == "ambiguous, 5 lines recognised, 5 by fork"
    assert found("one=1\n", ONE, FORK).recognition.describe() == "likely, 1 line recognised, nothing by another engine"
    stated = recognise(Stream("f", Once(b"n=1\n" * 2)), ONE).recognition
    assert stated.describe() == "as stated, 2 lines recognised"


def test_two_readers_of_one_engine_are_no_rivals() -> None:
    readers = [
        {**log_reader({"n": {}}, [{"fact": "n", "value": "n"}], [r"^n=(?P<n>\d+)"]), "id": name} for name in ("a", "b")
    ]
    seen = found("n=1\n" * 4, engine(*readers, name="both"))
    assert (seen.reader.spec.id, seen.recognition.sureness) == ("a", "certain")
    assert [(item.engine_id, item.count) for item in seen.recognition.matches] == [("both", 4)]


def test_eras_are_those_of_the_shapes_that_were_found() -> None:
    of = logs(
        "old",
        {"pattern": r"^n=(?P<n>\d+)$", "era": "until May"},
        {"pattern": r"^m=(?P<n>\d+)$", "era": "June on"},
        {"pattern": r"^k=(?P<n>\d+)$", "since": "b7", "until": "b9"},
        {"pattern": r"^j=(?P<n>\d+)$"},
        {"pattern": r"^i=(?P<n>\d+)$", "era": "June on"},
    )
    assert found("n=1\nm=1\nj=1\nm=1\ni=1\n", of).recognition.eras == ("June on", "until May")
    assert found("k=1\nj=1\n", of).recognition.eras == ("since b7 until b9",)
