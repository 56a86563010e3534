from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specrules.evidence.readers.reading import Reading
from specrules.evidence.readers.recognition import Matches, Recognition
from specrules.evidence.readers.reconcile import agree, reconcile
from specrules.model.fact import Fact, Facts, FactValue
from specrules.model.quantity import Provenance


def fact(name: str, value: FactValue, source: str = "", **more: object) -> Fact:
    return Fact(name=name, value=value, provenance=Provenance(source=source), **more)  # type: ignore[arg-type]


STATED = Recognition("certain", True, "lines", (Matches("e", 1),))


def reading(source: str, **values: FactValue | Fact) -> Reading:
    facts = {
        name: value if isinstance(value, Fact) else fact(name, value, source)
        for name, value in ((key.replace("__", "."), value) for key, value in values.items())
    }
    return Reading(source, "e", "r", "t", Facts(facts), STATED)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (100.0, 101.0, True),
        (100.0, 101.1, False),
        (0.0, 0.0, True),
        (0.0, 1.0, False),
        (4.85, 63 / 13, True),
        (-1.0, 1.0, False),
        (True, True, True),
        (True, False, False),
        (True, 1.0, False),
        ("a", "a", True),
        ("a", "b", False),
        ("1", 1.0, False),
        ((1.0, 0.923), (1.0, 12 / 13), True),
        ((1.0, 0.923), (1.0, 0.9245), False),
        ((1.0, 0.5), (1.0, 0.5, 0.0), True),
        ((1.0, 0.5), (1.0, 0.5, 0.01), False),
        ((0.5,), 0.5, False),
    ],
)
def test_what_agrees(one: FactValue, other: FactValue, same: bool) -> None:
    assert agree(fact("x", one), fact("x", other)) is same
    assert agree(fact("x", other), fact("x", one)) is same


def test_a_number_inside_the_interval_that_was_stated_agrees() -> None:
    stated = fact("x", 25.0, low=23.0, high=27.0)
    assert agree(stated, fact("x", 26.9))
    assert agree(fact("x", 23.0), stated)
    assert not agree(stated, fact("x", 27.5))


def test_what_the_case_states_is_used_then_the_files_in_order() -> None:
    explicit = {"a.x": fact("a.x", 1.0, "case:3")}
    facts, disagreements = reconcile(
        explicit, [reading("one", a__x=2.0, a__y=3.0), reading("two", a__y=3.02, a__z="m"), reading("three", a__y=9.0)]
    )
    assert {name: item.value for name, item in facts.items()} == {"a.x": 1.0, "a.y": 3.0, "a.z": "m"}
    assert facts["a.y"].provenance.source == "one"
    assert [item.describe() for item in disagreements] == [
        "a.x is 1 according to case:3, but 2 according to one",
        "a.y is 3 according to one, but 9 according to three",
    ]


def test_of_files_that_agree_the_one_with_samples_is_used_but_never_over_the_case() -> None:
    sampled = fact("x", 3.01, "log", samples=(3.0, 3.02))
    facts, disagreements = reconcile({}, [reading("metrics", x=3.0), reading("log", x=sampled), reading("b", x=3.0)])
    assert (facts["x"], disagreements) == (sampled, ())
    stated = fact("x", 3.0, "case")
    assert reconcile({"x": stated}, [reading("log", x=sampled)])[0]["x"] == stated


def test_mean_contexts_and_concurrencies_of_two_files_are_not_held_against_each_other() -> None:
    first = reading("bench.jsonl", off__context_tokens=88.0, off__mean_concurrency=14.2, off__concurrency=16.0)
    second = reading("bench.json", off__context_tokens=24.0, off__mean_concurrency=3.0, off__concurrency=4.0)
    facts, disagreements = reconcile({}, [first, second])
    assert facts.number("off.context_tokens") == 88.0
    assert [item.name for item in disagreements] == ["off.concurrency"]
    # What the engine was started with is no mean.
    started = [reading(name, engine__context_tokens=size) for name, size in (("a", 1024.0), ("b", 2048.0))]
    assert [item.name for item in reconcile({}, started)[1]] == ["engine.context_tokens"]


def test_rates_of_different_kinds_are_not_held_against_each_other() -> None:
    explicit = {name: fact(name, value) for name, value in (("a.rate_tok_s", 25.0), ("a.rate_kind", "client"))}
    facts, disagreements = reconcile(explicit, [reading("log", a__rate_tok_s=41.0, a__rate_kind="decode", a__n=1.0)])
    assert disagreements == ()
    assert (facts.value("a.rate_tok_s"), facts.value("a.rate_kind"), facts.value("a.n")) == (25.0, "client", 1.0)


def test_a_kind_is_not_put_on_a_rate_that_is_not_its_own() -> None:
    explicit = {"a.rate_tok_s": fact("a.rate_tok_s", 25.0, "case")}
    log = reading("log", a__rate_tok_s=41.0, a__rate_kind="decode")
    facts, disagreements = reconcile(explicit, [log])
    assert (facts.value("a.rate_kind"), [item.name for item in disagreements]) == (None, ["a.rate_tok_s"])
    same, none = reconcile(explicit, [reading("log", a__rate_tok_s=25.1, a__rate_kind="decode")])
    assert (same.value("a.rate_kind"), none) == ("decode", ())


@given(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9), st.lists(st.floats(0, 1), max_size=4))
def test_agreement_is_reflexive_and_symmetric(one: float, other: float, vector: list[float]) -> None:
    assert agree(fact("x", one), fact("x", one))
    assert agree(fact("x", one), fact("x", other)) == agree(fact("x", other), fact("x", one))
    assert agree(fact("x", tuple(vector)), fact("x", (*vector, 0.0)))
