"""The conditions that a verdict holds for: concurrency, context and temperature, and what was measured under others.

What a measurement says at one batch or context says nothing of another, in neither direction: published speedups rise
with the context where the drafter's cache is capped, and fall where the verify attention grows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations

from specrules.derive.acceptance import stated_acceptance
from specrules.derive.spans import Span, span_of
from specrules.derive.steps import Steps
from specrules.model.case import Case
from specrules.model.fact import Facts

_TIMES = frozenset({"concurrency", "context_tokens"})
_DRAFTED = _TIMES | {"temperature"}
_INVALID_PROMPTS = frozenset({"random-tokens", "repeated-text"})


@dataclass(frozen=True, slots=True)
class Taken:
    """A measurement that the verdict uses, the conditions that matter to it, and where they are stated.

    Rates and times depend on batch and context, what a drafter gets accepted on context and temperature.
    """

    what: str
    depends_on: frozenset[str]
    places: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Dimension:
    """One condition: as the workload has it, as measurements have it, and those that do not say."""

    name: str
    deployed: Span | None
    measured: tuple[tuple[str, float], ...]
    unstated: tuple[str, ...]

    @property
    def value(self) -> float | None:
        """What the verdict holds for: the workload's, else what all measurements have in common."""
        if self.deployed is not None:
            return self.deployed.mid
        found = {value for _, value in self.measured}
        return found.pop() if len(found) == 1 else None

    def apart(self, distance: Callable[[float, float], float]) -> float | None:
        """The largest distance of a measurement from the workload, else between two; None with nothing to compare.

        A workload that spans an interval has no distance from what lies inside.
        """
        if self.deployed is not None:
            low, high = self.deployed.low, self.deployed.high
            gaps = [distance(value, min(max(value, low), high)) for _, value in self.measured]
        else:
            gaps = [distance(one, other) for (_, one), (_, other) in combinations(self.measured, 2)]
        return max(gaps, default=None)

    def note(self) -> str:
        """Which measurement was taken where, in words."""
        parts = [f"{what} at {value:g}" for what, value in self.measured]
        if self.deployed is not None:
            parts.append(f"the workload has {_shown(self.deployed)}")
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class Scope:
    """What a verdict holds for."""

    concurrency: Dimension
    context_tokens: Dimension
    temperature: Dimension

    @property
    def dimensions(self) -> tuple[Dimension, ...]:
        """The three conditions."""
        return (self.concurrency, self.context_tokens, self.temperature)

    def text(self) -> str:
        """One line for the report."""
        words = {"concurrency": "concurrency", "context_tokens": "context", "temperature": "temperature"}
        parts = [f"{words[item.name]} {_condition(item)}" for item in self.dimensions]
        return f"Holds for: {', '.join(parts)}; says nothing about others"


def scope(case: Case, facts: Facts, steps: Steps) -> Scope:
    """Hold the conditions of every measurement that is used against the workload."""
    taken = list(_taken(case, facts, steps))
    return Scope(*(_dimension(name, facts, taken) for name in ("concurrency", "context_tokens", "temperature")))


def ratio(one: float, other: float) -> float:
    """How many times the larger of two counts is the smaller; an empty context counts as one token."""
    low, high = sorted((max(one, 1.0), max(other, 1.0)))
    return high / low


def gap(one: float, other: float) -> float:
    """The difference of two numbers."""
    return abs(one - other)


def prompts(case: Case, facts: Facts) -> str | None:
    """What the prompts were that the acceptance was seen on; None where nobody says."""
    places = ("measurements",) if case.measurements.acceptance else ("candidate", "measurements")
    found = [facts.value(f"{place}.prompts") for place in places]
    return next((value for value in found if isinstance(value, str)), None)


def prompts_are_valid(found: str | None) -> bool | None:
    """Whether acceptance on these prompts says anything about traffic."""
    return None if found is None else found not in _INVALID_PROMPTS


def _taken(case: Case, facts: Facts, steps: Steps) -> Iterator[Taken]:
    if "incumbent.rate_tok_s" in facts:
        drafts = facts.value("incumbent.drafting") is not False
        yield Taken("the incumbent", _DRAFTED if drafts else _TIMES, ("incumbent",))
    if "off.rate_tok_s" in facts:
        yield Taken("drafting off", _TIMES, ("off", "measurements"))
    elif steps.plain is not None and steps.plain_source in {"target.step_ms", "V(1)"}:
        yield Taken("the plain step", _TIMES, ("measurements",))
    if "candidate.rate_tok_s" in facts:
        yield Taken("the candidate", _DRAFTED, ("candidate", "measurements"))
    elif "drafter.step_ms" in facts:
        yield Taken("the drafter", _TIMES, ("drafter", "measurements"))
    stated = stated_acceptance(case)
    if stated is not None:
        own = () if case.measurements.acceptance else ("candidate",)
        yield Taken("the acceptance", _DRAFTED - {"concurrency"}, (*own, "measurements"))
    elif "candidate.tokens_per_round" in facts and "candidate.rate_tok_s" not in facts:
        yield Taken("the acceptance", _DRAFTED - {"concurrency"}, ("candidate", "measurements"))


def _dimension(name: str, facts: Facts, taken: list[Taken]) -> Dimension:
    measured: list[tuple[str, float]] = []
    unstated: list[str] = []
    for item in taken:
        if name not in item.depends_on:
            continue
        value = _stated(name, facts, item.places)
        if value is None:
            unstated.append(item.what)
        else:
            measured.append((item.what, value))
    return Dimension(name, span_of(facts.get(f"workload.{name}")), tuple(measured), tuple(unstated))


def _stated(name: str, facts: Facts, places: tuple[str, ...]) -> float | None:
    """The condition of the first place that states it. A mean over a run counts where no setting is stated."""
    names = (f"{place}.{prefix}{name}" for place in places for prefix in ("", "mean_"))
    return next((value for each in names if (value := facts.number(each)) is not None), None)


def _condition(item: Dimension) -> str:
    value = item.value
    if value is None:
        return "unstated" if not item.measured else "of more than one value"
    if item.name != "context_tokens":
        return f"{value:g}"
    if value and value % 1024 == 0:
        return f"{value / 1024:g}k"
    return f"{value / 1000:g}k" if value and value % 1000 == 0 else f"{value:g} tokens"


def _shown(span: Span) -> str:
    return f"{span.mid:g}" if span.low == span.high else f"{span.low:g} to {span.high:g}"
