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


class WaiverUse(Result):
    """The waiver that is laid over a finding."""

    reason: str
    owner: str
    expires: str
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
    place: Place | None = None
    fingerprint: str = Field(description="the same for the same finding after unrelated edits: rule, subject, what")
    waiver: WaiverUse | None = None


class Subject(Result):
    """One deployment or case and everything that was found about it, clean findings included."""

    name: str
    path: str
    kind: Literal["deployment", "case"]
    engine: str | None = None
    version: str | None = None
    summary: str = Field(description="one line, such as 'no speculation configured'")
    verdict: VerdictName | None = None
    outcome: GateOutcome
    findings: Many[Finding] = ()


class GateError(Result):
    """A file that could not be judged, beside the other results."""

    message: str
    place: Place | None = None


class WaiverNotice(Result):
    """A waiver that is expired, unused, about to expire or bound to other inputs."""

    state: Literal["active", "expired", "unused", "expires-soon", "inputs-changed"]
    rule: str
    owner: str
    reason: str
    expires: str
    days_left: int
    place: Place | None = None


class GateReport(Result):
    """A run of the gate over files. The outcome is the worst: an error outranks a failure, a failure a warning."""

    schema_version: Literal[1] = Field(default=1, alias="schema")
    tool_version: str
    now: str
    policy: str
    outcome: GateOutcome
    subjects: Many[Subject] = ()
    errors: Many[GateError] = ()
    waivers: Many[WaiverNotice] = ()
