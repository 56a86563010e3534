"""What a triage says. The JSON report is this model, field for field."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field

from specrules.model.base import Many, Model, Part
from specrules.model.fact import Fact
from specrules.model.rule import RuleOutcome, Severity, VerdictName

ArmName = Literal["incumbent", "off", "candidate", "unknown"]


class Result(Model):
    """Base of everything that is reported. Any number may be None: unknown."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False, populate_by_name=True)


class Range(Result):
    """An interval. None at an end: nothing is known about that end."""

    low: float | None = None
    high: float | None = None


class Alternative(Result):
    """One of the arms that are compared."""

    name: ArmName
    draft_length: int | None = None
    rate_tok_s: float | None = None
    note: str = ""


class IncumbentSummary(Result):
    """What runs today."""

    drafting: bool | None = None
    method: str | None = None
    rate_tok_s: float | None = None
    tokens_per_round: float | None = None
    round_ms: float | None = None


class BreakEvenRange(Result):
    """The spread of a break-even point."""

    tokens_per_round: Many[float | None] = (None, None)
    conditional_acceptance: Many[float | None] = (None, None)
    accepted_ratio: Many[float | None] = (None, None)


class BreakEven(Result):
    """What acceptance pays at one draft length. The point is at the declared step time."""

    draft_length: int
    tokens_per_round: float | None = None
    conditional_acceptance: float | None = None
    accepted_ratio: float | None = None
    possible: bool | None = None
    settled: bool = Field(default=True, description="false: whether it is possible depends on the range of the round")
    beats_off: bool | None = Field(default=None, description="false: a pass over K+1 rows costs K+1 steps or more")
    is_best: bool = Field(default=False, description="the draft length that needs the smallest acceptance")
    range: BreakEvenRange = BreakEvenRange()
    basis: str = ""
    missing: Many[str] = ()


class Speedup(Result):
    """Candidate rate over incumbent rate."""

    low: float | None = None
    mid: float | None = None
    high: float | None = None
    probability_above_margin: float | None = None


class Projection(Result):
    """What the candidate would do at one draft length."""

    draft_length: int
    tokens_per_round: float | None = None
    round_ms: float | None = None
    rate_tok_s: float | None = None
    rate_range: Range = Range()
    speedup: Speedup = Speedup()
    at_declared_step: Speedup = Speedup()
    is_best: bool = False
    basis: str = ""
    missing: Many[str] = ()


class Gate(Result):
    """One rule's outcome."""

    id: str
    part: Part
    severity: Severity
    outcome: RuleOutcome
    title: str
    message: str
    expression: str = ""
    substituted: str = ""
    fix: str = ""
    missing: Many[str] = ()
    refs: Many[str] = ()


class FormulaLine(Result):
    """A formula three times: as symbols, with values, and its result."""

    name: str
    title: str
    symbols: str
    expression: str
    substituted: str
    result: bool | float | None = Field(default=None, description="true or false for the conditions of the decision")
    unit: str = ""


class FlipPoint(Result):
    """The value of one input at which the verdict flips, everything else as it is."""

    name: str
    unit: str = ""
    value: float
    flips_at: float | None = None
    change_percent: float | None = None
    note: str = ""


class Swing(Result):
    """How far one uncertain input moves the speedup, everything else in the middle: a bar of the tornado."""

    name: str
    value: float
    range: Range = Field(default=Range(), description="ends of the input; None: not known")
    speedup_at_low: float | None = None
    speedup_at_high: float | None = None


class LengthShare(Result):
    """How often a draft length is the best one, over everything that is uncertain."""

    draft_length: int
    probability: float


class PriorUse(Result):
    """A prior that stands in for what nobody measured."""

    id: str
    quantity: str
    low: float
    mid: float
    high: float
    rows: int
    sources: Many[str]
    note: str = ""


class Measurement(Result):
    """The measurement that would settle it."""

    recipe: str
    title: str
    command: str
    settles: str
    minutes: float | None = None
    quantity: str = Field(default="", description="what the expected interval and the threshold are in")
    expected: Range = Range()
    threshold: float | None = None
    samples_needed: int | None = None
    value_tok_s: float | None = None
    note: str = ""


class Settings(Result):
    """How to switch the candidate on at the draft length of the verdict, and off again."""

    draft_length: int | None = None
    switch_on: Many[str] = ()
    switch_off: Many[str] = ()


class Scope(Result):
    """The conditions that the verdict holds for; None where neither workload nor measurements state one."""

    concurrency: float | None = None
    context_tokens: float | None = None
    temperature: float | None = None
    text: str = ""


class Footer(Result):
    """What makes the report reproducible."""

    tool_version: str
    now: str
    rules_digest: str
    inputs_digest: str
    overridden: Many[str] = ()


class Verdict(Result):
    """The answer to a case."""

    schema_version: Literal[1] = Field(default=1, serialization_alias="schema", validation_alias="schema")
    case: str
    title: str
    target: str
    drafter: str
    engine: str
    verdict: VerdictName
    economics: VerdictName
    sentence: str
    because: str
    deciding: str | None = Field(default=None, description="id of the gate that made it; None: the numbers did")
    best: ArmName
    band: Speedup = Field(default=Speedup(), description="envelope over K at the declared step time")
    speedup: Speedup = Field(default=Speedup(), description="envelope over K with every uncertainty that is known")
    speedup_class: str = "unknown"
    scope: Scope = Scope()
    request_speedup: float | None = Field(default=None, description="for a whole request, first token included")
    alternatives: Many[Alternative] = ()
    incumbent: IncumbentSummary = IncumbentSummary()
    break_even: Many[BreakEven] = ()
    projection: Many[Projection] = ()
    acceptance_notes: Many[str] = ()
    gates: Many[Gate] = ()
    formulas: Many[FormulaLine] = ()
    decision: Many[FormulaLine] = ()
    flips: Many[FlipPoint] = ()
    tornado: Many[Swing] = Field(default=(), description="by effect, at the draft length of the verdict")
    best_lengths: Many[LengthShare] = Field(default=(), description="draft lengths by how often they are the best")
    priors: Many[PriorUse] = Field(default=(), description="what stands in for measurements")
    perfect_information_tok_s: float | None = Field(
        default=None, description="what knowing every input would be worth: no measurement is worth more"
    )
    measurement: Measurement | None = None
    runners_up: Many[Measurement] = ()
    settings: Settings | None = None
    known_issues: Many[str] = ()
    notices: Many[str] = ()
    not_checked: Many[str] = ()
    facts: Many[Fact] = ()
    missing: Many[str] = ()
    footer: Footer
