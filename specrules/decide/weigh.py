"""What a policy makes of outcomes: the level of a finding, and the outcome of everything that was found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from specrules.model.finding import Finding, GateOutcome, Level
from specrules.model.policy import PolicyFile, VerdictOutcome
from specrules.model.rule import RuleOutcome, Severity

_ORDER: tuple[Severity, ...] = ("info", "warn", "block")
_LEVELS: Mapping[Severity, Level] = {"block": "error", "warn": "warning", "info": "note"}
_OUTCOMES: tuple[GateOutcome, ...] = ("pass", "warn", "fail", "error")
OF_VERDICTS: Mapping[VerdictOutcome, Level] = {"pass": "none", "warn": "warning", "fail": "error"}
"""The level of a verdict by the outcome that the policy gives it."""


def level(outcome: RuleOutcome, severity: Severity, policy: PolicyFile) -> Level:
    """Return what an outcome counts for. An unknown weighs as a failure does, but no more than the policy says.

    What could not be judged at all is an error whatever its severity.
    """
    if outcome == "error":
        return "error"
    if outcome == "fail":
        return _LEVELS[severity]
    if outcome == "unknown":
        return _LEVELS[min(severity, policy.unknown, key=_ORDER.index)]
    return "none"


def gate_outcome(findings: Iterable[Finding]) -> GateOutcome:
    """Return the worst of what counts: what could not be judged outranks a failure, a failure a warning."""
    return worst(_outcome(finding) for finding in findings)


def worst(outcomes: Iterable[GateOutcome]) -> GateOutcome:
    """Return the worst outcome; `pass` where there is none."""
    return max(outcomes, key=_OUTCOMES.index, default="pass")


def _outcome(finding: Finding) -> GateOutcome:
    if finding.outcome == "error":
        return "error"
    return {"error": "fail", "warning": "warn"}.get(finding.counts, "pass")  # type: ignore[return-value]
