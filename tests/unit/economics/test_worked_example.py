"""The case that the seed record decided: an MTP incumbent at 25 tok/s, a drafter at 12 ms per token."""

from __future__ import annotations

import math

import numpy as np
import pytest

from specrules.economics import acceptance, bounds, break_even, rounds, verify

STEP, DRAFT, INCUMBENT = 67.0, 12.0, 25.0


def needed(length: float, verify_ms: float) -> float:
    return break_even.break_even_tokens(INCUMBENT, rounds.round_time(0, rounds.draft_time(length, DRAFT), verify_ms))


def test_one_drafted_token_cannot_pay() -> None:
    tokens = needed(1, verify.constant_verify_time(STEP))
    assert tokens == pytest.approx(2.1425, abs=1e-9)
    assert break_even.possible(tokens, 1) is False
    assert math.isnan(break_even.break_even_conditional(tokens, 1))
    assert math.isnan(break_even.break_even_ratio(tokens, 1))


@pytest.mark.parametrize(
    ("length", "tokens", "conditional", "ratio"),
    [
        (3, 2.7425, 0.7519, 0.5808),
        (4, 3.0425, 0.7486, 0.5106),
        (5, 3.3425, 0.7572, 0.4685),
        (7, 3.9425, 0.7817, 0.4204),
    ],
)
def test_break_even_by_depth(length: int, tokens: float, conditional: float, ratio: float) -> None:
    found = needed(length, verify.constant_verify_time(STEP))
    assert found == pytest.approx(tokens, abs=1e-9)
    assert break_even.break_even_conditional(found, length) == pytest.approx(conditional, abs=5e-5)
    assert break_even.break_even_ratio(found, length) == pytest.approx(ratio, abs=5.1e-5)


def test_the_smallest_break_even_is_at_four() -> None:
    lengths = break_even.SEARCHED_DRAFT_LENGTHS
    assert lengths == tuple(range(1, 17))
    assert break_even.best_draft_length(lengths, [needed(length, 1.1 * STEP) for length in lengths]) == 4


def test_the_source_text_matches_factor_one_only() -> None:
    found = [break_even.break_even_conditional(needed(length, STEP), length) for length in (3, 5)]
    assert found == pytest.approx([0.7108, 0.7345], abs=5e-5)


def test_the_unit_of_the_acceptance_decides_the_verdict() -> None:
    as_conditional = rounds.rate(acceptance.tokens_per_round(np.array([0.4, 0.5, 0.6]), 3), 3 * DRAFT + 1.1 * STEP)
    as_ratio = rounds.rate(acceptance.tokens_from_ratio(np.array([0.4, 0.5, 0.6]), 7), 7 * DRAFT + 1.1 * STEP)
    np.testing.assert_allclose(as_conditional, [14.80, 17.09, 19.84], atol=0.005)
    np.testing.assert_allclose(as_ratio, [24.1, 28.5, 33.0], atol=0.05)


def test_the_incumbents_round_puts_a_floor_under_the_pass() -> None:
    round_ms = rounds.round_from_rate(1.67, INCUMBENT)
    assert round_ms == pytest.approx(66.8)
    floor = verify.verify_floor(verify.verify_width(1), round_ms, 1, verify.LARGEST_HEAD_SHARE)
    assert floor == pytest.approx(58.1, abs=0.02)
    # The printed values come from the unrounded floor; 58.1 itself gives .6515 at K = 3.
    found = [break_even.break_even_conditional(needed(length, floor), length) for length in (1, 2, 3, 7)]
    assert found == pytest.approx([0.752, 0.641, 0.651, 0.745], abs=5e-4)
    rates = [
        rounds.rate(acceptance.tokens_per_round(0.6, length), length * DRAFT + 58.1)
        for length in break_even.SEARCHED_DRAFT_LENGTHS
    ]
    assert max(rates) / INCUMBENT == pytest.approx(0.955, abs=5e-4)


def test_the_plain_step_of_an_incumbent_that_drafts_is_an_interval() -> None:
    step = verify.target_step_from_round(66.8, 1.05, 0.15)
    assert (step.low, step.high) == (pytest.approx(66.8 / 1.15 / 1.05), 66.8)
    at_the_ends = step.map(lambda t1: break_even.break_even_conditional(needed(3, 1.1 * t1), 3))
    # A = .025 (36 + 1.1 t1) = 2.4213 and 2.7370 at the ends.
    assert (at_the_ends.low, at_the_ends.high) == pytest.approx((0.6705, 0.7506), abs=1e-4)


class TestFleetDatum:
    """A trained DFlash at depth 7 printed 41 % accepted and 43.5 tok/s on a target of 18.8 tok/s."""

    step = 1000 / 18.8

    def test_forty_one_per_cent_is_a_ratio(self) -> None:
        tokens = acceptance.tokens_from_ratio(0.41, 7)
        assert tokens == pytest.approx(3.87)
        assert acceptance.conditional_from_ratio(0.41, 7) == pytest.approx(0.7754, abs=5e-5)
        assert acceptance.accepted_ratio(0.41, 7) == pytest.approx(0.0991, abs=5e-5)
        assert bounds.within_commit_bound(43.5, self.step, tokens)

    def test_as_a_conditional_it_could_not_run_that_fast_with_a_free_drafter(self) -> None:
        free = rounds.rate(acceptance.tokens_per_round(0.41, 7), verify.constant_verify_time(self.step))
        assert free == pytest.approx(28.9, abs=0.07)

    def test_the_round_leaves_one_block_pass_for_the_drafter(self) -> None:
        left = rounds.round_from_rate(3.87, 43.5) - verify.constant_verify_time(self.step)
        assert left == pytest.approx(30.5, abs=0.06)


def test_the_seeds_closed_forms_and_the_corrected_ones() -> None:
    base = 1000 / INCUMBENT
    spec = {length: length * DRAFT + 1.1 * STEP for length in (3, 7)}
    assert break_even.seed_memory_bound(spec[3], base, 3) == pytest.approx(0.914, abs=5e-4)
    assert break_even.seed_memory_bound(spec[7], base, 7) == pytest.approx(0.563, abs=5e-4)
    assert break_even.memory_bound_with_bonus(spec[3], base, 3) == pytest.approx(0.5808, abs=5e-5)
    assert break_even.memory_bound_with_bonus(spec[7], base, 7) == pytest.approx(0.4204, abs=5e-5)


def test_an_ab_whose_speedup_exceeds_its_commit_is_refused() -> None:
    # sglang#40877: 120.4 against 36.5 tok/s at 3.0 tokens per round, the most that a block of 2 can commit.
    assert bounds.least_tokens(120.4, 1000 / 36.5) == pytest.approx(3.30, abs=0.005)
    assert bounds.within_commit_bound(120.4, 1000 / 36.5, 3.0) is False
