from __future__ import annotations

import pytest

from specrules.decide.weigh import gate_outcome, level, worst
from specrules.model.finding import Finding, WaiverUse
from specrules.model.policy import PolicyFile

USE = WaiverUse(reason="r", owner="o", expires="2026-12-01")


def policy(unknown: str = "block") -> PolicyFile:
    return PolicyFile.model_validate(
        {"schema": 1, "id": "p", "title": "P", "thresholds": {}, "docs": {}, "unknown": unknown}
    )


def finding(outcome: str, weight: str, waiver: WaiverUse | None = None) -> Finding:
    return Finding(
        rule="r",
        title="R",
        severity="block",
        outcome=outcome,
        level=weight,
        message="m",
        fingerprint="f",
        waiver=waiver,
    )


@pytest.mark.parametrize("unknown", ["block", "warn", "info"])
@pytest.mark.parametrize(("severity", "expected"), [("block", "error"), ("warn", "warning"), ("info", "note")])
def test_a_failure_weighs_as_its_rule_whatever_unknowns_do(unknown: str, severity: str, expected: str) -> None:
    assert level("fail", severity, policy(unknown)) == expected


@pytest.mark.parametrize(
    ("unknown", "levels"),
    [
        ("block", ["error", "warning", "note"]),
        ("warn", ["warning", "warning", "note"]),
        ("info", ["note", "note", "note"]),
    ],
)
def test_an_unknown_weighs_no_more_than_the_policy_says(unknown: str, levels: list[str]) -> None:
    assert [level("unknown", severity, policy(unknown)) for severity in ("block", "warn", "info")] == levels


def test_what_cannot_be_judged_is_an_error_and_what_is_fine_is_nothing() -> None:
    assert level("error", "info", policy("info")) == "error"
    assert level("pass", "block", policy()) == level("not-applicable", "block", policy()) == "none"


def test_the_worst_counts() -> None:
    fail, warning, note = finding("fail", "error"), finding("fail", "warning"), finding("unknown", "note")
    assert gate_outcome([]) == "pass"
    assert gate_outcome([note, finding("pass", "none")]) == "pass"
    assert gate_outcome([note, warning]) == "warn"
    assert gate_outcome([warning, fail, note]) == "fail"
    assert gate_outcome([fail, finding("error", "error")]) == "error"
    assert worst(["warn", "error", "fail"]) == "error"


def test_a_waived_finding_keeps_its_level_and_does_not_count() -> None:
    waived = finding("fail", "error", USE)
    assert (waived.level, waived.counts) == ("error", "none")
    assert gate_outcome([waived]) == "pass"
    assert gate_outcome([waived, finding("fail", "warning")]) == "warn"
