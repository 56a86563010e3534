"""The cases beside policies: what a policy makes of a verdict, of a rule's outcome, or of evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from specrules.catalog.catalogue import Catalog
from specrules.catalog.places import Locate, Route
from specrules.decide.weigh import OF_VERDICTS, level
from specrules.derive.required import evidence_finding
from specrules.errors import Location, Problem, did_you_mean
from specrules.model.fact import Fact
from specrules.model.finding import Level
from specrules.model.policy import PolicyCase, PolicyFile
from specrules.model.quantity import Provenance
from specrules.model.rule import RuleFile, Severity

_GATES: Mapping[Level, str] = {"none": "pass", "note": "pass", "warning": "warn", "error": "fail"}
_NOW = datetime(2000, 1, 1, tzinfo=UTC)
"""Ages are given in days before some moment; which one does not matter."""


@dataclass(frozen=True)
class PolicyCaseResult:
    """One case that was run, and what is wrong about it."""

    case: PolicyCase
    problems: tuple[Problem, ...]


def run_policy_cases(
    catalog: Catalog, policies: Mapping[str, PolicyFile] | None = None
) -> tuple[PolicyCaseResult, ...]:
    """Run every case beside a policy. `policies` are those of the catalogue, unless others are to be tried.

    LoadError with every problem where a case file does not load.
    """
    tried = catalog.policies if policies is None else policies
    severities = {rule.id: rule.severity for file in catalog.of_kind(RuleFile) for rule in file.model.rules}
    return tuple(
        PolicyCaseResult(case, tuple(_problems(case, index, tried, severities, file.locate)))
        for file in catalog.policy_cases
        for index, case in enumerate(file.model.policy_cases)
    )


def _problems(
    case: PolicyCase, index: int, policies: Mapping[str, PolicyFile], severities: Mapping[str, Severity], locate: Locate
) -> list[Problem]:
    def problem(message: str, route: Route, hint: str = "") -> Problem:
        where: Location = locate(("policy_cases", index, *route), 0)
        return Problem(f"case {case.name!r}: {message}", where, hint)

    policy, given = policies.get(case.policy), case.given
    if policy is None:
        hint = did_you_mean(case.policy, policies)
        return [problem(f"there is no policy {case.policy!r}", ("policy",), hint)]
    if given.rule is not None and given.rule not in severities:
        hint = did_you_mean(given.rule, severities)
        return [problem(f"there is no rule {given.rule!r}", ("given", "rule"), hint)]
    if given.evidence is not None and given.evidence not in policy.evidence:
        hint = did_you_mean(given.evidence, policy.evidence)
        return [problem(f"{case.policy} asks for no evidence {given.evidence!r}", ("given", "evidence"), hint)]
    found = _gate(case, policy, severities)
    if found == case.expect.gate:
        return []
    return [problem(f"the gate says {found!r} and not {case.expect.gate!r}", ("expect", "gate"))]


def _gate(case: PolicyCase, policy: PolicyFile, severities: Mapping[str, Severity]) -> str:
    given = case.given
    if given.verdict is not None:
        return _GATES[OF_VERDICTS[policy.verdicts.of(given.verdict)]]
    if given.rule is not None and given.outcome is not None:
        weight = policy.rules.get(given.rule, severities[given.rule])
        if weight == "off":
            return "off"
        return "error" if given.outcome == "error" else _GATES[level(given.outcome, weight, policy)]
    asked = policy.evidence[given.evidence or ""]
    facts = {}
    if given.kind is not None:
        observed = None if given.age_days is None else _NOW - timedelta(days=given.age_days)
        name = asked.facts[0]
        facts[name] = Fact(name=name, value=1.0, provenance=Provenance(kind=given.kind, observed_at=observed))
    return _GATES[level(evidence_finding(asked, facts, _NOW).outcome, asked.severity, policy)]
