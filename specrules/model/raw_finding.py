"""What the rules say about a deployment, before a policy weighs it and waivers are laid over it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from specrules.model.base import Many, Part
from specrules.model.deployment import Place
from specrules.model.rule import RuleOutcome, Severity
from specrules.model.verdict import Result

Speculation = Literal["on", "off", "unknown"]


class RawFinding(Result):
    """What one rule says about one thing of a deployment."""

    rule: str
    title: str
    part: Part
    severity: Severity = Field(description="how much it weighs with this outcome, before the policy")
    outcome: RuleOutcome
    message: str
    expression: str = Field(default="", description="the condition as written in the rule")
    observed: str = Field(default="", description="the condition with the values put in")
    missing: Many[str] = ()
    fix: str = ""
    refs: Many[str] = ()
    place: Place = Field(description="the setting that it is about, else the launch")
    key: str = Field(description="what it is about, free of positions: a flag, the id of a claim; empty: the whole")


class DeploymentFindings(Result):
    """Everything that the rules say about one deployment.

    `findings` holds clean rules too, each once. Where speculation is off and nothing is wrong it holds one finding, of
    the rule `speculation-configured`.
    """

    speculation: Speculation
    summary: str = Field(description="one line, such as 'no speculation configured' or 'draft-mtp on llama.cpp b11434'")
    findings: Many[RawFinding] = ()
