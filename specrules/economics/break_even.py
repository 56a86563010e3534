"""The acceptance at which a candidate equals the incumbent.

    A_be(K) = incumbent_rate * round(K)     exact, needs no acceptance model; one sequence, one time base
    p_be(K)  with  A(p_be, K) = A_be(K)
    r_be(K) = (A_be(K) - 1) / K

A_be up to 1 means that every acceptance pays, A_be above K + 1 that none does at this K. p_be is U-shaped in K once
the verifying pass grows with its width, so that a larger K may pay where K = 1 cannot.

The seed's closed forms stand at the end beside the corrected ones; both are reported, under their names.
"""

from __future__ import annotations

import numpy as np

from specrules.economics.acceptance import conditional_from_tokens
from specrules.economics.arrays import Array, Flags, Vector
from specrules.economics.domain import ROUNDING, at_least, not_negative, positive, vectorised

SEARCHED_DRAFT_LENGTHS = tuple(range(1, 17))
"""The depths among which the best one is looked for, before an engine's own limits."""


@vectorised
def break_even_tokens(incumbent_rate: Array, round_ms: Array) -> Array:
    """A_be = incumbent tok/s x round: what a round must commit to equal the incumbent."""
    positive(incumbent_rate=incumbent_rate, round_ms=round_ms)
    return incumbent_rate * round_ms / 1000


@vectorised
def break_even_from_synthetic_zero(incumbent_rate: Array, synthetic_zero_rate: Array) -> Array:
    """A_be from a run whose acceptance rates are all set to zero, so that each round commits one token.

    Both rates decode-only, same batch and context. An upper bound on hybrid targets, where every round restores.
    """
    positive(incumbent_rate=incumbent_rate, synthetic_zero_rate=synthetic_zero_rate)
    return incumbent_rate / synthetic_zero_rate


@vectorised
def possible(tokens_needed: Array, draft_length: Array) -> Flags:
    """Whether any acceptance reaches A_be at this K: A_be <= K + 1. For a tree K is its depth."""
    not_negative(tokens_needed=tokens_needed)
    positive(draft_length=draft_length)
    return np.asarray((tokens_needed - 1) / draft_length <= 1 + ROUNDING)


@vectorised
def break_even_conditional(tokens_needed: Array, draft_length: Array) -> Array:
    """p_be: 0 where A_be <= 1, NaN where A_be > K + 1."""
    not_negative(tokens_needed=tokens_needed)
    return np.asarray(conditional_from_tokens(np.maximum(tokens_needed, 1), draft_length))


@vectorised
def break_even_ratio(tokens_needed: Array, draft_length: Array) -> Array:
    """r_be: 0 where A_be <= 1, NaN where A_be > K + 1."""
    reachable = possible(tokens_needed, draft_length)
    return np.where(reachable, np.clip((tokens_needed - 1) / draft_length, 0, 1), np.nan)


@vectorised
def never_beats_off(verify_time: Array, draft_length: Array, target_step: Array) -> Flags:
    """Whether the pass over K + 1 rows alone takes as long as K + 1 plain steps, so that no acceptance beats off."""
    positive(verify_time=verify_time, draft_length=draft_length, target_step=target_step)
    return np.asarray(verify_time >= (draft_length + 1) * target_step)


def best_draft_length(draft_lengths: Vector, tokens_needed: Vector) -> int | None:
    """The K with the smallest p_be, the smaller K among equals; None where no K is possible."""
    lengths = np.asarray(draft_lengths, dtype=np.float64)
    needed = np.atleast_1d(np.asarray(break_even_conditional(np.asarray(tokens_needed, dtype=np.float64), lengths)))
    if np.all(np.isnan(needed)):
        return None
    order = np.lexsort((lengths, needed))  # NaN sorts last
    return int(lengths[order[0]])


@vectorised
def seed_memory_bound(speculative_time: Array, base_time: Array, draft_length: Array) -> Array:
    """The seed's T_spec / (k T_base), which leaves out the bonus token. T_base is the incumbent's time per token."""
    positive(speculative_time=speculative_time, base_time=base_time, draft_length=draft_length)
    return speculative_time / (draft_length * base_time)


@vectorised
def memory_bound_with_bonus(speculative_time: Array, base_time: Array, draft_length: Array) -> Array:
    """The same with the bonus token, (T_spec / T_base - 1) / k: the accepted ratio r_be, not clipped."""
    positive(speculative_time=speculative_time, base_time=base_time, draft_length=draft_length)
    return (speculative_time / base_time - 1) / draft_length


@vectorised
def seed_compute_bound(drafter_parameters: Array, target_parameters: Array, batch: Array) -> Array:
    """The seed's 1 + P_d / (B P_t), which forgets that the drafter computes B rows too."""
    positive(target_parameters=target_parameters)
    not_negative(drafter_parameters=drafter_parameters)
    at_least(1, batch=batch)
    return 1 + drafter_parameters / (batch * target_parameters)


@vectorised
def compute_bound(drafter_parameters: Array, target_parameters: Array) -> Array:
    """Cost of a drafted token over that of a plain one where only computing counts, 1 + P_d / P_t.

    The batch cancels. As the ratio is never below 1, no acceptance pays there.
    """
    positive(target_parameters=target_parameters)
    not_negative(drafter_parameters=drafter_parameters)
    return 1 + drafter_parameters / target_parameters
