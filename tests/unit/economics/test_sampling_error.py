"""Intervals of acceptance from counts: their coverage by simulation with fixed seeds, and their corners."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from specrules.economics import acceptance
from specrules.economics import sampling_error as errors

SIMULATED = 6000
TWO_SIDED_95 = 1.959963984540054


def play(p: Any, length: int, rounds: int, seed: int, runs: int = SIMULATED) -> Any:
    """Accepted tokens of every round of every run; `p` may differ by run."""
    rng = np.random.default_rng(seed)
    hits = rng.random((runs, rounds, length)) < np.reshape(p, (-1, 1, 1))
    return np.cumprod(hits, axis=2).sum(axis=2)


def share_inside(interval: Any, truth: Any) -> float:
    return float(((interval.low <= truth) & (truth <= interval.high)).mean())


def naive_wilson(accepted: Any, drafted: float) -> tuple[Any, Any]:
    """Wilson's 95 % interval as the textbook has it, on accepted / drafted."""
    share, z2 = accepted / drafted, TWO_SIDED_95**2
    centre = (share + z2 / (2 * drafted)) / (1 + z2 / drafted)
    half = TWO_SIDED_95 / (1 + z2 / drafted) * np.sqrt(share * (1 - share) / drafted + z2 / (4 * drafted**2))
    return centre - half, centre + half


@pytest.mark.parametrize(("length", "published"), [(1, 0.95), (2, 0.875), (3, 0.814), (5, 0.745), (7, 0.700)])
def test_wilson_on_accepted_over_drafted_covers_too_little_and_ours_does_not(length: int, published: float) -> None:
    p, rounds = 0.775, 200
    accepted = play(p, length, rounds, seed=length).sum(axis=1).astype(float)
    truth = acceptance.accepted_ratio(p, length)
    low, high = naive_wilson(accepted, float(rounds * length))
    # Published to .1 %, itself a simulation whose rounds per run are not stated: 2 points cover both.
    assert float(((low <= truth) & (truth <= high)).mean()) == pytest.approx(published, abs=0.02)
    drafted = float(rounds * length)
    assert share_inside(errors.ratio_interval(accepted, drafted, float(length)), truth) == pytest.approx(0.9, abs=0.015)
    wide = errors.ratio_interval(accepted, drafted, float(length), 0.95)
    assert share_inside(wide, truth) == pytest.approx(0.95, abs=0.015)


@pytest.mark.parametrize("length", [1, 3, 7])
@pytest.mark.parametrize("p", [0.5, 0.75, 0.9])
@pytest.mark.parametrize("rounds", [30, 120])
def test_wilson_on_outcomes_covers_what_it_says(length: int, p: float, rounds: int) -> None:
    found = play(p, length, rounds, seed=100 * length + rounds)
    accepted, rejected = found.sum(axis=1).astype(float), (found < length).sum(axis=1).astype(float)
    # One trial per round at K = 1: coverage of a lattice of 30 values jumps by several points around its mean.
    slack = 0.04 if length == 1 else 0.02
    assert share_inside(errors.outcome_interval(accepted, rejected), p) == pytest.approx(0.9, abs=slack)
    assert share_inside(errors.outcome_interval(accepted, rejected, 0.95), p) == pytest.approx(0.95, abs=slack)


def test_the_posterior_agrees_with_the_interval() -> None:
    rng = np.random.default_rng(5)
    for accepted, rejected in [(30, 20), (310, 90), (60, 6)]:
        interval = errors.outcome_interval(accepted, rejected)
        drawn = np.quantile(rng.beta(*errors.outcome_posterior(accepted, rejected), 400_000), [0.05, 0.95])
        assert drawn == pytest.approx([interval.low, interval.high], abs=0.012)


def test_counts_of_rounds_cover_a_chain_that_decays() -> None:
    hazards = np.array([0.92, 0.8, 0.6, 0.4])
    rng = np.random.default_rng(8)
    found = np.cumprod(rng.random((2000, 150, 4)) < hazards, axis=2).sum(axis=2)
    truth = acceptance.tokens_from_positions(acceptance.positions_from_hazards(hazards))
    inside = 0
    for run in found:
        interval = errors.histogram_interval(np.bincount(run, minlength=5).astype(float))
        assert interval.mid == pytest.approx(1 + run.mean())
        inside += int(interval.low <= truth <= interval.high)
    assert inside / len(found) == pytest.approx(0.9, abs=0.02)


def test_equal_rounds_still_leave_an_interval() -> None:
    interval = errors.histogram_interval([0, 0, 0, 40])
    assert interval.low < interval.mid == interval.high == 4.0
    assert errors.outcome_interval(0, 40).high > 0 == errors.outcome_interval(0, 40).low
    full = errors.ratio_interval(120, 120, 3)
    assert full.low < 1 == full.high == full.mid


def heterogeneous(requests: int, seed: int, runs: int = 1500) -> tuple[Any, float]:
    """A of each request of each run, p differing between requests by .12, and the true mean A at K = 3."""
    rng = np.random.default_rng(seed)
    p = np.clip(rng.normal(0.7, 0.12, runs * requests), 0.05, 0.98)
    tokens = 1 + play(p, 3, 60, seed + 1, runs * requests).mean(axis=1)
    many = np.clip(rng.normal(0.7, 0.12, 400_000), 0.05, 0.98)
    return tokens.reshape(runs, requests), float(np.asarray(acceptance.tokens_per_round(many, 3)).mean())


