from __future__ import annotations

import math
from dataclasses import astuple

import numpy as np
import pytest

from specrules.economics import acceptance, break_even, rounds
from specrules.economics.interval import Interval, corners


def test_ends_out_of_order_are_refused() -> None:
    for low, mid, high in ((2.0, 1.0, 3.0), (1.0, 4.0, 3.0), (3.0, math.nan, 1.0)):
        with pytest.raises(ValueError, match="out of order"):
            Interval(low, mid, high)
    with pytest.raises(ValueError, match="out of order"):
        Interval(np.array([1.0, 2.0]), np.array([1.0, 1.0]), np.array([1.0, 3.0]))


def test_an_unknown_end_is_nan() -> None:
    assert Interval.exact(3.0).known
    assert not Interval(3.0, math.nan, math.nan).known
    assert not Interval(np.array([1.0]), np.array([1.0]), np.array([math.nan])).known


def test_item_makes_plain_numbers() -> None:
    found = Interval(np.array(1.0), np.array([2.0]), np.float64(3)).item()
    assert found == Interval(1.0, 2.0, 3.0)
    assert {type(part) for part in (found.low, found.mid, found.high)} == {float}


def test_map_keeps_the_possible_end_of_a_break_even() -> None:
    found = Interval(2.5, 2.9, 3.5).map(lambda tokens: break_even.break_even_conditional(tokens, 2))
    assert found.low == pytest.approx(acceptance.conditional_from_tokens(2.5, 2))
    assert found.mid == pytest.approx(acceptance.conditional_from_tokens(2.9, 2))
    assert math.isnan(found.high)


def test_map_through_a_falling_function_swaps_the_ends() -> None:
    found = Interval(100.0, 110.0, 125.0).map(lambda round_ms: rounds.rate(2.2, round_ms), decreasing=True)
    assert astuple(found) == pytest.approx((17.6, 20.0, 22.0))


def test_corners_of_a_round_and_a_rate() -> None:
    draft, verify_time = Interval(30.0, 36.0, 40.0), Interval(67.0, 73.7, 80.0)
    found = corners(rounds.round_time, overhead=1.0, draft_time=draft, verify_time=verify_time)
    assert astuple(found) == pytest.approx((98.0, 110.7, 121.0))
    tokens = Interval(2.0, 2.2, 2.5)
    speed = corners(rounds.rate, tokens_per_round=tokens, round_ms=found)
    assert (speed.low, speed.high) == (pytest.approx(2000 / 121), pytest.approx(2500 / 98))
    assert type(speed.low) is float


def test_corners_without_an_interval_is_exact() -> None:
    assert corners(rounds.rate, tokens_per_round=2.0, round_ms=100.0) == Interval.exact(20.0)


def test_corners_over_arrays() -> None:
    found = corners(rounds.rate, tokens_per_round=np.array([2.0, 3.0]), round_ms=Interval(100.0, 110.0, 125.0))
    np.testing.assert_allclose(found.low, [16, 24])
    np.testing.assert_allclose(found.high, [20, 30])


def test_corners_pair_a_falling_and_a_rising_argument() -> None:
    # The rate with coverage: rises with A, falls with the round, and with t1 wherever some rounds draft nothing.
    found = corners(
        rounds.covered_rate,
        coverage=0.5,
        tokens_per_round=Interval(2.0, 2.5, 3.0),
        round_ms=Interval(80.0, 90.0, 100.0),
        target_step=Interval(60.0, 65.0, 70.0),
    )
    assert found.low == pytest.approx(rounds.covered_rate(0.5, 2.0, 100, 70))
    assert found.high == pytest.approx(rounds.covered_rate(0.5, 3.0, 80, 60))


def test_a_corner_without_a_value_makes_both_ends_unknown() -> None:
    found = corners(break_even.break_even_conditional, tokens_needed=Interval(2.0, 2.5, 3.5), draft_length=2.0)
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    assert found.mid == pytest.approx(acceptance.conditional_from_tokens(2.5, 2))


def test_an_unknown_end_cannot_enter_a_function() -> None:
    with pytest.raises(ValueError, match="verify_time must be a finite number"):
        corners(rounds.round_time, overhead=0.0, draft_time=36.0, verify_time=Interval(80.0, math.nan, math.nan))
