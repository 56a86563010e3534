"""The harness for rule cases: `X.test.yaml` beside `X.yaml` says what each rule must answer, in which words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from specrules.catalog.places import Locate, Route
from specrules.decide.gates import evaluate_rule
from specrules.decide.rules import RuleSet
from specrules.errors import Location, Problem, did_you_mean
from specrules.expressions import Type
from specrules.expressions.types import to_cell
from specrules.model.rule import RuleCase, RuleCaseExpectation, RuleCaseFile, RuleOutcome
from specrules.model.verdict import Gate

NEEDED: tuple[RuleOutcome, ...] = ("pass", "fail", "unknown")
"""The outcomes that the cases of every rule have to show."""


_LONGEST_QUOTED = 80
"""Longer messages are shown in the diff only."""


@dataclass(frozen=True)
class CaseResult:
    """One case that was run: what the rule said, None where it could not be asked, and what is wrong about it."""

    case: RuleCase
    gate: Gate | None
    problems: tuple[Problem, ...]

    @property
    def ok(self) -> bool:
        """Whether the rule said what the case expects."""
        return not self.problems


def run_cases(
    case_file: RuleCaseFile,
    rules: RuleSet,
    *,
    values: Mapping[str, object] | None = None,
    locate: Locate | None = None,
) -> tuple[CaseResult, ...]:
    """Run every case of a file. `values` is what holds in all of them, such as the thresholds of the policy.

    What a case gives is held against the declared names: a name that does not exist and a value of the wrong type are
    problems of the case, as is a rule that does not exist. null under `given` is an unknown, as is what is not given.
    """
    return tuple(_Runner(rules, values or {}, index, locate).run(case) for index, case in enumerate(case_file.cases))


def coverage(rules: RuleSet, results: Iterable[CaseResult]) -> list[Problem]:
    """Return a problem for every rule and outcome that no case shows: each rule passes, fails and stays unknown once.

    Only cases that assert the message count.
    """
    shown = {(one.case.rule, one.case.expect.outcome) for one in results if one.case.expect.message is not None}
    return [
        Problem(f"rule {rule.rule.id!r} has no case with the outcome {outcome!r} and its message", rule.where)
        for rule in rules
        for outcome in NEEDED
        if (rule.rule.id, outcome) not in shown
    ]


class _Runner:
    """Runs one case."""

    def __init__(self, rules: RuleSet, values: Mapping[str, object], index: int, locate: Locate | None) -> None:
        self.rules = rules
        self.values = values
        self.index = index
        self.locate = locate

    def run(self, case: RuleCase) -> CaseResult:
        rule = self.rules.get(case.rule)
        problems = list(self._given(case))
        if rule is None:
            hint = did_you_mean(case.rule, self.rules.ids)
            problems.insert(0, self._problem(case, f"there is no rule {case.rule!r}", ("rule",), hint))
        if rule is None or problems:
            return CaseResult(case, None, tuple(problems))
        gate = evaluate_rule(rule, {**self.values, **case.given})
        return CaseResult(case, gate, tuple(self._differences(case, gate)))

    def _given(self, case: RuleCase) -> Iterator[Problem]:
        symbols: Mapping[str, Type] = self.rules.symbols
        for name, value in case.given.items():
            kind = symbols.get(name)
            if kind is None:
                yield self._problem(case, f"unknown name {name!r}", ("given", name), did_you_mean(name, symbols))
                continue
            try:
                to_cell(name, kind, value)
            except (TypeError, ValueError) as error:
                yield self._problem(case, str(error), ("given", name))

    def _differences(self, case: RuleCase, gate: Gate) -> Iterator[Problem]:
        expected: RuleCaseExpectation = case.expect
        if gate.outcome != expected.outcome:
            found = f"the outcome is {gate.outcome!r} and not {expected.outcome!r}: {gate.substituted or gate.message}"
            yield self._problem(case, found, ("expect", "outcome"))
        if expected.message is not None and gate.message != expected.message:
            found = f"the message is {gate.message!r} and not {expected.message!r}"
            if max(len(gate.message), len(expected.message)) > _LONGEST_QUOTED:
                found = "the message is not the one that is expected"
            yield self._problem(case, found, ("expect", "message"))
        if expected.missing is not None and set(gate.missing) != set(expected.missing):
            found = f"missing is {list(gate.missing)} and not {sorted(expected.missing)}"
            yield self._problem(case, found, ("expect", "missing"))

    def _problem(self, case: RuleCase, message: str, route: Route, hint: str = "") -> Problem:
        where: Location | None = None if self.locate is None else self.locate(("cases", self.index, *route), 0)
        return Problem(f"case {case.name!r}: {message}", where, hint)
