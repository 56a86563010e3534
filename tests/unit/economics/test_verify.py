from __future__ import annotations

import math
from dataclasses import astuple

import numpy as np
import pytest

from specrules.economics import verify
from specrules.economics.interval import Interval

WIDTHS = [1, 2, 3, 5, 8]
TIMES = [8.47, 13.49, 15.64, 20.67, 28.13]


@pytest.mark.parametrize(("length", "width"), [(1, 2), (3, 4), (7, 8), (2.5, 3.5)])
def test_the_width_is_the_draft_length_and_one(length: float, width: float) -> None:
    assert verify.verify_width(length) == width


class TestCurve:
    def test_exact_where_it_was_measured(self) -> None:
        for width, time in zip(WIDTHS, TIMES, strict=True):
            assert verify.verify_from_curve(width, WIDTHS, TIMES) == Interval.exact(time)

    def test_between_two_widths_it_is_their_interval(self) -> None:
        assert astuple(verify.verify_from_curve(4, WIDTHS, TIMES)) == pytest.approx((15.64, 18.155, 20.67))
        found = verify.verify_from_curve(7, WIDTHS, TIMES)
        assert astuple(found) == pytest.approx((20.67, 20.67 + 7.46 * 2 / 3, 28.13))
        assert astuple(verify.verify_from_curve(2.5, WIDTHS, TIMES)) == pytest.approx((13.49, 14.565, 15.64))

    def test_beyond_the_last_width_only_a_floor_is_known(self) -> None:
        found = verify.verify_from_curve(9, WIDTHS, TIMES)
        assert found.low == 28.13
        assert math.isnan(found.mid)
        assert math.isnan(found.high)

    def test_below_the_first_width_only_a_ceiling_is_known(self) -> None:
        found = verify.verify_from_curve(1, WIDTHS[1:], TIMES[1:])
        assert math.isnan(found.low)
        assert math.isnan(found.mid)
        assert found.high == 13.49

    def test_a_curve_that_dips_keeps_its_hull(self) -> None:
        assert astuple(verify.verify_from_curve(3, [2, 4], [17.9, 15.0])) == pytest.approx((15.0, 16.45, 17.9))

    def test_order_does_not_matter_and_arrays_pass_through(self) -> None:
        found = verify.verify_from_curve(np.array([1.0, 4.0, 9.0]), WIDTHS[::-1], TIMES[::-1])
        np.testing.assert_allclose(found.low, [8.47, 15.64, 28.13])
        np.testing.assert_allclose(found.mid, [8.47, 18.155, math.nan])
        np.testing.assert_allclose(found.high, [8.47, 20.67, math.nan])

    @pytest.mark.parametrize(
        ("width", "widths", "times", "message"),
        [
            (3, [1, 1], [5, 6], "must not repeat"),
            (3, [1, 2], [5], "same length"),
            (3, [], [], "same length"),
            (3, [0, 2], [5, 6], "widths must be at least 1"),
            (3, [1, 2], [5, 0], "times must be above 0"),
            (3, [1, 2], [5, math.nan], "finite"),
            (0, [1, 2], [5, 6], "width must be at least 1"),
        ],
    )
    def test_refusals(self, width: float, widths: list[float], times: list[float], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            verify.verify_from_curve(width, widths, times)


def test_a_run_predicts_its_own_round_and_others_on_the_line() -> None:
    slope = verify.round_slope(3, 100.0, 67.0)
    assert slope == pytest.approx((100 / 67 - 1) / 3)
    assert verify.round_from_slope(3, 67.0, slope) == pytest.approx(100)
    assert verify.round_from_slope(6, 67.0, slope) == pytest.approx(133)


def test_a_round_shorter_than_a_step_gives_a_negative_slope_and_no_prediction() -> None:
    slope = verify.round_slope(2, 24.9, 27.4)
    assert slope < 0
    with pytest.raises(ValueError, match="slope must not be negative"):
        verify.round_from_slope(6, 27.4, slope)


def test_the_verify_slope_is_taken_at_the_depth_and_not_at_the_width() -> None:
    # NemotronH: K = 1 is a pass over two rows, 13.49 of 8.47 ms.
    slope = verify.verify_slope(1, 13.49, 8.47)
    assert slope == pytest.approx(0.5927, abs=5e-5)
    assert verify.verify_from_slope(1, 8.47, slope) == pytest.approx(13.49)


def test_block_rounds_lie_between_the_slope_and_a_constant() -> None:
    assert verify.block_round_from_run(7, 7, 100.0, 60.0) == Interval.exact(100.0)
    deeper = verify.block_round_from_run(14, 7, 100.0, 60.0)
    shallower = verify.block_round_from_run(3, 7, 100.0, 60.0)
    assert deeper == Interval(100.0, 120.0, 140.0)
    assert astuple(shallower) == pytest.approx((60 + 3 * 40 / 7, 80 + 60 / 7, 100.0))


def test_two_runs_make_a_line() -> None:
    assert verify.round_from_runs(1, 1, 98.7, 7, 263.0) == 98.7
    assert verify.round_from_runs(7, 1, 98.7, 7, 263.0) == pytest.approx(263)
    with pytest.raises(ValueError, match="predicted_round must be above 0"):
        verify.round_from_runs(9, 1, 100.0, 2, 50.0)


def test_the_floor_needs_a_width_of_at_least_the_incumbents() -> None:
    assert verify.verify_floor(4, 66.8, 3, 0.0) == 66.8
    assert verify.verify_floor(4, 66.8, 3, 0.15) == pytest.approx(66.8 / 1.15)
    assert math.isnan(verify.verify_floor(3, 66.8, 3, 0.15))


def test_the_step_of_an_incumbent_that_drafts() -> None:
    found = verify.target_step_from_round(66.8, 1.05, 0.15)
    assert found.low == pytest.approx(66.8 / (1.15 * 1.05))
    assert found.high == 66.8
    assert found.low < found.mid < found.high


def test_the_seeds_constant() -> None:
    assert verify.constant_verify_time(67) == pytest.approx(73.7)
