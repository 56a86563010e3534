"""Intervals of inputs, and the ends of what follows from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Literal

import numpy as np

from specrules.economics.interval import Interval
from specrules.economics.sampling_error import mean_error
from specrules.model.fact import Fact
from specrules.model.quantity import Distribution, Quantity

UNBOUNDED = 1e12
"""Stands for an end that nobody knows. Results that it reaches are reported as unknown, see `bounded`."""

_REACHED_ABOVE = 1e9
_REACHED_BELOW = 1e-6

Shape = Distribution | Literal["bounds"]
"""`bounds`: between the ends, and nothing says where; every other shape is a distribution."""


@dataclass(frozen=True)
class Span(Interval[float]):
    """A number between two ends that are both known, or `UNBOUNDED`, and how it may lie between them."""

    shape: Shape = "interval"

    @property
    def is_open(self) -> bool:
        """Whether nobody knows an end."""
        return max(abs(self.low), abs(self.high)) >= UNBOUNDED


@dataclass(frozen=True)
class EitherKind(Span):
    """A conditional acceptance that was stated as a number of unknown kind.

    With the probability `conditional_share` the number `stated` is p itself, else it is accepted over drafted at
    `draft_length`, which inverts to p. The ends are those of both readings together.
    """

    stated: Span = Span(0.0, 0.0, 0.0)
    conditional_share: float = 0.5
    draft_length: int = 1


def is_point(span: Span) -> bool:
    """Whether both ends coincide."""
    return span.low == span.high


def widened(span: Span, relative: float) -> Span:
    """Both ends moved outwards by a share of the value, where nobody stated an error."""
    return Span(span.low * (1 - relative), span.mid, span.high * (1 + relative)) if is_point(span) else span


def inverse(span: Span, numerator: float) -> Span:
    """`numerator` over the span."""
    return Span(numerator / span.high, numerator / span.mid, numerator / span.low, _turned(span.shape))


def _turned(shape: Shape) -> Shape:
    """The shape of what falls as the value rises: no longer exactly uniform or normal."""
    return shape if shape in {"bounds", "lognormal"} else "interval"


def from_quantity(quantity: Quantity) -> Span:
    """The span of a stated quantity; an end that is not stated is the value."""
    low = quantity.value if quantity.low is None else quantity.low
    high = quantity.value if quantity.high is None else quantity.high
    return Span(low, quantity.value, high, quantity.distribution)


def span_of(fact: Fact | None) -> Span | None:
    """The span of a numeric fact; None where it is unknown.

    Where nobody stated an interval and enough requests were seen one by one, they give it.
    """
    if fact is None or not isinstance(fact.value, float):
        return None
    if fact.low is None and fact.high is None and fact.samples:
        half = mean_error(np.asarray(fact.samples))
        return Span(max(fact.value - half, 0.0), fact.value, fact.value + half)
    low = fact.value if fact.low is None else fact.low
    high = fact.value if fact.high is None else fact.high
    return Span(low, fact.value, high, fact.distribution)


def bounded(value: float | None) -> float | None:
    """The value, or None where it only says that an end was unknown."""
    return None if value is None or abs(value) > _REACHED_ABOVE else value


def bounded_rate(value: float | None) -> float | None:
    """The same for rates and speedups, which an unknown end drives to 0 instead."""
    return None if value is None or value < _REACHED_BELOW else bounded(value)


def corners(spans: Mapping[str, Span]) -> list[dict[str, float]]:
    """Every combination of the ends of the spans that have any width.

    Extremes over all combinations are exact for functions that are monotone in each argument, which the formulas are.
    """
    wide = {name: (span.low, span.high) for name, span in spans.items() if not is_point(span)}
    return [dict(zip(wide, ends, strict=True)) for ends in product(*wide.values())]
