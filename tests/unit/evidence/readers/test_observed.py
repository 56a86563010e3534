from __future__ import annotations

import pytest

from specrules.evidence.readers import observed

from .support import engine, log_reader, read

FACTS = [{"fact": "x", "value": "x", "sampled": True}, {"fact": "y", "value": "x + y", "sampled": True}]
PATTERN = {"pattern": r"^x=(?P<x>\d+)(?: y=(?P<y>\d+))?", "per_request": True}
OF = engine(log_reader({"x": {}, "y": {}}, FACTS, [PATTERN]))


def test_of_very_many_requests_some_are_samples_and_all_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observed, "MAX_SAMPLES", 8)
    text = "".join(f"x={number}" + (f" y={number}" if number % 2 else "") + "\n" for number in range(100))
    reading = read(text, OF)
    # The same requests for both facts; of every sixteenth none has a y.
    assert reading.facts["x"].samples == (0.0, 16.0, 32.0, 48.0, 64.0, 80.0, 96.0)
    assert reading.facts["y"].samples == ()
    assert reading.facts.number("x") == 4950.0
    message = "file: of 100 requests one in 16 is kept as a sample; sums and means count all"
    assert [problem.render() for problem in reading.warnings] == [message]
    few = read("".join(f"x={number}\n" for number in range(8)), OF)
    assert (few.facts["x"].samples, few.warnings) == (tuple(map(float, range(8))), ())


def test_places_beyond_the_limit_are_counted_as_more(monkeypatch: pytest.MonkeyPatch) -> None:
    from specrules.evidence.readers import totals

    monkeypatch.setattr(totals, "MAX_PLACES", 5)
    assert read("x=1\n" * 6, OF).facts["x"].provenance.source == "file:1 (+4 or more lines)"
    assert read("x=1\n" * 5, OF).facts["x"].provenance.source == "file:1 (+4 more lines)"


def test_fields_with_too_many_values_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    from specrules.evidence.readers import totals

    monkeypatch.setattr(totals, "MAX_TEXTS", 2)
    of = engine(
        log_reader({"t": {"type": "text", "combine": "join"}}, [{"fact": "t", "value": "t"}], [r"^t=(?P<t>\w+)"])
    )
    reading = read("t=a\nt=b\nt=c\n", of)
    assert "t" not in reading.facts
    assert [problem.render() for problem in reading.warnings] == [
        "file: t has too many different values: it was not read"
    ]
