"""The value of each input at which the verdict of the numbers flips, everything else as it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import exp, log

from specrules.derive.arithmetic import INVERSIONS, Arithmetic
from specrules.derive.projection import AtDepth, Projections
from specrules.derive.rounds import Sides
from specrules.derive.spans import bounded_rate, corners
from specrules.model.rule import SpeedupClass
from specrules.model.verdict import FlipPoint

_REACH = 20.0
_STEPS = 40
_SHARES = {"acceptance.conditional", "acceptance.ratio", "drafter.coverage"}
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
    "synthetic.rate_tok_s": ("rate with synthetic acceptance zero", "tok/s"),
}


def flip_points(
    sides: Sides, arithmetic: Arithmetic, projections: Projections, speedup_class: SpeedupClass
) -> tuple[FlipPoint, ...]:
    """One flip point per numeric input of the draft length of the verdict, the nearest first.

    A loss flips where the high end of the speedup reaches 1, a win where its low end falls to 1 + margin, anything
    else where the point reaches 1.
    """
    depth = projections.at(projections.verdict_length) if projections.verdict_length is not None else None
    if depth is None:
        return ()
    end, threshold = _deciding_end(speedup_class, sides.thresholds["margin"])
    environment = _environment(depth, arithmetic, end)
    if environment is None:
        return ()
    points = [
        _flip(arithmetic, environment, name, span.mid, threshold)
        for name, span in depth.inputs.spans.items()
        if name in _NAMES and span.mid > 0
    ]
    return tuple(sorted(points, key=lambda point: abs(log(1 + (point.change_percent or 1e6) / 100))))


def _flip(arithmetic: Arithmetic, environment: dict[str, object], name: str, mid: float, threshold: float) -> FlipPoint:
    title, unit = _NAMES[name]
    start = environment[name]
    value = start if isinstance(start, float) else mid

    def speedup(factor: float) -> float | None:
        return _speedup(arithmetic, {**environment, name: value * factor})

    limit = 1 / value if name in _SHARES else _REACH
    factor = _crossing(speedup, threshold, limit)
    scale = _scale(environment, name)
    return FlipPoint(
        name="verify_ms" if name == "verify.factor" else name,
        unit=unit,
        value=value * scale,
        flips_at=None if factor is None else value * factor * scale,
        change_percent=None if factor is None else 100 * (factor - 1),
        note=title if factor is not None else f"{title}: no value within reach flips it",
    )


def _scale(environment: dict[str, object], name: str) -> float:
    """The assumed factor is shown as the pass that it gives: a reader can hold that against a measurement."""
    declared = environment.get("target.declared_ms")
    return declared if name == "verify.factor" and isinstance(declared, float) else 1.0


def _speedup(arithmetic: Arithmetic, environment: dict[str, object]) -> float | None:
    value = arithmetic.run(environment, INVERSIONS).get("speedup")
    return bounded_rate(value) if isinstance(value, float) else None


def _environment(depth: AtDepth, arithmetic: Arithmetic, end: str) -> dict[str, object] | None:
    """The inputs at which the deciding end of the speedup is reached: formulas are monotone, so it stays there."""
    middle = {**depth.inputs.fixed, **{name: span.mid for name, span in depth.inputs.spans.items()}}
    if end == "mid":
        return middle if _speedup(arithmetic, middle) is not None else None
    reached: list[tuple[float, dict[str, object]]] = []
    for corner in corners(depth.inputs.spans):
        environment = {**middle, **corner}
        speedup = _speedup(arithmetic, environment)
        if speedup is not None:
            reached.append((speedup, environment))
    if not reached:
        return None
    choose = min if end == "low" else max
    return choose(reached, key=lambda item: item[0])[1]


def _deciding_end(speedup_class: SpeedupClass, margin: float) -> tuple[str, float]:
    if speedup_class == "loss":
        return ("high", 1.0)
    return ("low", 1 + margin) if speedup_class == "win" else ("mid", 1.0)


def _crossing(curve: Callable[[float], float | None], threshold: float, limit: float) -> float | None:
    """The factor at which a monotone curve crosses the threshold, by bisection on its logarithm."""
    now = curve(1.0)
    if now is None:
        return None
    for bound in (1 / _REACH, limit):
        there = curve(bound)
        if there is None or (there - threshold) * (now - threshold) > 0:
            continue
        near, far = 0.0, log(bound)
        for _ in range(_STEPS):
            middle = (near + far) / 2
            value = curve(exp(middle))
            if value is None:
                return None
            if (value - threshold) * (now - threshold) > 0:
                near = middle
            else:
                far = middle
        return exp((near + far) / 2)
    return None
