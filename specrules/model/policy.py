"""Policies: thresholds, what blocks, which evidence is asked for, and how long a waiver may hold."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from specrules.model.base import DottedName, Identifier, Many, Model, SchemaVersion
from specrules.model.quantity import ProvenanceKind
from specrules.model.rule import RuleOutcome, Severity, VerdictName

RuleWeight = Literal["block", "warn", "info", "off"]
VerdictOutcome = Literal["pass", "warn", "fail"]
Days = Annotated[float, Field(gt=0)]


class VerdictOutcomes(Model):
    """What each verdict does to the gate. One that says not to deploy, or to measure first, can warn but never pass."""

    deploy: VerdictOutcome = "pass"
    keep_incumbent: Literal["warn", "fail"] = Field(default="fail", alias="keep-incumbent")
    marginal: VerdictOutcome = "fail"
    measure_first: Literal["warn", "fail"] = Field(default="fail", alias="measure-first")
    blocked: Literal["warn", "fail"] = "fail"
    invalid_evidence: Literal["warn", "fail"] = Field(default="fail", alias="invalid-evidence")

    def of(self, verdict: VerdictName) -> VerdictOutcome:
        """The outcome of a verdict."""
        outcome: VerdictOutcome = getattr(self, verdict.replace("-", "_"))
        return outcome


class RequiredEvidence(Model):
    """Something that has to be known, how well, and how recently: one of `facts`, of one of `kinds`."""

    title: str
    facts: Annotated[Many[DottedName], Field(min_length=1)]
    kinds: Annotated[Many[ProvenanceKind], Field(min_length=1)] = ("measured", "from-file")
    max_age_days: Days | None = None
    severity: Severity = "block"
    fix: str = ""


class WaiverLimits(Model):
    """How far ahead a waiver may expire, and when it is reported as about to expire."""

    max_days: Annotated[int, Field(ge=1)] = 90
    soon_days: Annotated[int, Field(ge=0)] = 14


class PolicyFile(Model):
    """Thresholds appear to rules and to the verdict table as `policy.NAME`; the rest is for the gate.

    What a policy leaves out is strict: an unknown blocks, and every verdict but `deploy` fails.
    """

    schema_version: SchemaVersion = Field(alias="schema")
    id: Identifier
    overrides: bool = False
    title: str
    thresholds: dict[str, Annotated[float, Field(ge=0)]]
    docs: dict[str, str]
    verdicts: VerdictOutcomes = VerdictOutcomes()
    unknown: Literal["block", "warn", "info"] = Field(
        default="block", description="what an unknown does in a rule that blocks"
    )
    rules: dict[Identifier, RuleWeight] = Field(
        default_factory=dict, description="weights of rules, where they differ from the rule's own"
    )
    speculation: Literal["optional", "required"] = Field(
        default="optional", description="required: a deployment without speculation fails"
    )
    case: Literal["optional", "required"] = Field(
        default="optional", description="required: a deployment that drafts needs a case with the numbers"
    )
    evidence: dict[Identifier, RequiredEvidence] = Field(default_factory=dict)
    waivers: WaiverLimits = WaiverLimits()


class PolicyCaseInput(Model):
    """What a policy is asked: a verdict, the outcome of a rule, or evidence of some kind and age."""

    verdict: VerdictName | None = None
    rule: Identifier | None = None
    outcome: RuleOutcome | None = None
    evidence: Identifier | None = None
    kind: ProvenanceKind | None = Field(default=None, description="how the evidence is known; nobody states it: null")
    age_days: float | None = Field(default=None, description="how old it is; without a date: null")

    @model_validator(mode="after")
    def _one_question(self) -> PolicyCaseInput:
        if [self.verdict, self.rule, self.evidence].count(None) != 2:
            raise ValueError("a policy is asked one thing: a verdict, a rule or evidence")
        if (self.rule is None) is not (self.outcome is None):
            raise ValueError("a rule needs its outcome, and an outcome its rule")
        return self


class PolicyCaseExpectation(Model):
    """What the gate makes of it."""

    gate: Literal["pass", "warn", "fail", "error", "off"]


class PolicyCase(Model):
    """One test of one policy."""

    name: str
    policy: Identifier
    given: PolicyCaseInput
    expect: PolicyCaseExpectation


class PolicyCaseFile(Model):
    """`X.test.yaml` beside a policy `X.yaml`, told from cases of rules by its key."""

    schema_version: SchemaVersion = Field(alias="schema")
    policy_cases: Many[PolicyCase]
