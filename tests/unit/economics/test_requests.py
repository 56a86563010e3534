"""Quotients over requests: exact numbers, and how often their intervals hold what they should."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specrules.economics.requests import looked_at, paired_ratio, quotient_interval
from specrules.economics.sampling_error import student_quantile


def test_a_quotient_of_sums_and_its_spread():
    above, below = [10.0, 12.0, 11.0, 9.0, 10.0, 12.0, 11.0, 9.0], [1.0] * 8
    found = quotient_interval(above, below)
    assert found.mid == pytest.approx(10.5)
    half = student_quantile(0.95, 7) * np.std(above, ddof=1) / math.sqrt(8)
    assert (found.low, found.high) == (pytest.approx(10.5 - half), pytest.approx(10.5 + half))


def test_long_requests_weigh_more():
    found = quotient_interval([100.0, *[10.0] * 7], [5.0, *[1.0] * 7])
    assert found.mid == pytest.approx(170 / 12)


@pytest.mark.parametrize("count", [1, 7])
def test_few_requests_have_no_interval(count):
    assert quotient_interval([1.0] * count, [1.0] * count) is None
    assert paired_ratio([1.0] * count, [1.0] * count) is None


@pytest.mark.parametrize("bad", [([1.0] * 8, [0.0] * 8), ([1.0] * 8, [1.0] * 9), ([[1.0]] * 8, [[1.0]] * 8)])
def test_what_is_no_list_of_requests(bad):
    with pytest.raises(ValueError, match=r"must be above 0|same length"):
        quotient_interval(*bad)


def test_pairs_cancel_what_makes_a_prompt_slow():
    slow = np.array([1.0, 2.0, 4.0, 8.0, 1.0, 2.0, 4.0, 8.0])
    found = paired_ratio(1.2 * slow, slow)
    assert (found.low, found.mid, found.high) == (pytest.approx(1.2), pytest.approx(1.2), pytest.approx(1.2))
    apart = quotient_interval(1.2 * slow, np.ones(8))
    assert apart.high / apart.low > 2


@given(st.floats(0.2, 5.0), st.lists(st.floats(0.5, 2.0), min_size=8, max_size=20))
def test_a_ratio_turned_round_is_its_inverse(factor, rates):
    one = paired_ratio([factor * rate for rate in rates], [1.0] * len(rates))
    other = paired_ratio([1.0] * len(rates), [factor * rate for rate in rates])
    assert one.low == pytest.approx(1 / other.high, rel=1e-9)


def test_intervals_hold_the_truth_as_often_as_they_say():
    rng = np.random.default_rng(7)
    held = 0
    for _ in range(2000):
        rounds = rng.integers(20, 60, 12).astype(float)
        accepted = rounds * np.clip(rng.normal(1.8, 0.35, 12), 0, 3)
        found = quotient_interval(accepted, rounds)
        held += found.low <= 1.8 <= found.high
    assert 0.87 <= held / 2000 <= 0.92


def test_several_looks_together_keep_the_confidence():
    rng = np.random.default_rng(11)
    confidence, points, wrong = looked_at(0.9, 5), (8, 12, 16, 20, 24), 0
    for _ in range(1500):
        logs = rng.normal(0.0, 0.2, 24)
        wrong += any(
            not (found := paired_ratio(np.exp(logs[:count]), np.ones(count), confidence=confidence)).low
            <= 1
            <= found.high
            for count in points
        )
    assert wrong / 1500 <= 0.115
    naive = looked_at(0.9, 1)
    assert naive == pytest.approx(0.9, abs=1e-3)


@pytest.mark.parametrize(
    ("confidence", "looks", "each"), [(0.9, 2, 0.9392), (0.9, 5, 0.9662), (0.9, 20, 0.995), (0.95, 4, 0.9875)]
)
def test_the_confidence_of_one_look(confidence, looks, each):
    assert looked_at(confidence, looks) == pytest.approx(each, abs=2e-4)


@pytest.mark.parametrize("bad", [(0.9, 0), (0.0, 1), (1.0, 1)])
def test_no_look_is_none(bad):
    with pytest.raises(ValueError, match="at least one look"):
        looked_at(*bad)
