"""The cases beside the shipped rules, run through the catalogue as `specrules rules test` runs them."""

from __future__ import annotations

from pathlib import Path

import pytest

from specrules.catalog.catalogue import Catalog
from specrules.pipeline.deployment_rules import every_rule
from specrules.pipeline.rule_cases import run_all

CATALOG = Catalog.load(environ={}, cwd=Path(__file__).parent)
RULES = every_rule(CATALOG)
RESULTS, GAPS = run_all(CATALOG, RULES)


@pytest.mark.parametrize("result", RESULTS, ids=[f"{one.case.rule}-{one.case.name}" for one in RESULTS])
def test_case(result):
    assert [problem.render() for problem in result.problems] == []


def test_every_rule_shows_every_outcome():
    assert GAPS == []
    skipped = {one.case.rule for one in RESULTS if one.case.expect.outcome == "not-applicable"}
    assert skipped == {rule.rule.id for rule in RULES if rule.applies is not None}


def test_shipped_cases_assert_message_and_missing_names():
    for one in RESULTS:
        assert one.case.expect.message is not None
        assert (one.case.expect.missing is not None) == (one.case.expect.outcome == "unknown")


def test_cases_stand_beside_their_rules_under_unique_names():
    beside = {file.document.path: {case.rule for case in file.model.cases} for file in CATALOG.rule_cases}
    for rule in RULES:
        assert rule.rule.id in beside[rule.where.path.replace(".yaml", ".test.yaml")]
    names = [(one.case.rule, one.case.name) for one in RESULTS]
    assert len(set(names)) == len(names)
