"""Claims about engines: how they are known, since when, and for which versions they hold."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from specrules.model.base import Day, DottedName, ExpressionText, Identifier, Many, Model

HowKnown = Literal["source", "run", "documentation", "thread", "secondary", "seed", "unverified"]
VERIFIED: frozenset[HowKnown] = frozenset({"source", "run", "documentation"})


class Source(Model):
    """One place that was read or one program that was run, and when."""

    id: Identifier
    by: HowKnown
    title: str
    on: Day
    version: str | None = None
    url: str | None = None


class Claim(Model):
    """Something that an engine does. `known` names one of the engine's sources.

    A claim whose source is neither a read source, a run nor the engine's documentation is unverified: gates that
    rest on it are unknown, never pass.
    """

    known: Identifier
    since: str | None = Field(default=None, description="first version it holds for")
    until: str | None = Field(default=None, description="last version it holds for")
    note: str = ""


class ConditionExample(Model):
    """Settings of a deployment, and whether a condition holds for them. A condition loads with examples of both only.

    `settings` are flags, variables and keys as they are written, `true` for a switch; `given` are further inputs. What
    neither states is not set, and unknown where it is no setting.
    """

    settings: dict[str, str | bool | float] = Field(default_factory=dict)
    given: dict[DottedName, str | bool | float | Many[str]] = Field(default_factory=dict)
    holds: bool | Literal["unknown"]


class Conditional(Claim):
    """A claim that holds for some deployments.

    `condition` reads the settings of a deployment: `given.NAME` (whether it is set), `flag.NAME` (its value, else its
    default) and the inputs of rules. Without one nobody can tell from a deployment whether the claim meets it, and it
    is only shown.
    """

    condition: ExpressionText | None = None
    fix: str = Field(default="", description="what to write instead")
    examples: Many[ConditionExample] = ()


class DeployedExample(Model):
    """Settings of a deployment, and what they say about an input."""

    settings: dict[str, str | bool | float] = Field(default_factory=dict)
    given: dict[DottedName, str | bool | float | Many[str]] = Field(default_factory=dict)
    gives: str | bool | float | Many[str] = Field(
        description="the value; `unknown` where nobody can tell, `nothing` where `when` is false"
    )


class DeployedInput(Claim):
    """What the settings of a deployment say about an input of rules, as an expression over them.

    Of several for one input the first counts whose `when` is true. Methods add to those that settings name; every other
    value stands above what a single setting states.
    """

    fact: DottedName
    value: bool | ExpressionText
    when: ExpressionText | None = None
    examples: Many[DeployedExample] = ()
