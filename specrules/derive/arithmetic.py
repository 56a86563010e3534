"""The formulas of one draft length, compiled: evaluated at the point and at the ends, and shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from specrules.derive.spans import Span, corners
from specrules.errors import ExpressionError, LoadError, Problem
from specrules.expressions import Expression, Type, Unknown, compile_expression
from specrules.model.drafter import DrafterClass
from specrules.model.rule import Formula, FormulaFile
from specrules.model.verdict import FormulaLine

Results = dict[str, object]
Samples: TypeAlias = Any
"""A float array, or a number where nothing varies."""
INVERSIONS = frozenset({"break_even.conditional_acceptance"})


@dataclass(frozen=True, slots=True)
class Step:
    """One compiled formula and the condition under which it counts."""

    formula: Formula
    when: Expression | None
    expression: Expression

    def counts(self, environment: Mapping[str, object]) -> bool | Unknown:
        """Whether this variant is the one for these inputs."""
        if self.when is None:
            return True
        decided = self.when.evaluate(environment)
        return decided if isinstance(decided, Unknown) else bool(decided)

    def value(self, environment: Mapping[str, object]) -> object:
        """The number, an unknown, or None where this variant does not count."""
        counts = self.counts(environment)
        if isinstance(counts, Unknown):
            return counts
        return self.expression.evaluate(environment) if counts else None

    def samples(self, environment: Mapping[str, object], otherwise: Samples) -> Samples:
        """The numbers of many samples at once; `otherwise` in those for which this variant does not count."""
        value = self.expression.evaluate_samples(environment)
        if self.when is None:
            return value
        counts = self.when.evaluate_samples(environment)
        return np.where(counts == 1, value, np.where(counts == 0, otherwise, np.nan))

    @property
    def names(self) -> tuple[str, ...]:
        """What the formula and its condition read."""
        return tuple(self.expression.names | (frozenset() if self.when is None else self.when.names))


@dataclass(slots=True)
class Remembered:
    """A step that keeps its values by what it read: corners differ in a few inputs, and most formulas read fewer."""

    step: Step
    reads: tuple[str, ...]
    known: dict[tuple[object, ...], object] = field(default_factory=dict)

    @property
    def formula(self) -> Formula:
        """The formula of the step."""
        return self.step.formula

    def value(self, environment: Mapping[str, object]) -> object:
        """What the step gives."""
        key = tuple(environment.get(name) for name in self.reads)
        if key not in self.known:
            self.known[key] = self.step.value(environment)
        return self.known[key]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the formulas give: at the point, and the least and greatest value over all corners."""

    mid: Results
    low: dict[str, float]
    high: dict[str, float]
    unsettled: frozenset[str]

    def at_mid(self, name: str) -> float | None:
        """A number at the point, or None where it is unknown."""
        value = self.mid.get(name)
        return value if isinstance(value, float) else None

    def ends(self, name: str) -> tuple[float | None, float | None]:
        """Least and greatest value; None where some corner has none."""
        if name in self.unsettled:
            return (None, None)
        return (self.low.get(name), self.high.get(name))

    def missing(self, *names: str) -> tuple[str, ...]:
        """The inputs that would settle these results."""
        found: set[str] = set()
        for name in names:
            value = self.mid.get(name)
            if isinstance(value, Unknown):
                found |= value.missing
        return tuple(sorted(found))


