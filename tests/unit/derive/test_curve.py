from __future__ import annotations

from typing import Any

import pytest

from specrules.derive.curve import CurvePoint, verify_curve
from specrules.derive.spans import Span

from .build import case, facts


def test_a_stated_curve_is_sorted_by_width() -> None:
    points = [{"width": 5, "ms": 20.67}, {"width": 1, "ms": {"value": 8.47, "low": 8, "high": 9}}]
    one = case(measurements={"verify_curve": points})
    assert verify_curve(one, facts(one)) == (CurvePoint(1, Span(8, 8.47, 9)), CurvePoint(5, Span.exact(20.67)))


def test_a_bench_of_the_target_alone_is_a_curve() -> None:
    one = case()
    read = facts(one, off__verify_widths=(2.0, 1.0), off__verify_ms=(28.05, 14.37))
    assert verify_curve(one, read) == (CurvePoint(1, Span.exact(14.37)), CurvePoint(2, Span.exact(28.05)))


def test_a_stated_curve_goes_before_one_that_was_read() -> None:
    one = case(measurements={"verify_curve": [{"width": 1, "ms": 9}]})
    read = facts(one, off__verify_widths=(1.0,), off__verify_ms=(14.37,))
    assert verify_curve(one, read) == (CurvePoint(1, Span.exact(9.0)),)


def test_lists_that_do_not_pair_up_are_no_curve() -> None:
    one = case()
    assert verify_curve(one, facts(one)) == ()
    assert verify_curve(one, facts(one, off__verify_widths=(1.0, 2.0), off__verify_ms=(14.37,))) == ()
    assert verify_curve(one, facts(one, off__verify_widths=(1.0, 1.0), off__verify_ms=(14.37, 14.4))) == ()


def curve(points: list[dict[str, Any]], **workload: Any) -> dict[int, tuple[float, float, float]]:
    one = case(measurements={"verify_curve": points}, workload=workload)
    return {point.width: (point.ms.low, point.ms.mid, point.ms.high) for point in verify_curve(one, facts(one))}


def test_only_passes_of_the_workloads_batch_count() -> None:
    points = [
        {"width": 1, "ms": 20.0, "batch": 1},
        {"width": 4, "ms": 26.0, "batch": 1},
        {"width": 1, "ms": 35.0, "batch": 16},
        {"width": 4, "ms": 70.0, "batch": 16},
    ]
    assert curve(points, concurrency=1) == {1: (20, 20, 20), 4: (26, 26, 26)}
    assert curve(points, concurrency=16) == {1: (35, 35, 35), 4: (70, 70, 70)}
    # Nothing is read off between two batches, nor where it is not known which of them is served.
    assert curve(points, concurrency=8) == {}
    assert curve(points) == {}
    assert curve(points[:2]) == {1: (20, 20, 20), 4: (26, 26, 26)}
    assert curve(points[:2], concurrency=2) == {}
    assert curve([{"width": 4, "ms": 26.0}], concurrency=8) == {4: (26, 26, 26)}


def test_between_two_contexts_a_pass_lies_between_their_times_in_either_direction() -> None:
    rising = [{"width": 4, "ms": 20.0, "context_tokens": 2000}, {"width": 4, "ms": 30.0, "context_tokens": 10000}]
    assert curve(rising, context_tokens=4000) == {4: (20, 22.5, 30)}
    falling = [{"width": 4, "ms": 30.0, "context_tokens": 2000}, {"width": 4, "ms": 20.0, "context_tokens": 10000}]
    assert curve(falling, context_tokens=4000) == {4: (20, 27.5, 30)}
    assert curve(rising, context_tokens=10000) == {4: (30, 30, 30)}
    assert curve(rising) == {4: (20, 25, 30)}
    wide: list[dict[str, Any]] = [{"width": 4, "ms": {"low": 19, "high": 23}, "context_tokens": 2000}, rising[1]]
    assert curve(wide, context_tokens=2000) == {4: (19, 21, 23)}
    assert curve(wide, context_tokens=6000) == {4: (19, 25.5, 30)}


def test_beyond_the_measured_contexts_nothing_is_known() -> None:
    points: list[dict[str, Any]] = [
        {"width": 4, "ms": 20.0, "context_tokens": 2000},
        {"width": 4, "ms": 30.0, "context_tokens": 10000},
    ]
    assert curve(points, context_tokens=20000) == {4: (30, 30, 30)}
    assert curve(points, context_tokens=20001) == {}
    assert curve(points, context_tokens=1000) == {4: (20, 20, 20)}
    assert curve(points, context_tokens=999) == {}
    # A width that was measured elsewhere stays out alone.
    mixed: list[dict[str, Any]] = [*points, {"width": 2, "ms": 15.0, "context_tokens": 100}, {"width": 8, "ms": 50.0}]
    assert set(curve(mixed, context_tokens=4000)) == {4, 8}


@pytest.mark.parametrize(("concurrency", "points"), [(None, 2), (1, 2), (2, 0), (16, 0)])
def test_a_bench_of_one_sequence_says_nothing_about_more(concurrency: int | None, points: int) -> None:
    one = case(workload={"concurrency": concurrency})
    read = facts(one, off__verify_widths=(2.0, 1.0), off__verify_ms=(28.05, 14.37))
    assert len(verify_curve(one, read)) == points
