"""Limits that no honest pair of numbers breaks.

A round holds at least one target pass and a pass over more rows is no cheaper than a plain step: round >= t1, hence
rate * t1 <= A. Against a baseline that does not draft this reads S <= A; against one that does, S may exceed A.
A violation beyond the errors of both numbers says that t1 belongs to another path than the speculative run, and then
nothing can be concluded from the pair.
"""

from __future__ import annotations

import numpy as np

from specrules.economics.arrays import Array, Flags
from specrules.economics.domain import committed, not_negative, positive, vectorised

UNKNOWN_ERROR = 0.03
"""Relative error allowed to the two numbers together where none is known."""

_DEFAULT_TOLERANCE: Array = np.asarray(UNKNOWN_ERROR)


@vectorised
def least_tokens(rate: Array, target_step: Array) -> Array:
    """The least that a round must commit to run at `rate`: rate * t1."""
    positive(rate=rate, target_step=target_step)
    return rate * target_step / 1000


@vectorised
def within_commit_bound(
    rate: Array, target_step: Array, tokens_per_round: Array, tolerance: Array = _DEFAULT_TOLERANCE
) -> Flags:
    """Whether rate * t1 <= A, up to the relative `tolerance`."""
    committed(tokens_per_round=tokens_per_round)
    not_negative(tolerance=tolerance)
    return np.asarray(least_tokens(rate, target_step) <= tokens_per_round * (1 + tolerance))


@vectorised
def rate_ceiling(tokens_per_round: Array, overhead: Array, draft_time: Array, target_step: Array) -> Array:
    """Tokens per second that no round can exceed: A / (c0 + D + t1), because V(K+1) >= t1.

    Holds for a measured plain step only. It can reject a candidate and never approve one.
    """
    committed(tokens_per_round=tokens_per_round)
    not_negative(overhead=overhead, draft_time=draft_time)
    positive(target_step=target_step)
    return 1000 * tokens_per_round / (overhead + draft_time + target_step)
