from __future__ import annotations

import math

import numpy as np
import pytest

from specrules.economics import acceptance


def test_tokens_and_ratio_at_the_ends_of_the_range() -> None:
    for length in (1, 3, 2.5, 0.4, 100, 100.5):
        assert acceptance.tokens_per_round(0, length) == 1
        assert acceptance.tokens_per_round(1, length) == length + 1
        assert acceptance.accepted_ratio(0, length) == 0
        assert acceptance.accepted_ratio(1, length) == 1


def test_tokens_beside_one_do_not_cancel() -> None:
    # 1 + p + p^2 + p^3 with p = 1 - e is 4 - 6 e to first order; the textbook quotient loses all digits here.
    near = 1 - 1e-13
    for length in (3, 3 + 1e-9):
        assert 4 - acceptance.tokens_per_round(near, length) == pytest.approx(
            6e-13, rel=0.02, abs=1.1e-9 * (length != 3)
        )
    assert acceptance.tokens_per_round(1 - 1e-9, 2.5) == pytest.approx(3.5, rel=1e-8)


def test_horner_and_the_sum_of_powers_agree_exactly() -> None:
    assert acceptance.tokens_per_round(0.5, 3) == 1 + 0.5 + 0.25 + 0.125
    assert acceptance.accepted_ratio(0.5, 2) == 0.375


def test_a_length_that_is_no_whole_number_is_not_rounded() -> None:
    found = acceptance.tokens_per_round(0.5, 2.5)
    assert found == pytest.approx((1 - 0.5**3.5) / 0.5, rel=1e-14)
    assert acceptance.tokens_per_round(0.5, 2) < found < acceptance.tokens_per_round(0.5, 3)


def test_a_ratio_below_rounding_survives() -> None:
    assert acceptance.accepted_ratio(1e-18, 2) == pytest.approx(5e-19, rel=1e-12)


def test_conditional_from_tokens_is_nan_outside_its_range() -> None:
    assert acceptance.conditional_from_tokens(1, 3) == 0
    assert acceptance.conditional_from_tokens(4, 3) == 1
    assert math.isnan(acceptance.conditional_from_tokens(0.99, 3))
    assert math.isnan(acceptance.conditional_from_tokens(4.01, 3))
    found = acceptance.conditional_from_tokens(np.array([0.5, 2.176, 5.0]), 3)
    np.testing.assert_allclose(found, [np.nan, 0.6, np.nan], rtol=1e-12)


def test_counts_and_ratios() -> None:
    assert acceptance.tokens_from_counts(10, 43) == pytest.approx(1 + 10 / 43)
    assert acceptance.tokens_from_ratio(0.41, 7) == pytest.approx(3.87)
    assert acceptance.ratio_from_tokens(3.87, 7) == pytest.approx(0.41)
    assert acceptance.conditional_from_outcomes(30, 10) == 0.75
    # llama.cpp "0.76 (125 accepted / 165 generated)" at K = 3.
    assert acceptance.tokens_from_ratio(125 / 165, 3) == pytest.approx(3.27, abs=0.005)
    assert acceptance.conditional_from_ratio(125 / 165, 3) == pytest.approx(0.8675, abs=5e-5)


def test_tokens_over_all_steps_leave_out_the_first_token() -> None:
    assert acceptance.tokens_over_all_steps(63, 29) == pytest.approx(62 / 33)
    assert acceptance.tokens_over_all_steps(63, 0) == 1
    with pytest.raises(ValueError, match="steps must be above 0"):
        acceptance.tokens_over_all_steps(63, 62)


@pytest.mark.parametrize(
    ("measured", "length", "expected"),
    [
        (7, 7, 0),
        (7, 3.5, 0.05),
        (3, 6, 0.05),
        (3, 2, 0.05),
        (3, 7, 0.08),
        (4, 1, 0.08),
        (1, 4, 0.08),
        (8, 1.9, 0.15),
        (1, 16, 0.15),
    ],
)
def test_extrapolation_half_width(measured: float, length: float, expected: float) -> None:
    assert acceptance.extrapolation_half_width(measured, length) == expected
    assert acceptance.extrapolation_half_width(length, measured) == expected


