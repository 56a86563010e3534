from __future__ import annotations

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
