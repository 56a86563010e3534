from __future__ import annotations

import pytest

from specrules.decide import compile_table
from specrules.errors import LoadError
from specrules.model.rule import VerdictTable

from .shipped import locator, policy, shipped_symbols, shipped_table

GOOD = dict.fromkeys("abcde", "pass")
POLICY = {f"policy.{name}": value for name, value in policy().thresholds.items()}


def classify(low=None, high=None):
    return shipped_table().speedup_class({**POLICY, "candidate.speedup_low": low, "candidate.speedup_high": high})


@pytest.mark.parametrize(
    ("low", "high", "speedup"),
    [
        (1.06, 1.4, "win"),
        (1.05, 1.4, "wide"),
        (1.06, None, "win"),
        (0.5, 0.99, "loss"),
        (None, 0.99, "loss"),
        (0.95, 1.0, "marginal"),
        (0.91, 1.09, "marginal"),
        (0.9, 1.09, "wide"),
        (0.91, 1.1, "wide"),
        (0.5, 2.0, "wide"),
        (None, None, "unknown"),
        (None, 1.2, "unknown"),
        (0.95, None, "unknown"),
        (0.5, None, "unknown"),
    ],
)
def test_classes_of_the_shipped_table(low, high, speedup):
    assert classify(low, high)[0] == speedup


def test_lines_show_each_condition_up_to_the_one_that_decided():
    speedup, lines = classify(0.6, 0.955)
    assert speedup == "loss"
    assert [(line.name, line.substituted, line.result) for line in lines] == [
        ("win", "0.6 > 1 + 0.05", False),
        ("loss", "0.955 < 1", True),
    ]
    assert lines[1].expression == lines[1].symbols == "candidate.speedup_high < 1"
    assert lines[1].title == "even the high end of the speedup stays below what runs today"


def test_lines_of_an_unknown_class():
    _, lines = classify(None, 1.2)
    assert [(line.substituted, line.result) for line in lines] == [
        ("? > 1 + 0.05", None),
        ("1.2 < 1", False),
        ("? > 1 - 2 * 0.05 and 1.2 < 1 + 2 * 0.05", False),
    ]


def test_a_flag_survives_the_json_of_a_line():
    _, lines = classify(1.2, 1.4)
    assert lines[0].model_dump(mode="json")["result"] is True
    assert type(lines[0]).model_validate_json(lines[0].model_dump_json()) == lines[0]


@pytest.mark.parametrize(
    ("parts", "speedup", "verdict"),
    [
        ({}, "win", "deploy"),
        (dict.fromkeys("abcde", "not-applicable"), "win", "deploy"),
        ({}, "loss", "keep-incumbent"),
        ({}, "marginal", "marginal"),
        ({}, "wide", "measure-first"),
        ({}, "unknown", "measure-first"),
        ({"d": "unknown"}, "win", "measure-first"),
        ({"d": "unknown"}, "loss", "keep-incumbent"),
        ({"b": "error"}, "win", "measure-first"),
        ({"b": "error"}, "loss", "measure-first"),
        ({"a": "fail"}, "loss", "blocked"),
        ({"b": "fail"}, "win", "blocked"),
        ({"c": "fail", "e": "fail"}, "win", "blocked"),
        ({"d": "fail", "e": "error"}, "win", "blocked"),
        ({"e": "fail"}, "win", "invalid-evidence"),
        ({"e": "fail", "a": "error"}, "loss", "invalid-evidence"),
    ],
)
def test_verdicts_of_the_shipped_table(parts, speedup, verdict):
    assert shipped_table().verdict({**GOOD, **parts}, speedup).verdict == verdict


def test_the_reason_names_the_part():
    row = shipped_table().verdict({**GOOD, "d": "fail"}, "win")
    assert row.because == "the drafter cannot be attached as the case wants it"


@pytest.mark.parametrize(
    ("parts", "speedup", "verdict"),
    [
        ({"a": "fail", "d": "fail"}, "win", "deploy"),
        ({"d": "unknown", "e": "unknown"}, "win", "deploy"),
        ({"d": "fail", "e": "error"}, "loss", "keep-incumbent"),
        ({"d": "fail", "e": "fail"}, "win", "invalid-evidence"),
        ({"c": "error"}, "marginal", "marginal"),
    ],
)
def test_economics_forgets_gates_but_not_bad_evidence(parts, speedup, verdict):
    assert shipped_table().economics({**GOOD, **parts}, speedup).verdict == verdict


def small(classes, rows):
    document = {"schema": 1, "id": "small", "classes": classes, "rows": rows}
    return compile_table(VerdictTable.model_validate(document), shipped_symbols(), locator("t"))


def test_every_problem_of_the_conditions_comes_at_once():
    rows = [{"verdict": "marginal", "because": "b"}]
    classes = [
        {"speedup": "win", "when": "candidate.speedup_lo > 1", "doc": "d"},
        {"speedup": "wide", "when": "candidate.speedup_low + 1", "doc": "d"},
        {"speedup": "loss", "when": "known(candidate.speedup_low)", "doc": "d"},
    ]
    with pytest.raises(LoadError) as caught:
        small(classes, rows)
    assert [str(one.where) for one in caught.value.problems] == [
        "t:classes.0.when:7:1",
        "t:classes.1.speedup:7",
        "t:classes.1.when:7:1",
        "t:classes.2.when:7:1",
    ]


def test_a_state_without_a_row_is_said_so():
    table = small([], [{"verdict": "blocked", "because": "b", "a": ["fail"]}])
    assert table.speedup_class({}) == ("wide", ())
    assert table.verdict({**GOOD, "a": "fail"}, "wide").verdict == "blocked"
    with pytest.raises(LookupError, match="'small' hits"):
        table.verdict(GOOD, "wide")


def test_policy_documents_every_threshold():
    assert policy().docs.keys() == policy().thresholds.keys()
