"""The rate and the speedup of one draft length over many samples of everything that is uncertain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from specrules.derive.arithmetic import Arithmetic, Samples, Step, sampled
from specrules.derive.draws import drawn
from specrules.derive.spans import Span, bounded_rate, is_point

if TYPE_CHECKING:
    from specrules.economics.arrays import Array

SAMPLES = 4093
"""Samples per input: the ends of an interval then move by less than 1 % of its width from one seed to another."""

_TAIL = 0.05


@dataclass(frozen=True, slots=True)
class Uncertain:
    """What the samples give.

    `ends` holds the 90 % interval of rate and speedup; None at an end of which nothing is known. Inputs that are only
    bounded stand at whichever of their bounds is worse for that end. `samples` holds both over all samples, with these
    inputs drawn evenly between their bounds; empty where some input has no known end.
    """

    ends: Mapping[str, tuple[float | None, float | None]]
    samples: Mapping[str, Array]

    def share_above(self, threshold: float) -> float | None:
        """The share of samples whose speedup exceeds the threshold; None where it is not known over all of them."""
        speedup = self.samples.get("speedup")
        return None if speedup is None else float(np.mean(speedup > threshold))


WANTED = ("rate_tok_s", "speedup")


def uncertain(
    arithmetic: Arithmetic, fixed: Mapping[str, object], spans: Mapping[str, Span], count: int = SAMPLES
) -> Uncertain:
    """Evaluate the formulas over `count` samples of the spans."""
    settled = {name: value for name, value in fixed.items() if name not in spans}
    steps = arithmetic.needed(settled, *WANTED)
    read = {name for step in steps for name in step.names}
    wide = {name: span for name, span in spans.items() if name in read and not is_point(span)}
    points = {**fixed, **{name: span.mid for name, span in spans.items()}}
    unknown = {name: span for name, span in wide.items() if span.is_open}
    hard = {name: span for name, span in wide.items() if span.shape == "bounds" and name not in unknown}
    free = {name: span for name, span in wide.items() if name not in unknown and name not in hard}
    draws = drawn({**free, **hard}, count)
    ends = _ends(steps, points, {**unknown, **hard}, {name: draws[name] for name in free})
    if unknown:
        return Uncertain(ends, {})
    results = sampled(steps, points, draws)
    found = {name: _filled(results[name], count) for name in WANTED if name in results}
    return Uncertain(ends, {name: value for name, value in found.items() if not np.isnan(value).any()})


def at_most(
    arithmetic: Arithmetic, fixed: Mapping[str, object], spans: Mapping[str, Span], draft_length: int
) -> Uncertain:
    """The same where nothing is known of acceptance: what it would reach if all that is drafted were accepted.

    Only the high ends are known then. They are enough to reject a candidate whose rounds no acceptance can pay.
    """
    rest = {name: span for name, span in spans.items() if not name.startswith("acceptance.")}
    everything = {"acceptance.tokens": Span.exact(draft_length + 1.0), "acceptance.conditional": Span.exact(1.0)}
    found = uncertain(arithmetic, {**fixed, "how": "measured"}, {**rest, **everything})
    return Uncertain({name: (None, high) for name, (_, high) in found.ends.items()}, {})


def _ends(
    steps: tuple[Step, ...], points: Mapping[str, object], held: Mapping[str, Span], draws: Mapping[str, Array]
) -> dict[str, tuple[float | None, float | None]]:
    """The least 5 % and the greatest 95 % quantile over every combination of the ends of what is held."""
    found: dict[str, list[tuple[float | None, float | None]]] = {name: [] for name in WANTED}
    for combination in product(*((span.low, span.high) for span in held.values())):
        results = sampled(steps, {**points, **dict(zip(held, combination, strict=True))}, draws)
        for name in WANTED:
            found[name].append(_interval(results.get(name, np.nan)))
    return {name: (bounded_rate(_least(ends)), bounded_rate(_greatest(ends))) for name, ends in found.items()}


def _interval(values: Samples) -> tuple[float | None, float | None]:
    samples = np.atleast_1d(values)
    if np.isnan(samples).any():
        return (None, None)
    low, high = np.quantile(samples, [_TAIL, 1 - _TAIL], method="hazen")
    return (float(low), float(high))


def _least(ends: list[tuple[float | None, float | None]]) -> float | None:
    lows = [low for low, _ in ends]
    return None if None in lows else min(low for low in lows if low is not None)


def _greatest(ends: list[tuple[float | None, float | None]]) -> float | None:
    highs = [high for _, high in ends]
    return None if None in highs else max(high for high in highs if high is not None)


def _filled(value: Samples, count: int) -> Array:
    return np.broadcast_to(np.asarray(value, dtype=np.float64), count)
