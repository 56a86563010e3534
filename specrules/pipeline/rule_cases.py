"""The cases beside rules, run against the rules of a catalogue. The same harness serves the command and the tests."""

from __future__ import annotations

from specrules.catalog.catalogue import Catalog
from specrules.catalog.symbols import policy_values
from specrules.decide import CaseResult, RuleSet, coverage, run_cases
from specrules.errors import Problem


def run_all(catalog: Catalog, rules: RuleSet) -> tuple[tuple[CaseResult, ...], list[Problem]]:
    """Run every case file of the catalogue; also return a problem for each rule that lacks a case.

    LoadError with every problem where a case file does not load.
    """
    results: list[CaseResult] = []
    for file in catalog.rule_cases:
        results += run_cases(file.model, rules, values=dict(policy_values(catalog.policy)), locate=file.locate)
    return tuple(results), coverage(rules, results)
