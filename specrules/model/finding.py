"""What a gate run says: one result model for every output format."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from specrules.model.base import Many
from specrules.model.deployment import Place
from specrules.model.rule import RuleOutcome, Severity, VerdictName
from specrules.model.verdict import Result

Level = Literal["error", "warning", "note", "none"]
GateOutcome = Literal["pass", "warn", "fail", "error"]
WaiverState = Literal["active", "expires-soon", "unused", "inputs-changed", "expired", "too-long"]


class WaiverUse(Result):
    """The waiver that is laid over a finding."""

    reason: str
    owner: str
    expires: str
    ticket: str | None = None
    place: Place | None = None


class Finding(Result):
    """What one rule says about one thing. A waived finding keeps its outcome; it only stops counting."""

    rule: str
    title: str
    severity: Severity
    outcome: RuleOutcome
    level: Level = Field(description="what the policy makes of it: error blocks, warning and note only tell")
    message: str
    expression: str = Field(default="", description="the condition as written in the rule")
    observed: str = Field(default="", description="the condition with the values put in")
    missing: Many[str] = ()
    fix: str = ""
    refs: Many[str] = ()
    place: Place | None = None
    fingerprint: str = Field(description="the same for the same finding after unrelated edits: rule, subject, what")
    waiver: WaiverUse | None = None

    @property
    def counts(self) -> Level:
        """The level that counts: none where a waiver holds."""
        return "none" if self.waiver is not None else self.level


class Subject(Result):
    """One deployment or case and everything that was found about it, clean findings included."""

    name: str
    path: str
    kind: Literal["deployment", "case"]
    target: str | None = None
    drafter: str | None = None
    engine: str | None = None
    version: str | None = None
    case: str | None = Field(default=None, description="the case that gives a deployment its numbers")
    summary: str = Field(description="one line, such as 'no speculation configured'")
    verdict: VerdictName | None = None
    inputs_digest: str = Field(default="", description="what a waiver can be bound to")
    outcome: GateOutcome
    findings: Many[Finding] = ()


class GateError(Result):
    """A file that could not be judged, beside the other results."""

    message: str
    hint: str = ""
    place: Place | None = None


class WaiverNotice(Result):
    """A waiver and whether it holds."""

    state: WaiverState
    rule: str
    scope: str = Field(default="", description="what it is for, in words")
    owner: str
    reason: str
    expires: str
    days_left: int = Field(description="full days after today on which it still counts; below 0 it is expired")
    used: int = Field(default=0, description="findings that it was laid over")
    place: Place | None = None


class GateReport(Result):
    """A run of the gate over files. The outcome is the worst: an error outranks a failure, a failure a warning."""

    schema_version: Literal[1] = Field(default=1, alias="schema")
    tool_version: str
    now: str
    policy: str
    policy_title: str = ""
    rules_digest: str = ""
    overridden: Many[str] = ()
    outcome: GateOutcome
    subjects: Many[Subject] = ()
    errors: Many[GateError] = ()
    waivers: Many[WaiverNotice] = ()