class Arithmetic:
    """The formulas, with D(K) of one drafter class in front."""

    def __init__(self, steps: Iterable[Step]) -> None:
        self._steps = tuple(steps)

    def run(self, environment: Mapping[str, object], skip: frozenset[str] = frozenset()) -> Results:
        """Evaluate every formula in order. A formula none of whose variants count is left out, and those in `skip`."""
        return _run(self._steps, environment, skip)

    def outcome(
        self, fixed: Mapping[str, object], spans: Mapping[str, Span], *, needs_acceptance: bool = True
    ) -> Outcome:
        """Evaluate at the middle and at every corner of the spans.

        The acceptance that breaks even is an inversion, dearer than all the rest together: it is left out at the
        corners, and without `needs_acceptance` at the middle too. Spans that no formula reads make no corners.
        """
        settled = {name: value for name, value in fixed.items() if name not in spans}
        steps = [Remembered(step, step.names) for step in self._possible(settled)]
        names = {name for step in steps if step.formula.name not in INVERSIONS for name in step.reads}
        middle = {**fixed, **{name: span.mid for name, span in spans.items()}}
        mid = _run(steps, middle, frozenset() if needs_acceptance else INVERSIONS)
        low: dict[str, float] = {}
        high: dict[str, float] = {}
        unsettled: set[str] = set()
        for corner in corners({name: span for name, span in spans.items() if name in names}):
            for name, value in _run(steps, {**middle, **corner}, INVERSIONS).items():
                if isinstance(value, float):
                    low[name] = min(value, low.get(name, value))
                    high[name] = max(value, high.get(name, value))
                else:
                    unsettled.add(name)
        return Outcome(mid, low, high, frozenset(unsettled))

    def needed(self, fixed: Mapping[str, object], *wanted: str) -> tuple[Step, ...]:
        """The variants that may count and that the wanted formulas rest on, in order."""
        possible = self._possible(fixed)
        names, chosen = set(wanted), []
        for step in reversed(possible):
            if step.formula.name in names:
                names |= set(step.names)
                chosen.append(step)
        return tuple(reversed(chosen))

    def _possible(self, fixed: Mapping[str, object]) -> tuple[Step, ...]:
        """The variants that may count, whatever the values of the spans: none behind one that counts for sure."""
        possible: list[Step] = []
        decided: set[str] = set()
        for step in self._steps:
            if step.formula.name in decided:
                continue
            counts = step.counts(fixed)
            if counts is False:
                continue
            possible.append(replace(step, when=None) if counts is True else step)
            if counts is True:
                decided.add(step.formula.name)
        return tuple(possible)

    def lines(self, fixed: Mapping[str, object], spans: Mapping[str, Span]) -> tuple[FormulaLine, ...]:
        """The formulas that count, as symbols, as written, with values, and with their results."""
        results: Results = {**fixed, **{name: span.mid for name, span in spans.items()}}
        shown: dict[str, FormulaLine] = {}
        for step in self._steps:
            name = step.formula.name
            if name in shown or step.counts(results) is not True:
                continue
            explanation = step.expression.explain(results)
            value = explanation.result
            shown[name] = FormulaLine(
                name=name,
                title=step.formula.title,
                symbols=step.formula.symbols,
                expression=explanation.source,
                substituted=explanation.substituted,
                result=value if isinstance(value, float) else None,
                unit=step.formula.unit,
            )
            results[name] = value
        return tuple(shown.values())


def sampled(steps: Sequence[Step], fixed: Mapping[str, object], drawn: Mapping[str, Samples]) -> dict[str, Samples]:
    """The formulas over many samples of their inputs: an array by name, NaN where it is unknown.

    A number instead of an array where nothing that it rests on was drawn.
    """
    results: dict[str, object] = {**fixed, **drawn}
    computed: dict[str, Samples] = {}
    for name in dict.fromkeys(step.formula.name for step in steps):
        value: Samples = np.nan
        for step in reversed([step for step in steps if step.formula.name == name]):
            value = step.samples(results, value)
        computed[name] = results[name] = value
    return computed


def _run(steps: Iterable[Step | Remembered], environment: Mapping[str, object], skip: frozenset[str]) -> Results:
    results: Results = dict(environment)
    computed: Results = {}
    for step in steps:
        name = step.formula.name
        if name in computed or name in skip:
            continue
        value = step.value(results)
        if value is not None:
            computed[name] = value
            results[name] = _only_inputs(value, computed)
    return computed


def _only_inputs(value: object, computed: Results) -> object:
    """Keep the names of inputs in an unknown, not those of the formulas in between."""
    if not isinstance(value, Unknown):
        return value
    missing: set[str] = set()
    for name in value.missing:
        inner = computed.get(name)
        missing |= inner.missing if isinstance(inner, Unknown) and inner is not value else {name}
    return Unknown(frozenset(missing), value.reasons)


def compile_arithmetic(
    formulas: FormulaFile,
    drafter_class: DrafterClass,
    thresholds: Mapping[str, float],
    path: str = "rules/formulas.yaml",
) -> Arithmetic:
    """Compile the formulas for a drafter class, once. LoadError with every expression that is refused."""
    return _compiled(formulas, drafter_class, tuple(sorted(thresholds)), path)


@lru_cache(maxsize=16)
def _compiled(formulas: FormulaFile, drafter_class: DrafterClass, thresholds: tuple[str, ...], path: str) -> Arithmetic:
    symbols = {item.name: Type(item.type) for item in formulas.inputs}
    symbols |= {f"policy.{name}": Type.NUMBER for name in thresholds}
    draft = Formula(
        name="draft_ms",
        title=f"Drafting a round: {drafter_class.title}",
        symbols=drafter_class.symbols,
        expression=drafter_class.draft_ms,
        unit="ms",
    )
    steps: list[Step] = []
    problems: list[Problem] = []
    for formula in (draft, *formulas.formulas):
        try:
            when = None if formula.when is None else compile_expression(formula.when, symbols, expect=Type.BOOL)
            steps.append(Step(formula, when, compile_expression(formula.expression, symbols, expect=Type.NUMBER)))
        except ExpressionError as error:
            problems += [Problem(f"{path}: formula {formula.name!r}: {item.render()}") for item in error.problems]
        symbols[formula.name] = Type.NUMBER
    if problems:
        raise LoadError(problems)
    return Arithmetic(steps)
