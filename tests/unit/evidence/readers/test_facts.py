from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from specrules.evidence.readers.reading import read_text
from specrules.evidence.source import source_from_bytes

from .support import engine, log_reader, read, values

FIELDS: dict[str, Any] = {
    "a": {},
    "b": {},
    "seen": {"type": "flag", "combine": "any"},
    "name": {"type": "text", "combine": "last"},
}
PATTERNS = [
    {"pattern": r"^a=(?P<a>\S+)(?: b=(?P<b>\S+))?", "per_request": True},
    {"pattern": "^seen", "sets": {"seen": True}},
    {"pattern": r"^name=(?P<name>.*)"},
]


def toy(*facts: dict[str, Any], **more: Any) -> Any:
    return engine(log_reader(FIELDS, list(facts), PATTERNS, **more))


def test_the_first_rule_that_is_settled_wins() -> None:
    of = toy(
        {"fact": "x", "value": "a / b", "when": "a > 1"},
        {"fact": "x", "value": "b * 100", "when": "seen"},
        {"fact": "x", "value": "a"},
    )
    assert values(read("a=6 b=3\n", of)) == {"x": 2.0}
    assert values(read("a=1 b=3\nseen\n", of)) == {"x": 300.0}
    # A division by zero and a condition that is unknown settle nothing.
    assert values(read("a=6 b=0\n", of)) == {"x": 6.0}
    assert values(read("a=6\n", of)) == {"x": 6.0}
    assert values(read("name=y\n", of)) == {}


def test_a_fact_knows_where_it_comes_from_and_how_it_was_computed() -> None:
    of = toy({"fact": "x", "value": "a * 1000 / b", "unit": "tok/s", "sampled": True})
    moment = datetime(2026, 11, 29, tzinfo=UTC)
    reading = read_text(source_from_bytes("runs/a.log", b"noise\na=3 b=60\na=9 b=60\n"), of, observed_at=moment)
    fact = reading.facts["x"]
    assert (fact.value, fact.unit, fact.samples) == (100.0, "tok/s", (50.0, 150.0))
    assert fact.provenance.model_dump() == {
        "kind": "from-file",
        "source": "runs/a.log:2 (+1 more line)",
        "observed_at": moment,
    }
    assert (fact.formula, fact.substituted) == ("a * 1000 / b", "12 * 1000 / 120")


def test_a_fact_made_of_absence_points_to_its_condition_or_to_the_file() -> None:
    of = toy({"fact": "x", "value": "not seen", "when": "a > 0"}, {"fact": "y", "value": "not seen"})
    reading = read("name=z\na=2\n", of)
    assert reading.facts["x"].provenance.source == "file:2"
    assert reading.facts["y"].provenance.source == "file"
    assert values(reading) == {"x": True, "y": True}


def test_only_sampled_rules_give_samples_and_only_where_they_are_settled() -> None:
    of = toy({"fact": "x", "value": "a / b", "sampled": True}, {"fact": "y", "value": "a + b"})
    reading = read("a=6 b=3\na=1 b=0\na=4\n", of)
    assert reading.facts["x"].samples == (2.0,)
    assert reading.facts["y"].samples == ()


def test_texts_and_flags_are_facts_too() -> None:
    reading = read("seen\nname=draft-simple\n", toy({"fact": "n", "value": "name"}, {"fact": "s", "value": "seen"}))
    assert values(reading) == {"n": "draft-simple", "s": True}


def test_failed_checks_are_contradictions_with_values_and_place() -> None:
    checks = [
        {"id": "order", "require": "a <= b", "message": "{a} of {b} with {name} and {unknown}, {seen}"},
        {"id": "open", "require": "a <= 1 or name == 'x'", "message": "never"},
    ]
    reading = read("noise\na=1234567 b=2.5\n", toy({"fact": "a", "value": "a"}, checks=checks))
    assert [problem.render() for problem in reading.contradictions] == [
        "file:2: 1.23457e+06 of 2.5 with ? and ?, false"
    ]
    assert read("a=1 b=2\n", toy({"fact": "a", "value": "a"}, checks=checks)).contradictions == ()
