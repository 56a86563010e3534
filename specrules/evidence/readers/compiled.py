"""A reader made ready to read: what belongs to each part of it once its patterns and expressions are compiled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from specrules.evidence.readers.patterns import Pattern, PatternSet, Prefixes
from specrules.expressions import Expression, is_unknown
from specrules.model.fact import FactValue
from specrules.model.program import Program
from specrules.model.reader import ConsistencyCheck, FactRule, LogPattern, Reader, ReaderField


@dataclass(frozen=True, slots=True)
class CompiledField:
    """A field with its expressions. `name` is its key in the reader."""

    name: str
    spec: ReaderField
    value: Expression | None
    when: Expression | None
    weight: Expression | None
    match: Pattern | None


@dataclass(frozen=True, slots=True)
class CompiledRule:
    """A fact rule with its expressions."""

    spec: FactRule
    value: Expression
    when: Expression | None
    low: Expression | None = None
    high: Expression | None = None
    samples: Expression | None = None

    def result(self, values: Mapping[str, FactValue]) -> FactValue | None:
        """Return what the rule says, None where it does not apply or something that it reads is unknown."""
        if self.when is not None and self.when.evaluate(values) is not True:
            return None
        result = self.value.evaluate(values)
        if is_unknown(result) or result in {(), ""}:
            return None
        return result  # type: ignore[return-value]

    def interval(self, values: Mapping[str, FactValue], value: FactValue) -> tuple[float, float] | None:
        """Return the ends of the value's interval, None where one of them is unknown or the value lies outside."""
        if self.low is None or self.high is None or not isinstance(value, float):
            return None
        low, high = self.low.evaluate(values), self.high.evaluate(values)
        if not isinstance(low, float) or not isinstance(high, float):
            return None
        return (low, high) if low <= value <= high and low < high else None

    def listed(self, values: Mapping[str, FactValue]) -> tuple[float, ...]:
        """Return the samples that the file lists, none where they are unknown."""
        found = () if self.samples is None else self.samples.evaluate(values)
        return tuple(item for item in found if isinstance(item, float)) if isinstance(found, tuple) else ()


@dataclass(frozen=True, slots=True)
class CompiledCheck:
    """A consistency check with its expression."""

    spec: ConsistencyCheck
    require: Expression


@dataclass(frozen=True, slots=True)
class CompiledPattern:
    """A line shape; `fields` are the groups whose values are kept."""

    spec: LogPattern
    pattern: Pattern
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LineMatcher:
    """Everything that a log reader looks for in a line.

    `first` are the removals that may apply anywhere in a line, `prefixes` those that begin with `^`. `shapes` holds the
    patterns and, after them, the suspects. `screen` are patterns of which one occurs in every line that matters, as it
    stands in the file.
    """

    first: tuple[Pattern, ...]
    first_set: PatternSet
    prefixes: Prefixes
    shapes: PatternSet
    screen: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CompiledReader:
    """One reader of an engine or a bench tool, ready to read.

    `derived` are the fields that are computed in each record, in the order of their declaration; `absent` is what the
    absence of a field means, without the fields that are then unknown; `plain` are fields without a weight from which
    nothing is computed in a record; `sampled` are the rules that are evaluated on each request, by fact.
    """

    engine: Program
    spec: Reader
    fields: dict[str, CompiledField]
    patterns: tuple[CompiledPattern, ...]
    rules: tuple[CompiledRule, ...]
    checks: tuple[CompiledCheck, ...]
    lines: LineMatcher | None
    derived: tuple[CompiledField, ...]
    absent: Mapping[str, FactValue]
    plain: frozenset[str]
    sampled: Mapping[str, tuple[CompiledRule, ...]]
    only: Expression | None = None
