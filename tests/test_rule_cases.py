"""The cases beside the shipped rules."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from specrules.decide import compile_rules, coverage, policy_values, run_cases, symbols
from specrules.errors import Location
from specrules.model.rule import InputFile, PolicyFile, RuleCaseFile, RuleFile

RULES = Path(__file__).parent.parent / "rules"
CASE_FILES = sorted(RULES.glob("*.test.yaml"))


def _read(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def _locate(path):
    return lambda route, column: Location(f"{path.name}: {'.'.join(map(str, route))}", 1, column)


POLICY = PolicyFile.model_validate(_read(RULES / "policy.yaml"))
SYMBOLS = symbols(InputFile.model_validate(_read(RULES / "inputs.yaml")).inputs, POLICY)
RULE_FILES = [path.with_name(path.name.replace(".test.yaml", ".yaml")) for path in CASE_FILES]
RULE_SET = compile_rules([(RuleFile.model_validate(_read(path)), _locate(path)) for path in RULE_FILES], SYMBOLS)
RESULTS = {
    path: run_cases(
        RuleCaseFile.model_validate(_read(path)), RULE_SET, values=policy_values(POLICY), locate=_locate(path)
    )
    for path in CASE_FILES
}
ALL = [(path, result) for path, results in RESULTS.items() for result in results]


@pytest.mark.parametrize(("path", "result"), ALL, ids=[f"{one.case.rule}-{one.case.name}" for _, one in ALL])
def test_case(path, result):
    assert [problem.render() for problem in result.problems] == []


def test_every_rule_shows_every_outcome():
    results = [result for _, result in ALL]
    assert coverage(RULE_SET, results) == []
    skipped = {one.case.rule for one in results if one.case.expect.outcome == "not-applicable"}
    assert skipped == {rule.rule.id for rule in RULE_SET if rule.applies is not None}


def test_shipped_cases_assert_message_and_missing_names():
    for _, one in ALL:
        assert one.case.expect.message is not None
        assert (one.case.expect.missing is not None) == (one.case.expect.outcome == "unknown")


def test_cases_stand_beside_their_rules_under_unique_names():
    for path, rule_path in zip(CASE_FILES, RULE_FILES, strict=True):
        beside = {rule["id"] for rule in _read(rule_path)["rules"]}
        assert {one.case.rule for one in RESULTS[path]} == beside
    names = [(one.case.rule, one.case.name) for _, one in ALL]
    assert len(set(names)) == len(names)
