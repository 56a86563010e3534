from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specrules.decide import evaluate
from specrules.expressions import Type, Unknown

from .shipped import compiled, policy, rule, shipped_rules


def judge(values, **fields):
    (gate,) = evaluate(compiled(rule(**fields)), values)
    return gate


def test_a_gate_carries_what_the_rule_says():
    gate = judge({"rate": 2}, refs=["https://example.org/x"], severity="warn", title="Fast")
    assert gate.model_dump() == {
        "id": "r",
        "part": "a",
        "severity": "warn",
        "outcome": "pass",
        "title": "Fast",
        "message": "Rate 2.",
        "expression": "rate > 1",
        "substituted": "2 > 1",
        "fix": "f",
        "missing": (),
        "refs": ("https://example.org/x",),
    }


def test_the_four_outcomes():
    applies = "drafter.fits"
    assert judge({"rate": 2, applies: True}, applies=applies).outcome == "pass"
    assert judge({"rate": 1, applies: True}, applies=applies).outcome == "fail"
    assert judge({applies: True}, applies=applies).outcome == "unknown"
    assert judge({"rate": 1, applies: False}, applies=applies).outcome == "not-applicable"


def test_an_unknown_applies_is_unknown_whatever_is_required():
    gate = judge({"rate": 2}, applies="drafter.fits")
    assert (gate.outcome, gate.missing) == ("unknown", ("drafter.fits",))


def test_the_expression_that_decided_is_shown():
    skipped = judge({"rate": 2, "drafter.fits": False}, applies="drafter.fits or rate > 5")
    assert (skipped.expression, skipped.substituted) == ("drafter.fits or rate > 5", "false or 2 > 5")
    required = judge({"drafter.fits": True}, applies="drafter.fits")
    assert (required.expression, required.substituted) == ("rate > 1", "? > 1")


def test_names_of_let_are_spelled_out_where_they_are_read():
    let = {"unused": "limit", "base": "limit * 2", "wanted": "base + 1"}
    gate = judge({"rate": 6, "limit": 3}, let=let, require="rate > wanted", message="{{ wanted }}")
    assert gate.expression == "rate > wanted where base = limit * 2, wanted = base + 1"
    assert gate.substituted == "6 > 7 where base = 3 * 2, wanted = 6 + 1"
    assert (gate.outcome, gate.message) == ("fail", "7")


def test_missing_names_are_inputs_and_sorted():
    gate = judge({}, let={"wanted": "limit + policy.margin"}, require="rate > wanted")
    assert gate.missing == ("limit", "policy.margin", "rate")


def test_applies_may_read_let():
    assert judge({"limit": 2}, let={"wanted": "limit > 3"}, applies="wanted").outcome == "not-applicable"


@pytest.mark.parametrize(
    ("value", "missing"),
    [(None, ("rate",)), (Unknown(), ("rate",)), (Unknown(frozenset({"a.deeper.input"})), ("a.deeper.input",))],
)
def test_every_way_to_be_unknown(value, missing):
    gate = judge({"rate": value})
    assert gate.outcome == "unknown"
    assert gate.missing == missing
    assert gate.message == "Rate ?."


def test_an_unknown_that_nothing_settles_says_why():
    gate = judge({"rate": 1, "limit": 0}, require="rate / limit > 1")
    assert (gate.outcome, gate.missing) == ("unknown", ())
    assert gate.message == "Rate 1. (division by zero in `rate / limit`)"


@pytest.mark.parametrize("value", ["2", True, float("nan"), 10**400])
def test_a_value_that_does_not_fit_is_an_error_and_not_an_outcome(value):
    gate = judge({"rate": value})
    assert gate.outcome == "error"
    assert gate.message.startswith("A title: could not be judged: rate is ")
    assert gate.expression == "rate > 1"


@pytest.mark.parametrize(("rate", "outcome"), [(2, "pass"), (1, "fail")])
def test_a_message_that_fails_gives_way_to_the_title_and_changes_nothing(rate, outcome):
    # Sorting out a name of the wrong type is not the business of a rule that only prints it.
    broken = "{% if limit is known and limit > 3 %}much{% endif %}"
    gate = judge({"rate": rate, "limit": "many"}, message=broken)
    assert (gate.outcome, gate.message) == (outcome, "A title")


def test_an_empty_message_is_the_title():
    assert judge({"rate": 2}, message="{% if limit is known %}x{% endif %}").message == "A title"


def test_one_bad_value_does_not_touch_other_rules():
    rules = compiled(rule(id="bad", require="limit > 1", message="m"), rule(id="good"))
    assert [gate.outcome for gate in evaluate(rules, {"rate": 2, "limit": "x"})] == ["error", "pass"]


VALUES = {
    Type.NUMBER: st.sampled_from([-3.0, 0.0, 0.5, 1.0, 1.2, 4.0, 9.0, 120.0]),
    Type.BOOL: st.booleans(),
    Type.STRING: st.sampled_from(["client", "decode", "ratio", "x"]),
    Type.STRINGS: st.just(("draft-mtp",)),
}
BLOCKING = [one for one in shipped_rules() if one.rule.severity == "block"]


@given(st.data())
def test_a_decided_blocking_gate_stays_when_unknowns_are_filled_in(data):
    one = data.draw(st.sampled_from(BLOCKING))
    names = sorted(frozenset().union(*(part.names for part in (one.applies, one.require, *one.lets.values()) if part)))
    kinds = shipped_rules().symbols
    inputs = [name for name in names if name in kinds and not name.startswith("policy.")]
    full = {name: data.draw(VALUES[kinds[name]], label=name) for name in inputs}
    hidden = data.draw(st.sets(st.sampled_from(inputs)))
    thresholds = {f"policy.{name}": value for name, value in policy().thresholds.items()}
    rules = type(shipped_rules())([one], kinds)
    (before,) = evaluate(rules, thresholds | {name: value for name, value in full.items() if name not in hidden})
    (after,) = evaluate(rules, thresholds | full)
    assert after.outcome != "error"
    assert set(before.missing) <= hidden
    assert before.outcome in {after.outcome, "unknown"}
    assert after.outcome != "unknown"
