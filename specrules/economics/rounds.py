"""The round from its parts, and rates and request times from the round.

    round = c0 + D(K) + V(K+1) + F Q - o a_(K+1) min(D, V)

    c0  round_overhead   host, launches, sampling, state copies
    D   draft_time       everything the drafter costs in a round
    V   verify_time      the target's pass over K + 1 rows, see `verify`
    F   rejected_share   share of the rounds that ended in a rejection
    Q   restore_time     checkpoint restore and replay after such a round (hybrid and recurrent targets)
    o   overlap          0 issued back to back, 1 fully co-scheduled on separate memory systems

A draft made ahead of the verification is of use only when everything was accepted and the bonus token was guessed
too, hence a_(K+1). Drafters that read the target's hidden states cannot run ahead: o is 0 for them.

Times in milliseconds, rates in tokens per second and per sequence.
"""

from __future__ import annotations

from typing import Literal, TypeVar

import numpy as np

from specrules.economics.acceptance import hazards_from_positions
from specrules.economics.arrays import ZERO, Array, Vector
from specrules.economics.domain import committed, finite, not_negative, positive, probability, vectorised
from specrules.economics.interval import Interval

NumberT = TypeVar("NumberT", float, Array)

Drafting = Literal["sequential", "block", "lookup"]


def draft_passes(drafting: Drafting, draft_length: NumberT) -> NumberT:
    """How many passes of the drafter one round takes.

    `sequential` (a model of its own, an MTP or EAGLE head): one pass per drafted token. `block` (DFlash, DSpark): one
    pass whatever the length. `lookup` (n-gram, suffix): none. Raises ValueError for another word.
    """
    positive(draft_length=finite("draft_length", draft_length))
    match drafting:
        case "sequential":
            return draft_length
        case "block":
            return draft_length * 0 + 1
        case "lookup":
            return draft_length * 0
    raise ValueError(f"drafting must be sequential, block or lookup, got {drafting!r}")


@vectorised
def draft_time(passes: Array, pass_time: Array, catch_up: Array = ZERO) -> Array:
    """D: `passes` of the drafter at `pass_time` each, and one batch that brings it up to the accepted tokens.

    llama.cpp runs such a catch-up batch of K + 1 rows per round, for draft models and for heads.
    """
    not_negative(passes=passes, pass_time=pass_time, catch_up=catch_up)
    return passes * pass_time + catch_up


@vectorised
def rejected_share(conditional_acceptance: Array, draft_length: Array) -> Array:
    """F = 1 - p^K for a constant p and a fixed K. With measured positions it is 1 - a_K."""
    probability(conditional_acceptance=conditional_acceptance)
    positive(draft_length=draft_length)
    return 1 - conditional_acceptance**draft_length


@vectorised
def next_round_guess(conditional_acceptance: Array, draft_length: Array) -> Array:
    """a_(K+1) = p^(K+1): the chance that a draft made ahead of the verification can be used."""
    probability(conditional_acceptance=conditional_acceptance)
    positive(draft_length=draft_length)
    return np.asarray(conditional_acceptance ** (draft_length + 1))


def next_round_guess_from_positions(positions: Vector) -> Interval[float]:
    """a_(K+1) from one measured vector a_1..a_K: between 0 and a_K, with the last hazard repeated as the middle."""
    vector = finite("positions", positions)
    hazard = float(hazards_from_positions(vector)[-1])
    last = float(vector[-1])
    return Interval(0.0, last * hazard if last else 0.0, last)


@vectorised
def overlap_saving(draft_time: Array, verify_time: Array, overlap: Array, guess: Array) -> Array:
    """The time saved by drafting ahead, o a_(K+1) min(D, V)."""
    not_negative(draft_time=draft_time, verify_time=verify_time)
    probability(overlap=overlap, guess=guess)
    return overlap * guess * np.minimum(draft_time, verify_time)


@vectorised
def round_time(
    overhead: Array,
    draft_time: Array,
    verify_time: Array,
    *,
    rejected_share: Array = ZERO,
    restore_time: Array = ZERO,
    overlap: Array = ZERO,
    guess: Array = ZERO,
) -> Array:
    """The mean time of one round. Rises with every argument but `overlap` and `guess`, with which it falls."""
    not_negative(overhead=overhead, restore_time=restore_time)
    positive(verify_time=verify_time)
    probability(rejected_share=rejected_share)
    saved = np.asarray(overlap_saving(draft_time, verify_time, overlap, guess))
    return overhead + draft_time + verify_time + rejected_share * restore_time - saved


@vectorised
def round_bounds(draft_time: Array, verify_time: Array, overlap: Array = ZERO, guess: Array = ZERO) -> Interval[Array]:
    """D + V less what overlap saves, between max(D, V), as if every draft made ahead were of use, and the plain sum."""
    saved = np.asarray(overlap_saving(draft_time, verify_time, overlap, guess))
    longer, total = np.maximum(draft_time, verify_time), draft_time + verify_time
    return Interval(longer, np.maximum(total - saved, longer), total)


@vectorised
def rate(tokens_per_round: Array, round_ms: Array) -> Array:
    """Tokens per second, decode only, per sequence: A / round."""
    committed(tokens_per_round=tokens_per_round)
    positive(round_ms=round_ms)
    return 1000 * tokens_per_round / round_ms


@vectorised
def round_from_rate(tokens_per_round: Array, rate: Array) -> Array:
    """The round that a rate and a commit per round imply. Both must come from the same requests."""
    committed(tokens_per_round=tokens_per_round)
    positive(rate=rate)
    return 1000 * tokens_per_round / rate


@vectorised
def covered_rate(coverage: Array, tokens_per_round: Array, round_ms: Array, target_step: Array) -> Array:
    """Tokens per second where only a share `coverage` of the rounds drafts (n-gram, suffix, p_min).

    (phi A + 1 - phi) / (phi round + (1 - phi) t1), a quotient of means: a round that drafts nothing commits one token
    and costs a plain step. A and the round are those of the rounds that draft.
    """
    probability(coverage=coverage)
    committed(tokens_per_round=tokens_per_round)
    positive(round_ms=round_ms, target_step=target_step)
    return 1000 * (coverage * tokens_per_round + 1 - coverage) / (coverage * round_ms + (1 - coverage) * target_step)


@vectorised
def request_time(ttft: Array, drafter_prefill: Array, tokens: Array, rate: Array) -> Array:
    """Milliseconds of one request: time to first token, the drafter's own pass over the prompt, and n / rate.

    The drafter's prefill is what only a drafting side pays, so it does not cancel from a comparison.
    """
    not_negative(ttft=ttft, drafter_prefill=drafter_prefill, tokens=tokens)
    positive(rate=rate)
    return ttft + drafter_prefill + 1000 * tokens / rate


@vectorised
def speedup(rate: Array, incumbent_rate: Array) -> Array:
    """S: the candidate's rate over the incumbent's, in one time base."""
    positive(rate=rate, incumbent_rate=incumbent_rate)
    return rate / incumbent_rate
