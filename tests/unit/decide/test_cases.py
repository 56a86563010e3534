from __future__ import annotations

import pytest

from specrules.decide import coverage, run_cases
from specrules.model.rule import RuleCaseFile

from .shipped import compiled, locator, rule

RULES = compiled(rule(require="rate > limit", message="{{ rate }} of {{ limit }}"))


def run(given, expect, rule_id="r", rules=RULES, **options):
    case = {"name": "n", "rule": rule_id, "given": given, "expect": expect}
    document = RuleCaseFile.model_validate({"schema": 1, "now": "2026-10-01", "cases": [case]})
    (result,) = run_cases(document, rules, locate=locator("c"), **options)
    return result


def messages(result):
    return [(str(one.where).removeprefix("c:cases.0."), one.message, one.hint) for one in result.problems]


def test_a_case_that_holds():
    expect = {"outcome": "unknown", "message": "2 of ?", "missing": ["limit"]}
    result = run({"rate": 2, "limit": None}, expect)
    assert result.ok
    assert result.gate.missing == ("limit",)


def test_everything_that_differs_is_told():
    result = run({"rate": 2}, {"outcome": "pass", "message": "2 of 3", "missing": ["rate"]})
    assert not result.ok
    assert messages(result) == [
        ("expect.outcome:7", "case 'n': the outcome is 'unknown' and not 'pass': 2 > ?", ""),
        ("expect.message:7", "case 'n': the message is '2 of ?' and not '2 of 3'", ""),
        ("expect.missing:7", "case 'n': missing is ['limit'] and not ['rate']", ""),
    ]


def test_what_is_not_expected_is_not_compared():
    assert run({"rate": 2, "limit": 3}, {"outcome": "fail"}).ok


def test_missing_may_be_asserted_to_be_empty():
    assert not run({"rate": 2}, {"outcome": "unknown", "missing": []}).ok
    assert run({"rate": 2, "limit": 1}, {"outcome": "pass", "missing": []}).ok


def test_values_hold_in_all_cases_and_a_case_may_override_them():
    assert run({"rate": 2}, {"outcome": "pass"}, values={"limit": 1}).ok
    assert run({"rate": 2, "limit": 3}, {"outcome": "fail"}, values={"limit": 1}).ok


@pytest.mark.parametrize(
    ("given", "place", "message", "hint"),
    [
        ({"rat": 1}, "given.rat:7", "unknown name 'rat'", "did you mean 'rate'?"),
        ({"rate": "1"}, "given.rate:7", "rate is declared as a number, not str", ""),
        ({"rate": True}, "given.rate:7", "rate is declared as a number, not bool", ""),
        ({"drafter.fits": 1}, "given.drafter.fits:7", "drafter.fits is declared as true or false, not int", ""),
        ({"engine.methods": "x"}, "given.engine.methods:7", "engine.methods is declared as a list", ""),
        ({"rate": float("inf")}, "given.rate:7", "rate is inf, not a finite number", ""),
    ],
)
def test_what_is_given_has_to_be_declared(given, place, message, hint):
    result = run(given, {"outcome": "pass"})
    assert result.gate is None
    ((where, found, hinted),) = messages(result)
    assert (where, hinted) == (place, hint)
    assert found.startswith(f"case 'n': {message}")


def test_a_rule_that_does_not_exist():
    result = run({"nope": 1}, {"outcome": "pass"}, rule_id="rr")
    assert [one[1] for one in messages(result)] == ["case 'n': there is no rule 'rr'", "case 'n': unknown name 'nope'"]
    assert messages(result)[0][::2] == ("rule:7", "did you mean 'r'?")


def test_coverage_wants_each_outcome_with_its_message():
    shown = run({"rate": 2, "limit": 1}, {"outcome": "pass", "message": "2 of 1"})
    silent = run({"rate": 2, "limit": 3}, {"outcome": "fail"})
    found = coverage(RULES, [shown, silent])
    assert [one.message for one in found] == [
        "rule 'r' has no case with the outcome 'fail' and its message",
        "rule 'r' has no case with the outcome 'unknown' and its message",
    ]
    assert str(found[0].where) == "f:rules.0.id:7"