@pytest.mark.parametrize("requests", [8, 20])
def test_requests_that_differ_need_the_interval_over_requests(requests: int) -> None:
    tokens, truth = heterogeneous(requests, seed=requests)
    found = [errors.request_interval(list(run), confidence=0.95) for run in tokens]
    inside = [interval is not None and interval.low <= truth <= interval.high for interval in found]
    assert np.mean(inside) == pytest.approx(0.95, abs=0.02)
    # Pooled over all rounds the same data cover less than half: rounds of one request resemble each other.
    accepted = (tokens.mean(axis=1) - 1) * requests * 60
    low, high = naive_wilson(accepted, float(requests * 180))
    naive = float(((low <= (truth - 1) / 3) & ((truth - 1) / 3 <= high)).mean())
    assert naive == pytest.approx(0.32, abs=0.05)  # published: 29 to 34 %
    pooled = errors.ratio_interval(accepted, float(requests * 180), 3.0, 0.95)
    assert share_inside(pooled, (truth - 1) / 3) < 0.55


def test_seven_requests_are_not_enough() -> None:
    assert errors.request_interval([2.0, 2.2, 1.9, 2.1, 2.4, 2.0, 2.3]) is None
    assert errors.request_interval([2.0, 2.2, 1.9, 2.1, 2.4, 2.0, 2.3, 2.1]) is not None


def test_request_interval_by_hand() -> None:
    # Mean 2, standard deviation sqrt(8/7 * 0.04) and t(.95, 7) = 1.894579.
    interval = errors.request_interval([1.8, 2.2] * 4)
    assert interval is not None
    assert interval.mid == pytest.approx(2.0)
    assert interval.high - 2.0 == pytest.approx(1.894579 * (8 / 7 * 0.04) ** 0.5 / 8**0.5, rel=1e-6)
    assert 2.0 - interval.low == pytest.approx(interval.high - 2.0)


def test_rounds_weigh_the_requests() -> None:
    tokens, rounds = [1.5] * 7 + [3.0], [100.0] * 7 + [1400.0]
    interval = errors.request_interval(tokens, rounds)
    assert interval is not None
    assert interval.mid == pytest.approx((7 * 150 + 4200) / 2100)
    equal = errors.request_interval(tokens, [30.0] * 8)
    assert equal == errors.request_interval(tokens)


def test_a_request_interval_never_reaches_below_one_token() -> None:
    interval = errors.request_interval([1.0] * 7 + [2.0])
    assert interval is not None
    assert interval.low == 1.0 < interval.mid


@pytest.mark.parametrize(
    ("p", "length", "published"),
    [(0.775, 2, 1.6), (0.775, 3, 2.1), (0.775, 5, 3.0), (0.775, 7, 3.7), (0.775, 15, 5.0), (0.9, 15, 7.8)],
)
def test_design_effects_as_published(p: float, length: int, published: float) -> None:
    assert errors.design_effect(p, length) == pytest.approx(published, abs=0.05)  # printed to one decimal


@pytest.mark.parametrize("length", [1, 2, 3, 7, 16])
def test_design_effect_at_its_limits(length: int) -> None:
    assert errors.design_effect(0.0, length) == pytest.approx(1, abs=1e-5)
    assert errors.design_effect(1.0, length) == pytest.approx((2 * length + 1) / 3, rel=1e-4)


def test_design_effect_is_the_variance_of_played_rounds() -> None:
    found = play(0.6, 4, 200_000, seed=2, runs=1)[0]
    ratio = found.mean() / 4
    assert found.var() / (4 * ratio * (1 - ratio)) == pytest.approx(errors.design_effect(0.6, 4), rel=0.01)
    assert errors.design_effect(0.6, 3.4) == errors.design_effect(0.6, 4)


def test_cluster_effect_as_published() -> None:
    assert errors.cluster_effect(60, 0.1) == pytest.approx(6.9)
    assert errors.cluster_effect(1, 0.5) == 1.0


# Student's t as tables print it.
@pytest.mark.parametrize(
    ("share", "degrees", "printed"),
    [
        (0.95, 1, 6.314),
        (0.975, 1, 12.706),
        (0.95, 2, 2.920),
        (0.95, 7, 1.895),
        (0.975, 7, 2.365),
        (0.975, 8, 2.306),
        (0.95, 30, 1.697),
        (0.975, 120, 1.980),
    ],
)
def test_student_quantiles(share: float, degrees: int, printed: float) -> None:
    assert errors.student_quantile(share, degrees) == pytest.approx(printed, abs=5e-4)


def test_many_at_once_are_the_same_as_one_by_one() -> None:
    accepted, rejected = np.array([10.0, 50.0, 0.0]), np.array([5.0, 0.0, 7.0])
    together = errors.outcome_interval(accepted, rejected)
    for index in range(3):
        alone = errors.outcome_interval(float(accepted[index]), float(rejected[index]))
        assert (alone.low, alone.mid, alone.high) == pytest.approx(
            (together.low[index], together.mid[index], together.high[index])
        )


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: errors.outcome_interval(0, 0),
        lambda: errors.outcome_interval(-1, 3),
        lambda: errors.outcome_interval(5, 3, 1.0),
        lambda: errors.ratio_interval(11, 10, 3),
        lambda: errors.ratio_interval(0, 0, 3),
        lambda: errors.request_interval([0.5] * 8),
        lambda: errors.request_interval([2.0] * 8, [10.0] * 7),
        lambda: errors.request_interval([2.0] * 8, [0.0] * 8),
        lambda: errors.request_interval([[2.0] * 8]),  # type: ignore[list-item]
        lambda: errors.histogram_interval([0, 0]),
        lambda: errors.histogram_interval([float("nan"), 1]),
        lambda: errors.student_quantile(0.4, 7),
        lambda: errors.student_quantile(0.95, 0),
        lambda: errors.cluster_effect(0, 0.1),
    ],
)
def test_what_no_counter_can_hold_is_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match="must"):
        wrong()
