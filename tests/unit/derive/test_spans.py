from __future__ import annotations

import pytest

from specrules.derive.spans import (
    UNBOUNDED,
    Span,
    bounded,
    bounded_rate,
    corners,
    from_quantity,
    inverse,
    is_point,
    span_of,
    widened,
)
from specrules.model.fact import Fact
from specrules.model.quantity import Quantity


def test_an_end_that_nobody_stated_is_the_value() -> None:
    assert from_quantity(Quantity(value=3)) == Span(3, 3, 3)
    assert from_quantity(Quantity(value=3, high=4)) == Span(3, 3, 4)
    assert span_of(Fact(name="x", value=3.0, low=2.5)) == Span(2.5, 3, 3)


def test_only_a_known_number_has_a_span() -> None:
    assert span_of(None) is None
    assert span_of(Fact(name="x", value=True)) is None
    assert span_of(Fact(name="x", value="three")) is None


def test_an_error_is_given_to_points_only() -> None:
    assert widened(Span.exact(100.0), 0.03) == Span(97, 100, 103)
    assert widened(Span(99.0, 100.0, 103.0), 0.03) == Span(99, 100, 103)
    assert is_point(Span.exact(1.0))
    assert not is_point(Span(1.0, 1.0, 1.1))


def test_the_inverse_of_a_span_turns_its_ends() -> None:
    assert inverse(Span(20.0, 25.0, 40.0), 1000) == Span(25, 40, 50)


@pytest.mark.parametrize(
    ("value", "shown"), [(UNBOUNDED, None), (-UNBOUNDED, None), (1e6, 1e6), (None, None), (0.0, 0.0)]
)
def test_what_an_unknown_end_drives_up_is_unknown(value: float | None, shown: float | None) -> None:
    assert bounded(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"), [(1 / UNBOUNDED, None), (-3.0, None), (0.4, 0.4), (2e9, None), (None, None)]
)
def test_a_rate_that_an_unknown_end_drives_to_nothing_is_unknown(value: float | None, shown: float | None) -> None:
    assert bounded_rate(value) == shown


def test_corners_leave_points_alone() -> None:
    spans = {"a": Span(1.0, 2.0, 3.0), "b": Span.exact(5.0), "c": Span(0.0, 0.0, 9.0)}
    assert corners(spans) == [{"a": 1, "c": 0}, {"a": 1, "c": 9}, {"a": 3, "c": 0}, {"a": 3, "c": 9}]
    assert corners({"b": Span.exact(5.0)}) == [{}]
