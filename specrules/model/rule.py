"""Rules, the inputs they read, formulas, the verdict table, and the cases that test rules."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from specrules.model.base import DottedName, ExpressionText, Identifier, Many, Model, Moment, Part, SchemaVersion

Severity = Literal["block", "warn", "info"]
RuleOutcome = Literal["pass", "fail", "unknown", "not-applicable", "error"]
OUTCOMES: tuple[RuleOutcome, ...] = ("pass", "fail", "unknown", "not-applicable", "error")
SpeedupClass = Literal["win", "loss", "marginal", "wide", "unknown"]
CLASSES: tuple[SpeedupClass, ...] = ("win", "loss", "marginal", "wide", "unknown")
VerdictName = Literal["deploy", "keep-incumbent", "marginal", "measure-first", "blocked", "invalid-evidence"]
Scope = Literal["case", "deployment"]
Each = Literal["settings", "methods", "pairs", "claims"]
InputType = Literal["number", "flag", "text", "numbers", "texts"]


class Input(Model):
    """A name that rules may read: its type, its unit, what it means, and what would give it where it is unknown."""

    name: DottedName
    type: InputType
    unit: str = ""
    doc: str
    ask: str = Field(default="", description="what a user does to make it known")


class InputFile(Model):
    """`rules/inputs.yaml`."""

    schema_version: SchemaVersion = Field(alias="schema")
    id: Identifier
    overrides: bool = False
    inputs: Many[Input]


class Formula(Model):
    """One step of the arithmetic. Formulas are evaluated in order; each may read the ones before it.

    Of several formulas with one name the first counts whose `when` is true.
    """

    name: DottedName
    title: str
    symbols: str
    expression: ExpressionText
    when: ExpressionText | None = None
    unit: str = ""


class FormulaFile(Model):
    """`rules/formulas.yaml`: the arithmetic of one draft length, from inputs to speedup."""

    schema_version: SchemaVersion = Field(alias="schema")
    id: Identifier
    overrides: bool = False
    inputs: Many[Input] = Field(description="what is set per draft length before the formulas run")
    formulas: Many[Formula]


class Rule(Model):
    """One gate.

    With `each` it is asked once for every setting, method, pair of methods or claim of the engine that meets its
    condition; what is wrong is then said at the place of each, and where nothing is, `clean` is said once.
    """

    id: Identifier
    title: str
    severity: Severity
    unknown: Severity | None = Field(default=None, description="severity while it is unknown, where that differs")
    each: Each | None = None
    clean: str = Field(default="", description="with `each`: what was checked, said where nothing was found")
    applies: ExpressionText | None = None
    let: dict[str, ExpressionText] = Field(default_factory=dict)
    require: ExpressionText
    message: str = Field(description="Jinja; what was found, for every outcome")
    why: str = Field(description="why the rule exists, for `rules show`")
    fix: str
    refs: Many[str] = ()
    since: str
    status: Literal["preview", "stable", "deprecated"] = "stable"


class RuleFile(Model):
    """A file of gates of one report part."""

    schema_version: SchemaVersion = Field(alias="schema")
    id: Identifier
    overrides: bool = False
    part: Part
    scope: Scope = Field(default="case", description="what the rules judge: a case, or a deployment in a gate run")
    title: str
    rules: Many[Rule]


class RuleCaseExpectation(Model):
    """What a rule must say for the given inputs."""

    outcome: RuleOutcome
    message: str | None = None
    missing: Many[DottedName] | None = None


class RuleCase(Model):
    """One test of one rule: inputs, and the outcome with its rendered message."""

    name: str
    rule: Identifier
    given: dict[str, Any]
    expect: RuleCaseExpectation


class RuleCaseFile(Model):
    """`X.test.yaml` beside `X.yaml`."""

    schema_version: SchemaVersion = Field(alias="schema")
    now: Moment
    cases: Many[RuleCase]


class ClassRow(Model):
    """When the speedup interval is of a class; the first row whose condition is true decides."""

    speedup: SpeedupClass
    when: ExpressionText
    doc: str


class VerdictRow(Model):
    """One row of the verdict table. A row hits when every listed column holds one of its values."""

    verdict: VerdictName
    because: str
    a: Many[RuleOutcome] | None = None
    b: Many[RuleOutcome] | None = None
    c: Many[RuleOutcome] | None = None
    d: Many[RuleOutcome] | None = None
    e: Many[RuleOutcome] | None = None
    speedup: Many[SpeedupClass] | None = None


class VerdictTable(Model):
    """`rules/verdict.yaml`: first hit wins."""

    schema_version: SchemaVersion = Field(alias="schema")
    id: Identifier
    overrides: bool = False
    classes: Many[ClassRow]
    rows: Many[VerdictRow]
