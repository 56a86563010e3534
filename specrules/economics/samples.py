"""How many rounds settle on which side of its break-even a drafter lies."""

from __future__ import annotations

import numpy as np

from specrules.economics.arrays import Array
from specrules.economics.domain import positive, probability, vectorised

_TWO_SIDED_5_PERCENT_POWER_80 = 7.85
"""(1.96 + 0.84)^2: the error of 5 % and the power of 80 % of a two-sided test."""


@vectorised
def accepted_variance(conditional_acceptance: Array, draft_length: Array) -> Array:
    """Variance of the tokens accepted in a round, for constant p: sum (2j - 1) p^j - (sum p^j)^2, j = 1..K."""
    probability(conditional_acceptance=conditional_acceptance)
    positive(draft_length=draft_length)
    longest = int(np.max(draft_length))
    mean = np.zeros(np.broadcast(conditional_acceptance, draft_length).shape)
    square = np.zeros_like(mean)
    for position in range(1, longest + 1):
        reached = np.where(position <= draft_length, conditional_acceptance**position, 0.0)
        mean = mean + reached
        square = square + (2 * position - 1) * reached
    return square - mean**2


@vectorised
def rounds_to_settle(conditional_acceptance: Array, draft_length: Array, tokens_needed: Array) -> Array:
    """Rounds after which A and A_be are told apart at 5 % error and 80 % power: 7.85 Var / (A - A_be)^2.

    Infinite where they coincide. Rounds of one request resemble each other: multiply by the design effect
    1 + (m - 1) ICC for m rounds per request.
    """
    probability(conditional_acceptance=conditional_acceptance)
    tokens = 1 + sum(
        np.where(position <= draft_length, conditional_acceptance**position, 0.0)
        for position in range(1, int(np.max(draft_length)) + 1)
    )
    with np.errstate(divide="ignore"):
        return (
            _TWO_SIDED_5_PERCENT_POWER_80
            * accepted_variance(conditional_acceptance, draft_length)
            / (tokens - tokens_needed) ** 2
        )