class TestPositions:
    def test_every_smaller_depth_is_exact(self) -> None:
        vector = [0.7, 0.5, 0.2]
        assert acceptance.tokens_from_positions(vector) == pytest.approx(2.4)
        assert acceptance.tokens_from_positions(vector, 2) == pytest.approx(2.2)
        assert acceptance.tokens_from_positions(vector, 1) == pytest.approx(1.7)

    def test_an_anchor_is_counted_once(self) -> None:
        assert acceptance.tokens_from_positions([1.0, 0.7, 0.5], anchor=True) == pytest.approx(2.2)
        assert acceptance.tokens_from_positions([1.0, 0.7, 0.5], 1, anchor=True) == pytest.approx(1.7)
        with pytest.raises(ValueError, match="whole number from 1 to 2"):
            acceptance.tokens_from_positions([1.0, 0.7, 0.5], 3, anchor=True)

    def test_stacks_run_along_the_last_axis(self) -> None:
        stack = np.array([[0.7, 0.5, 0.2], [0.4, 0.1, 0.0]])
        np.testing.assert_allclose(acceptance.tokens_from_positions(stack, 2), [2.2, 1.5])
        np.testing.assert_allclose(acceptance.positions_from_histogram(np.array([[1, 1], [3, 1]])), [[0.5], [0.25]])

    @pytest.mark.parametrize(
        ("vector", "length", "message"),
        [
            ([0.5, 0.6], None, "must not increase"),
            ([1.2], None, "between 0 and 1"),
            ([], None, "at least one entry"),
            ([0.5, math.nan], None, "finite"),
            ([0.5, 0.4], 3, "whole number from 1 to 2"),
            ([0.5, 0.4], 0, "whole number from 1 to 2"),
            ([0.5, 0.4], 1.5, "whole number from 1 to 2"),
        ],
    )
    def test_refusals(self, vector: list[float], length: int | None, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            acceptance.tokens_from_positions(vector, length)

    def test_hazards(self) -> None:
        np.testing.assert_allclose(acceptance.positions_from_hazards([0.8, 0.5]), [0.8, 0.4])
        np.testing.assert_allclose(acceptance.hazards_from_positions([0.8, 0.4, 0.0, 0.0]), [0.8, 0.5, 0.0, np.nan])

    def test_histogram(self) -> None:
        np.testing.assert_allclose(acceptance.positions_from_histogram([39, 1, 0, 3]), [4 / 43, 3 / 43, 3 / 43])
        assert acceptance.tokens_from_histogram([39, 1, 0, 3], 1) == pytest.approx(1 + 4 / 43)
        for counts, message in (([0, 0], "rounds must be above 0"), ([5], "one entry"), ([1, -1], "negative")):
            with pytest.raises(ValueError, match=message):
                acceptance.tokens_from_histogram(counts)


def test_the_inverse_against_bisection_to_the_last_digit() -> None:
    near_one = [1 - 10.0**-power for power in (1, 2, 4, 6, 9, 12, 15)]
    ratios = np.array([1e-12, 1e-6, 1e-3, 0.01, 0.1, 0.3, 0.5, 0.7, *near_one])
    lengths = np.array([0.05, 0.3, 0.9, 1, 1.0001, 1.5, 2, 2.6, 3, 7, 16, 64, 100, 1000])
    ratio, length = (grid.ravel() for grid in np.meshgrid(ratios, lengths))
    low, high = np.zeros_like(ratio), np.ones_like(ratio)
    for _ in range(52):
        middle = (low + high) / 2
        short = middle * np.expm1(length * np.log(middle)) / np.expm1(np.log(middle)) < ratio * length
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    np.testing.assert_allclose(acceptance.conditional_from_ratio(ratio, length), low, rtol=0, atol=2e-15)


@pytest.mark.parametrize("length", [0.4, 1, 1.5, 3, 31.005756366003272, 64, 500.5])
def test_the_inverse_of_the_largest_ratio_below_one(length: float) -> None:
    next_below = math.nextafter(1, 0)
    for ratio in (next_below, 1 - 3e-16, 1 - 1e-14, 1 - 1e-13):
        assert 0 <= 1 - acceptance.conditional_from_ratio(ratio, length) <= 4 * (1 - ratio) / (length + 1) + 3e-16
