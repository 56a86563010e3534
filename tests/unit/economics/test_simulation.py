"""The closed forms against simulations that play the rounds, with fixed seeds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from specrules.economics import acceptance, rounds

OVERHEAD, DRAFT, VERIFY, RESTORE, STEP = 3.0, 12.0, 73.7, 40.0, 60.0
ROUNDS = 120_000


def accepted_tokens(rng: np.random.Generator, hazards: Any, count: int) -> Any:
    """Draw how many drafted tokens each round accepts: the run of hits before the first miss."""
    hits = rng.random((count, len(hazards))) < np.asarray(hazards)
    return np.cumprod(hits, axis=1).sum(axis=1)


def play(hazards: list[float], coverage: float, seed: int) -> tuple[float, float, float]:
    """Play rounds of a serial engine; the rate, its standard error (ratio estimator) and the share of rejections."""
    rng = np.random.default_rng(seed)
    drafts = rng.random(ROUNDS) < coverage
    accepted = accepted_tokens(rng, hazards, ROUNDS)
    rejected = accepted < len(hazards)
    tokens = np.where(drafts, 1 + accepted, 1)
    spent = np.where(drafts, OVERHEAD + len(hazards) * DRAFT + VERIFY + RESTORE * rejected, STEP)
    rate = tokens.sum() / spent.sum()
    error = (tokens - rate * spent).std() / spent.mean() / ROUNDS**0.5
    return 1000 * rate, 1000 * error, rejected[drafts].mean()


@pytest.mark.parametrize("length", [1, 3, 7])
@pytest.mark.parametrize("p", [0.3, 0.6, 0.9])
@pytest.mark.parametrize("coverage", [1.0, 0.35])
def test_a_played_engine_runs_at_the_closed_rate(length: int, p: float, coverage: float) -> None:
    played, error, rejections = play([p] * length, coverage, seed=7 * length)
    share = rounds.rejected_share(p, length)
    assert rejections == pytest.approx(share, abs=4 * (share * (1 - share) / ROUNDS / coverage) ** 0.5)
    round_ms = rounds.round_time(
        OVERHEAD, rounds.draft_time(length, DRAFT), VERIFY, rejected_share=share, restore_time=RESTORE
    )
    tokens = acceptance.tokens_per_round(p, length)
    closed = rounds.covered_rate(coverage, tokens, round_ms, STEP)
    assert error < 0.003 * played
    assert played == pytest.approx(closed, abs=3 * error)
    if coverage == 1:
        assert closed == pytest.approx(rounds.rate(tokens, round_ms), rel=1e-12)
    else:
        # Averaging rates instead of taking the quotient of means is visibly wrong.
        mean_of_rates = coverage * rounds.rate(tokens, round_ms) + (1 - coverage) * rounds.rate(1, STEP)
        assert abs(played - mean_of_rates) > 3 * error


def test_a_played_engine_with_falling_hazards_matches_its_own_counts() -> None:
    hazards = [0.92, 0.85, 0.77, 0.62, 0.5]
    rng = np.random.default_rng(11)
    accepted = accepted_tokens(rng, hazards, ROUNDS)
    counts = np.bincount(accepted, minlength=len(hazards) + 1)
    from_counts = acceptance.tokens_from_counts(accepted.sum(), ROUNDS)
    assert acceptance.tokens_from_histogram(counts) == pytest.approx(from_counts, rel=1e-12)
    positions = acceptance.positions_from_hazards(hazards)
    assert from_counts == pytest.approx(
        acceptance.tokens_from_positions(positions), abs=3 * accepted.std() / ROUNDS**0.5
    )
    # A smaller depth is exact from the same histogram: cut every round at that depth and count again.
    for depth in range(1, len(hazards)):
        cut = 1 + np.minimum(accepted, depth).mean()
        assert acceptance.tokens_from_histogram(counts, depth) == pytest.approx(cut, rel=1e-12)
    # One p for all positions is not exact elsewhere: from depth 1 it overstates depth 5 of a chain that decays.
    assert acceptance.tokens_per_round(positions[0], 5) > 1.15 * from_counts


def test_outcomes_give_the_conditional_acceptance_back() -> None:
    p, length = 0.775, 7
    accepted = accepted_tokens(np.random.default_rng(3), [p] * length, ROUNDS)
    found = acceptance.conditional_from_outcomes(accepted.sum(), (accepted < length).sum())
    trials = accepted.sum() + (accepted < length).sum()
    assert found == pytest.approx(p, abs=3 * (p * (1 - p) / trials) ** 0.5)


def two_workers(p: float, length: int, draft: float, verify: float, count: int) -> float:
    """Mean round of a drafter and a target on separate memory systems, event by event.

    While the target verifies a round the drafter drafts the next one on the guess that everything is accepted, bonus
    token included. A wrong guess is thrown away and the drafter starts when the verification ends.
    """
    rng = np.random.default_rng(1)
    guessed = (rng.random((count, length + 1)) < p).all(axis=1)
    ready = target_free = draft
    for right in guessed.tolist():
        start = max(ready, target_free)
        target_free = start + verify
        ready = start + draft if right else target_free + draft
    return (max(ready, target_free) - draft) / count


@pytest.mark.parametrize("length", [1, 3, 7])
@pytest.mark.parametrize("p", [0.4, 0.6, 0.75, 0.9])
def test_overlap_saves_what_two_workers_save(p: float, length: int) -> None:
    draft = rounds.draft_time(length, DRAFT)
    closed = rounds.round_time(0, draft, VERIFY, overlap=1, guess=rounds.next_round_guess(p, length))
    assert two_workers(p, length, draft, VERIFY, 100_000) == pytest.approx(closed, rel=2e-3)


@pytest.mark.parametrize(
    ("p", "length", "expected"),
    [(0.4, 3, 108.78), (0.6, 3, 105.03), (0.75, 3, 98.31), (0.9, 3, 86.08), (0.6, 7, 156.46), (0.9, 7, 125.97)],
)
def test_overlap_is_worth_little_at_low_acceptance(p: float, length: int, expected: float) -> None:
    guess = rounds.next_round_guess(p, length)
    found = rounds.round_bounds(rounds.draft_time(length, DRAFT), VERIFY, overlap=1, guess=guess)
    assert found.mid == pytest.approx(expected, abs=0.005)
    assert found.high == pytest.approx(length * DRAFT + VERIFY)
    assert found.low == max(length * DRAFT, VERIFY)
