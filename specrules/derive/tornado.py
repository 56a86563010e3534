"""How far each uncertain input alone moves the speedup: the longest bar first."""

from __future__ import annotations

from specrules.derive.arithmetic import INVERSIONS, Arithmetic
from specrules.derive.projection import AtDepth
from specrules.derive.spans import bounded, bounded_rate, is_point
from specrules.model.verdict import Range, Swing


def tornado(arithmetic: Arithmetic, depth: AtDepth) -> tuple[Swing, ...]:
    """Per input that has any width: the speedup at its low and at its high end, all others in the middle.

    An end that nobody knows gives no speedup there. Inputs that move nothing are left out.
    """
    middle = {**depth.inputs.fixed, **{name: span.mid for name, span in depth.inputs.spans.items()}}
    swings = []
    for name, span in depth.inputs.spans.items():
        if is_point(span):
            continue
        ends = [_speedup(arithmetic, {**middle, name: end}) for end in (span.low, span.high)]
        if ends[0] is not None and ends[0] == ends[1]:
            continue
        swings.append(
            Swing(
                name=name,
                value=span.mid,
                range=Range(low=bounded(span.low), high=bounded(span.high)),
                speedup_at_low=ends[0],
                speedup_at_high=ends[1],
            )
        )
    return tuple(sorted(swings, key=_length, reverse=True))


def _speedup(arithmetic: Arithmetic, environment: dict[str, object]) -> float | None:
    value = arithmetic.run(environment, INVERSIONS).get("speedup")
    return bounded_rate(value) if isinstance(value, float) else None


def _length(swing: Swing) -> float:
    """Longest where an end is not known."""
    if swing.speedup_at_low is None or swing.speedup_at_high is None:
        return float("inf")
    return abs(swing.speedup_at_high - swing.speedup_at_low)
