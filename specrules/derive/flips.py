"""The value of each input at which the verdict of the numbers flips, everything else as it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import exp, log

from specrules.derive.arithmetic import INVERSIONS, Arithmetic
from specrules.derive.draws import SHARES
from specrules.derive.projection import AtDepth, Projections
from specrules.derive.sides import Sides
from specrules.derive.spans import Span, bounded_rate
from specrules.derive.uncertainty import uncertain
from specrules.model.rule import SpeedupClass
from specrules.model.verdict import FlipPoint

_REACH = 20.0
_PRECISION = 1e-10
_SAMPLES = 1021
_NAMES: Mapping[str, tuple[str, str]] = {
    "incumbent.rate_tok_s": ("the incumbent's rate", "tok/s"),
    "target.step_ms": ("the plain target step", "ms"),
    "verify.factor": ("the pass over K+1 rows", "ms"),
    "verify.curve_ms": ("the pass over K+1 rows", "ms"),
    "drafter.step_ms": ("the drafter's step", "ms"),
    "drafter.catch_up_ms": ("the drafter's catch-up batch", "ms"),
    "drafter.coverage": ("share of rounds that draft", "share"),
    "run.rate_tok_s": ("the measured rate of the candidate", "tok/s"),
    "acceptance.conditional": ("conditional acceptance p", ""),
    "acceptance.ratio": ("accepted ratio r", ""),
    "acceptance.tokens": ("tokens per round A", "tokens"),
    "slope.round": ("the slope of the round", ""),
    "slope.verify": ("the slope of the target pass", ""),
    "synthetic.rate_tok_s": ("rate with synthetic acceptance zero", "tok/s"),
}


def flip_points(
    sides: Sides, arithmetic: Arithmetic, projections: Projections, speedup_class: SpeedupClass
) -> tuple[FlipPoint, ...]:
    """One flip point per numeric input of the draft length of the verdict, the nearest first.

    A loss flips where the high end of the speedup reaches 1, a win where its low end falls to 1 + margin, anything
    else where the point reaches 1. The input is then known to have that value; all others vary as they do.
    """
    depth = projections.at(projections.verdict_length) if projections.verdict_length is not None else None
    if depth is None:
        return ()
    end, threshold = _deciding_end(speedup_class, sides.thresholds["margin"])
    read = {name for step in arithmetic.needed(depth.inputs.fixed, "speedup") for name in step.names}
    points = [
        _flip(arithmetic, depth, name, end, threshold, is_read=name in read)
        for name, span in depth.inputs.spans.items()
        if name in _NAMES and span.mid > 0
    ]
    return tuple(sorted(points, key=lambda point: abs(log(1 + (point.change_percent or 1e6) / 100))))


def _flip(arithmetic: Arithmetic, depth: AtDepth, name: str, end: str, threshold: float, *, is_read: bool) -> FlipPoint:
    title, unit = _NAMES[name]
    value = depth.inputs.spans[name].mid

    def speedup(factor: float) -> float | None:
        return _speedup(arithmetic, depth, {name: Span.exact(value * factor)}, end)

    factor = _crossing(speedup, threshold, 1 / value if name in SHARES else _REACH) if is_read else None
    scale = _scale(depth, name)
    return FlipPoint(
        name="verify_ms" if name == "verify.factor" else name,
        unit=unit,
        value=value * scale,
        flips_at=None if factor is None else value * factor * scale,
        change_percent=None if factor is None else 100 * (factor - 1),
        note=title if factor is not None else f"{title}: no value within reach flips it",
    )


def _scale(depth: AtDepth, name: str) -> float:
    """The assumed factor is shown as the pass that it gives: a reader can hold that against a measurement."""
    declared = depth.inputs.spans.get("target.declared_ms")
    return declared.mid if name == "verify.factor" and declared is not None else 1.0


def _speedup(arithmetic: Arithmetic, depth: AtDepth, known: Mapping[str, Span], end: str) -> float | None:
    """The deciding end of the speedup with some inputs known."""
    spans = {**depth.inputs.spans, **known}
    if end == "mid":
        value = arithmetic.run(
            {**depth.inputs.fixed, **{name: span.mid for name, span in spans.items()}}, INVERSIONS
        ).get("speedup")
        return bounded_rate(value) if isinstance(value, float) else None
    low, high = uncertain(arithmetic, depth.inputs.fixed, spans, _SAMPLES).ends["speedup"]
    return low if end == "low" else high


def _deciding_end(speedup_class: SpeedupClass, margin: float) -> tuple[str, float]:
    if speedup_class == "loss":
        return ("high", 1.0)
    return ("low", 1 + margin) if speedup_class == "win" else ("mid", 1.0)


def _crossing(curve: Callable[[float], float | None], threshold: float, limit: float) -> float | None:
    """The factor at which a monotone curve crosses the threshold.

    The Illinois method on the logarithm of the factor: a false position whose stale end counts for half.
    """
    now = curve(1.0)
    if now is None:
        return None
    for bound in (1 / _REACH, limit):
        there = curve(bound)
        if there is None or (there - threshold) * (now - threshold) > 0:
            continue
        near, far = 0.0, log(bound)
        above, below = now - threshold, there - threshold
        while abs(far - near) > _PRECISION and above != below:
            middle = far - below * (far - near) / (below - above)
            value = curve(exp(middle))
            if value is None:
                return None
            over = value - threshold
            if abs(over) < _PRECISION:
                return exp(middle)
            if over * below < 0:
                near, above = far, below
            else:
                above /= 2
            far, below = middle, over
        return exp(far)
    return None
