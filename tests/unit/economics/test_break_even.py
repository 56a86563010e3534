"""break_even and bounds. The worked example and the published tables have files of their own."""

from __future__ import annotations

import math

import numpy as np
import pytest

from specrules.economics import acceptance, bounds, break_even, rounds


def test_tokens_are_rate_times_round() -> None:
    assert break_even.break_even_tokens(25, 109.7) == pytest.approx(2.7425)
    assert break_even.break_even_from_synthetic_zero(25, 1000 / 109.7) == pytest.approx(2.7425)


def test_every_acceptance_pays_or_none() -> None:
    for needed in (0.3, 1.0):
        assert break_even.break_even_conditional(needed, 3) == 0
        assert break_even.break_even_ratio(needed, 3) == 0
        assert break_even.possible(needed, 3) is True
    assert break_even.break_even_conditional(4, 3) == 1
    assert break_even.break_even_ratio(4, 3) == 1
    for needed in (4.001, 40):
        assert math.isnan(break_even.break_even_conditional(needed, 3))
        assert math.isnan(break_even.break_even_ratio(needed, 3))
        assert break_even.possible(needed, 3) is False


def test_the_limit_is_reached_in_spite_of_rounding() -> None:
    needed = break_even.break_even_tokens(30, 4 / 30 * 1000 * (1 + 1e-15))
    assert break_even.possible(needed, 3)
    assert break_even.break_even_ratio(needed, 3) == 1
    assert break_even.break_even_conditional(needed, 3) == 1


def test_never_better_than_off_from_as_many_steps_as_tokens() -> None:
    assert break_even.never_beats_off(200, 1, 100) is True
    assert break_even.never_beats_off(199.9, 1, 100) is False
    np.testing.assert_array_equal(
        break_even.never_beats_off(350.0, np.array([1.0, 2.0, 3.0]), 100.0), [True, True, False]
    )


class TestBestDraftLength:
    def test_the_smallest_break_even(self) -> None:
        assert break_even.best_draft_length([1, 2, 3], [1.9, 2.0, 3.2]) == 2

    def test_an_impossible_depth_is_passed_over(self) -> None:
        assert break_even.best_draft_length([1, 2, 3], [2.1, 2.9, 3.9]) == 2
        assert break_even.best_draft_length([3, 1, 2], [3.9, 2.1, 3.1]) == 3

    def test_none_where_no_depth_is_possible(self) -> None:
        assert break_even.best_draft_length([1, 2], [2.1, 3.1]) is None

    def test_the_smaller_depth_among_equals(self) -> None:
        assert break_even.best_draft_length([4, 2, 3], [0.9, 0.8, 0.7]) == 2

    def test_refusals(self) -> None:
        with pytest.raises(ValueError, match="draft_length must be above 0"):
            break_even.best_draft_length([0, 1], [1.5, 1.5])
        with pytest.raises(ValueError, match="tokens_needed must be a finite number"):
            break_even.best_draft_length([1, 2], [1.5, math.nan])


def test_if_one_depth_pays_depth_one_need_not() -> None:
    # A pass that costs 1.5 steps at any width: K = 1 cannot reach the incumbent, K = 4 can.
    lengths = np.arange(1, 9)
    needed = np.full(8, 2.2)
    conditional = break_even.break_even_conditional(needed, lengths)
    assert math.isnan(conditional[0])
    assert conditional[3] < 0.6


def test_the_compute_bound_forms() -> None:
    assert break_even.seed_compute_bound(1e9, 8e9, 4) == pytest.approx(1 + 1 / 32)
    assert break_even.compute_bound(1e9, 8e9) == pytest.approx(1.125)
    assert break_even.seed_compute_bound(1e9, 8e9, 1) == break_even.compute_bound(1e9, 8e9)


def test_no_acceptance_pays_in_the_compute_bound_limit() -> None:
    # K drafted tokens cost K P_d and a pass over K + 1 rows (K + 1) P_t: more than the tokens are worth at p = 1.
    for length in (1, 4, 16):
        round_cost = rounds.round_time(0, length * 0.1, length + 1)
        needed = break_even.break_even_tokens(1000, round_cost)
        assert needed > acceptance.tokens_per_round(1, length)
        assert (round_cost - 1) / length == pytest.approx(break_even.compute_bound(0.1, 1))


class TestBounds:
    def test_the_commit_bound_and_its_tolerance(self) -> None:
        assert bounds.least_tokens(25, 67) == pytest.approx(1.675)
        assert bounds.within_commit_bound(25, 67, 1.675) is True
        assert bounds.within_commit_bound(25, 67, 1.675 / 1.029) is True
        assert bounds.within_commit_bound(25, 67, 1.675 / 1.031) is False
        assert bounds.within_commit_bound(25, 67, 1.675 / 1.031, 0.05) is True
        assert bounds.within_commit_bound(25, 67, 1.675 / 1.001, 0) is False

    def test_no_round_beats_the_ceiling(self) -> None:
        ceiling = bounds.rate_ceiling(2.2, 2, 36, 67)
        assert ceiling == pytest.approx(2200 / 105)
        assert rounds.rate(2.2, rounds.round_time(2, 36, 67)) == pytest.approx(ceiling)
        assert rounds.rate(2.2, rounds.round_time(2, 36, 67.1)) < ceiling
