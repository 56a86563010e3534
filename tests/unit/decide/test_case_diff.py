from __future__ import annotations

from specrules.decide import case_diff, run_cases
from specrules.model.rule import RuleCaseFile

from .shipped import compiled, rule

RULES = compiled(
    rule(
        let={"twice": "rate * 2"},
        require="twice > limit",
        message="Twice {{ rate }} is held against {{ limit }} of the drafter, which is what a person wants to read.",
    )
)


def diff(given, expect, rule_id="r"):
    case = {"name": "n", "rule": rule_id, "given": given, "expect": expect}
    document = RuleCaseFile.model_validate({"schema": 1, "now": "2026-10-01", "cases": [case]})
    return [line.removeprefix("    ") for line in case_diff(run_cases(document, RULES)[0])]


def test_what_differs_is_marked_and_what_agrees_is_not():
    told = "Twice 2 is held against 5 of the drafter, which is what a person wants to read."
    assert diff({"rate": 2.0, "limit": 5.0}, {"outcome": "pass", "message": told}) == [
        "r, asked with",
        "    rate: 2",
        "    limit: 5",
        "- outcome pass",
        "+ outcome fail",
        "  message Twice 2 is held against 5 of the drafter, which is what a person wants to read.",
        "  decided twice > limit where twice = rate * 2",
        "  that is 4 > 5 where twice = 2 * 2",
    ]


def test_words_that_differ_stand_in_brackets_and_long_texts_are_wrapped():
    told = "Twice 3 is held against 5 of the head, which is what a person wants to read, and then there is more of it."
    lines = diff({"rate": 2.0, "limit": 5.0}, {"outcome": "fail", "message": told})
    assert lines[3] == "  outcome fail"
    assert lines[4:7] == [
        "- message Twice [3] is held against 5 of the [head,] which is what a person wants to [read, and",
        "-         then there is more of it.]",
        "+ message Twice [2] is held against 5 of the [drafter,] which is what a person wants to [read.]",
    ]


def test_missing_names_in_order_and_unknown_values():
    lines = diff({"rate": None}, {"outcome": "unknown", "missing": []})
    assert lines == [
        "r, asked with",
        "    rate: unknown",
        "  outcome unknown",
        "- missing nothing",
        "+ missing limit, rate",
        "  decided twice > limit where twice = rate * 2",
        "  that is ? > ? where twice = ? * 2",
    ]


def test_nothing_given():
    assert diff({}, {"outcome": "fail"})[:2] == ["r, asked with", "    nothing"]


def test_a_case_that_holds_or_could_not_be_asked_has_no_diff():
    assert diff({"rate": 2.0, "limit": 5.0}, {"outcome": "fail"}) == []
    assert diff({}, {"outcome": "fail"}, rule_id="other") == []
