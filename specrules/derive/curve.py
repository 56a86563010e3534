"""Measured curves: what a pass over several rows costs the target, and what it costs the drafter."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from math import isnan

from specrules.derive.spans import Span, from_quantity
from specrules.economics import verify
from specrules.model.case import Case, WidthTime
from specrules.model.fact import Facts, FactValue

SAME_CONTEXT = 2.0
"""Up to this factor a context counts as that of a pass that was measured beside it."""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One measured pass over `width` rows per sequence, in ms."""

    width: int
    ms: Span


def verify_curve(case: Case, facts: Facts) -> tuple[CurvePoint, ...]:
    """The curve by rising width: as stated, else as an evidence file of the target alone holds it; empty for none.

    Only passes at the workload's concurrency count; between two measured contexts a pass lies anywhere between their
    times, and beyond them nothing is known: published passes get cheaper against the plain step with context, and
    dearer, and both with the batch. A file's curve is that of one sequence at a time.
    """
    if case.measurements.verify_curve:
        return _stated(case, case.measurements.verify_curve)
    return _read(case, facts, "off")


def drafter_curve(case: Case, facts: Facts) -> tuple[CurvePoint, ...]:
    """The same of the drafter served alone: what its own batch over K + 1 rows costs. Empty where nobody timed it."""
    if case.measurements.drafter_curve:
        return _stated(case, case.measurements.drafter_curve)
    return _read(case, facts, "drafter")


def at_width(curve: tuple[CurvePoint, ...], width: int) -> Span | None:
    """The pass over `width` rows: as measured, else anywhere between the measured widths around it.

    None beyond the last width, where only the low end is known, and for an empty curve.
    """
    if not curve:
        return None
    widths = [point.width for point in curve]
    ends = [
        verify.verify_from_curve(width, widths, times)
        for times in zip(*((point.ms.low, point.ms.mid, point.ms.high) for point in curve), strict=True)
    ]
    low, mid, high = ends[0].low, ends[1].mid, ends[2].high
    if any(isnan(end) for end in (low, mid, high)):
        return None
    return Span(float(low), float(mid), float(high), "interval" if width in widths else "bounds")


def least_at(curve: tuple[CurvePoint, ...], width: int, error: float) -> float:
    """The least time of a pass over `width` rows as narrower ones have it, less a relative error; 0 without any.

    More rows never take less time, beyond what timing them is off by.
    """
    return max((point.ms.low * (1 - error) for point in curve if point.width <= width), default=0.0)


def _read(case: Case, facts: Facts, arm: str) -> tuple[CurvePoint, ...]:
    widths, times = facts.value(f"{arm}.verify_widths"), facts.value(f"{arm}.verify_ms")
    if not isinstance(widths, tuple) or not isinstance(times, tuple) or len(set(widths)) != len(times):
        return ()
    if case.workload.concurrency not in {None, 1}:
        return ()
    lows, highs = (_ends(facts.value(f"{arm}.verify_{end}_ms"), times) for end in ("low", "high"))
    points = zip(widths, lows, times, highs, strict=True)
    read = [CurvePoint(int(width), Span(low, time, high)) for width, low, time, high in points]
    return tuple(sorted(read, key=lambda point: point.width))


def _ends(read: FactValue | None, times: tuple[float, ...]) -> tuple[float, ...]:
    """The ends of the times where they were read, else the times themselves."""
    return read if isinstance(read, tuple) and len(read) == len(times) else times


def _stated(case: Case, stated: Iterable[WidthTime]) -> tuple[CurvePoint, ...]:
    points = _of_batch(stated, case.workload.concurrency)
    context = None if case.workload.context_tokens is None else case.workload.context_tokens.value
    by_width: dict[int, list[WidthTime]] = defaultdict(list)
    for point in points:
        by_width[point.width].append(point)
    read = ((width, _at_context(group, context)) for width, group in sorted(by_width.items()))
    return tuple(CurvePoint(width, ms) for width, ms in read if ms is not None)


def _of_batch(points: Iterable[WidthTime], concurrency: int | None) -> list[WidthTime]:
    """The points of the workload's batch. Of several batches, none where the workload's is not known."""
    points = list(points)
    batches = {point.batch for point in points}
    if len(batches) == 1 and concurrency is None:
        return points
    return [point for point in points if point.batch is None or point.batch == concurrency]


def _at_context(group: list[WidthTime], context: float | None) -> Span | None:
    """One width's time: between the measured contexts around the wanted one, or over all where none is wanted."""
    spans = [(point.context_tokens, from_quantity(point.ms)) for point in group]
    at = sorted(((tokens, ms) for tokens, ms in spans if tokens is not None), key=lambda pair: pair[0])
    if not at:
        return spans[0][1]
    if context is None:
        return _between([ms for _, ms in at], 0.5)
    below = [(tokens, ms) for tokens, ms in at if tokens <= context]
    above = [(tokens, ms) for tokens, ms in at if tokens >= context]
    if below and above:
        (left, first), (right, second) = below[-1], above[0]
        share = 0.0 if left == right else (context - left) / (right - left)
        return _between([first, second], share)
    nearest, ms = below[-1] if below else above[0]
    near = max(nearest, context) <= SAME_CONTEXT * min(nearest, context)
    return ms if near else None


def _between(spans: list[Span], share: float) -> Span:
    """From the least to the greatest time, with the middle at this share of the way from the first to the last."""
    mid = spans[0].mid + share * (spans[-1].mid - spans[0].mid)
    return Span(min(span.low for span in spans), mid, max(span.high for span in spans))
