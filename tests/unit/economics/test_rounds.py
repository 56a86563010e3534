from __future__ import annotations

import math
from dataclasses import astuple

import numpy as np
import pytest

from specrules.economics import rounds
from specrules.economics.interval import Interval


def test_passes_of_each_kind_of_drafter() -> None:
    assert rounds.draft_passes("sequential", 7) == 7
    assert rounds.draft_passes("block", 7) == 1
    assert rounds.draft_passes("lookup", 7) == 0
    np.testing.assert_array_equal(rounds.draft_passes("block", np.array([1.0, 7.0])), [1, 1])
    with pytest.raises(ValueError, match="drafting must be sequential, block or lookup, got 'magic'"):
        rounds.draft_passes("magic", 7)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="draft_length must be above 0"):
        rounds.draft_passes("block", 0)


def test_draft_time_of_each_kind() -> None:
    assert rounds.draft_time(rounds.draft_passes("sequential", 3), 12) == 36
    assert rounds.draft_time(rounds.draft_passes("sequential", 3), 12, 5) == 41
    assert rounds.draft_time(rounds.draft_passes("block", 15), 30.5, 2) == 32.5
    assert rounds.draft_time(rounds.draft_passes("lookup", 15), 12) == 0


def test_the_round_is_the_sum_of_its_parts() -> None:
    serial = rounds.round_time(2, 36, 73.7, rejected_share=0.784, restore_time=40)
    assert serial == pytest.approx(2 + 36 + 73.7 + 31.36)
    overlapped = rounds.round_time(2, 36, 73.7, rejected_share=0.784, restore_time=40, overlap=0.5, guess=0.1296)
    assert serial - overlapped == pytest.approx(0.5 * 0.1296 * 36)
    assert rounds.overlap_saving(36, 73.7, 0.5, 0.1296) == pytest.approx(0.5 * 0.1296 * 36)
    # A slow drafter is what the target's pass hides behind.
    assert rounds.overlap_saving(84, 73.7, 1, 0.5) == pytest.approx(36.85)


def test_rejections_and_guesses_for_a_constant_acceptance() -> None:
    assert rounds.rejected_share(0.6, 3) == pytest.approx(1 - 0.216)
    assert rounds.next_round_guess(0.6, 3) == pytest.approx(0.1296)
    assert (rounds.rejected_share(0, 3), rounds.rejected_share(1, 3)) == (1, 0)
    assert (rounds.next_round_guess(0, 3), rounds.next_round_guess(1, 3)) == (0, 1)


def test_the_guess_from_a_measured_vector_is_an_interval() -> None:
    assert astuple(rounds.next_round_guess_from_positions([0.8, 0.6])) == pytest.approx((0.0, 0.45, 0.6))
    assert astuple(rounds.next_round_guess_from_positions([0.8])) == pytest.approx((0.0, 0.64, 0.8))
    assert rounds.next_round_guess_from_positions([0.8, 0.0, 0.0]) == Interval(0.0, 0.0, 0.0)


def test_bounds_of_the_round() -> None:
    assert astuple(rounds.round_bounds(36, 73.7)) == pytest.approx((73.7, 109.7, 109.7))
    assert rounds.round_bounds(36, 73.7, overlap=1, guess=1).mid == pytest.approx(73.7)


def test_rate_and_round_are_inverse() -> None:
    assert rounds.rate(2.176, 109.7) == pytest.approx(19.836, abs=5e-4)
    assert rounds.round_from_rate(2.176, rounds.rate(2.176, 109.7)) == pytest.approx(109.7)


def test_coverage_mixes_means_and_not_rates() -> None:
    assert rounds.covered_rate(1, 2.2, 110, 67) == pytest.approx(20)
    assert rounds.covered_rate(0, 2.2, 110, 67) == pytest.approx(1000 / 67)
    assert rounds.covered_rate(0.25, 3, 100, 60) == pytest.approx(1000 * 1.5 / 70)


def test_request_time_counts_the_drafters_prefill() -> None:
    assert rounds.request_time(500, 0, 200, 20) == 10_500
    assert rounds.request_time(500, 120, 200, 20) - rounds.request_time(500, 0, 200, 20) == pytest.approx(120)


def test_speedup() -> None:
    assert rounds.speedup(43.5, 18.8) == pytest.approx(2.314, abs=5e-4)


def test_a_vector_that_is_no_vector_is_refused() -> None:
    with pytest.raises(ValueError, match="finite"):
        rounds.next_round_guess_from_positions([0.8, math.nan])
