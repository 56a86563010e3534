"""The measured verify curve: what a target pass over several rows costs."""

from __future__ import annotations

from dataclasses import dataclass

from specrules.derive.spans import Span, from_quantity
from specrules.model.case import Case
from specrules.model.fact import Facts


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One measured pass over `width` rows per sequence, in ms."""

    width: int
    ms: Span


def verify_curve(case: Case, facts: Facts) -> tuple[CurvePoint, ...]:
    """The curve by rising width: as stated, else as an evidence file of the target alone holds it; empty for none."""
    if case.measurements.verify_curve:
        stated = [CurvePoint(point.width, from_quantity(point.ms)) for point in case.measurements.verify_curve]
        return tuple(sorted(stated, key=lambda point: point.width))
    widths, times = facts.value("off.verify_widths"), facts.value("off.verify_ms")
    if not isinstance(widths, tuple) or not isinstance(times, tuple) or len(set(widths)) != len(times):
        return ()
    read = [CurvePoint(int(width), Span.exact(time)) for width, time in zip(widths, times, strict=True)]
    return tuple(sorted(read, key=lambda point: point.width))
