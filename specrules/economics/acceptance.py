"""The acceptance quantities, and how one follows from another.

    p    conditional_acceptance   chance that a drafted position is accepted given that all earlier ones were
    a_i  position_acceptance      unconditional chance that positions 1..i are all accepted; never increasing
    r    accepted_ratio           accepted / drafted tokens
    A    tokens_per_round         tokens committed per round, the bonus token included

    A = 1 + sum(a_i) = 1 + K r    whatever the dependence between positions
    A = (1 - p^(K+1)) / (1 - p)   only where p is the same at every position

The second line is Leviathan et al. 2023 (arXiv:2211.17192). K is `draft_length`; where the length varies it is
drafted / rounds and no whole number. At the depth that was measured use counts, ratio or positions; p is for carrying
a measurement to another depth, with `extrapolation_half_width`.

Positions and histograms run along the last axis of their array.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

import numpy as np

from specrules.economics.arrays import Array, Vector
from specrules.economics.domain import ROUNDING, committed, finite, not_negative, positive, probability, vectorised

_HORNER_LIMIT = 64  # beyond this depth the loop costs more than the closed form and gains nothing
_STEPS = 40  # of which about six are taken
_SETTLED = 1e-14
_BESIDE_ONE = 1e-4
_NEAREST = 1e-300  # keeps 0 / 0 away where p is 1 to the last digit


@vectorised
def tokens_per_round(conditional_acceptance: Array, draft_length: Array) -> Array:
    """A for a constant p: Horner for a whole K, a closed form that is stable at p = 0 and p = 1 otherwise."""
    probability(conditional_acceptance=conditional_acceptance)
    positive(draft_length=draft_length)
    return 1 + _accepted(conditional_acceptance, draft_length)


@vectorised
def accepted_ratio(conditional_acceptance: Array, draft_length: Array) -> Array:
    """The accepted ratio r for a constant p: (p - p^(K+1)) / (K (1 - p))."""
    probability(conditional_acceptance=conditional_acceptance)
    positive(draft_length=draft_length)
    return _accepted(conditional_acceptance, draft_length) / draft_length


@vectorised
def conditional_from_ratio(ratio: Array, draft_length: Array) -> Array:
    """The constant p that gives the accepted ratio r at depth K; r rises with p."""
    probability(ratio=ratio)
    positive(draft_length=draft_length)
    return _invert(ratio, draft_length)


@vectorised
def conditional_from_tokens(tokens: Array, draft_length: Array) -> Array:
    """The constant p that gives A at depth K; NaN where no p does, which is outside [1, K+1]."""
    positive(draft_length=draft_length)
    ratio = (tokens - 1) / draft_length
    inside = (ratio >= -ROUNDING) & (ratio <= 1 + ROUNDING)
    return np.where(inside, _invert(np.clip(ratio, 0, 1), draft_length), np.nan)


@vectorised
def tokens_from_counts(accepted: Array, rounds: Array) -> Array:
    """A = 1 + accepted / rounds, exact. `rounds` counts the rounds that drafted."""
    not_negative(accepted=accepted)
    positive(rounds=rounds)
    return 1 + accepted / rounds


@vectorised
def tokens_from_ratio(ratio: Array, draft_length: Array) -> Array:
    """A = 1 + K r, exact for the K (drafted / rounds) at which r was measured."""
    probability(ratio=ratio)
    positive(draft_length=draft_length)
    return 1 + draft_length * ratio


@vectorised
def ratio_from_tokens(tokens: Array, draft_length: Array) -> Array:
    """The accepted ratio r = (A - 1) / K. Above 1 where A is more than K + 1, which no drafter reaches."""
    committed(tokens=tokens)
    positive(draft_length=draft_length)
    return (tokens - 1) / draft_length


@vectorised
def tokens_over_all_steps(tokens: Array, accepted: Array) -> Array:
    """A over all target steps of a request, those that drafted nothing included: (N-1) / (N-1-accepted).

    N tokens came out, the first of them from the prompt pass. Raises ValueError where no step is left.
    """
    not_negative(accepted=accepted)
    positive(steps=tokens - 1 - accepted)
    return (tokens - 1) / (tokens - 1 - accepted)


@vectorised
def conditional_from_outcomes(accepted: Array, rejected_rounds: Array) -> Array:
    """The maximum-likelihood p = S / (S + F): S accepted tokens, F rounds that ended in a rejection.

    A round that was accepted in full says nothing about the next position and adds only to S.
    """
    not_negative(accepted=accepted, rejected_rounds=rejected_rounds)
    positive(outcomes=accepted + rejected_rounds)
    return accepted / (accepted + rejected_rounds)


@vectorised
def extrapolation_half_width(measured_length: Array, draft_length: Array) -> Array:
    """Relative 90 % half-width of an A that p carried from the measured depth to another one.

    0 at the measured depth, .05 up to a factor of 2, .08 up to 4 and .15 beyond, in either direction: positions decay
    in chains of heads, and hazards rise for lookup drafters and mixtures of requests.
    """
    positive(measured_length=measured_length, draft_length=draft_length)
    factor = np.maximum(measured_length / draft_length, draft_length / measured_length)
    return np.select([factor == 1, factor <= 2, factor <= 4], [0.0, 0.05, 0.08], 0.15)


@overload
def tokens_from_positions(
    positions: Sequence[float], draft_length: int | None = None, *, anchor: bool = False
) -> float: ...


@overload
def tokens_from_positions(
    positions: Array, draft_length: int | None = None, *, anchor: bool = False
) -> float | Array: ...


def tokens_from_positions(positions: Vector, draft_length: int | None = None, *, anchor: bool = False) -> float | Array:
    """A = 1 + a_1 + ... + a_K, exact for chain drafters at every K up to the measured one (the default).

    `anchor`: the first entry is the token that the round starts from, not a drafted one (DFlash prints such vectors),
    so that A is the plain sum and a vector of n entries measures a depth of n - 1. Raises ValueError for entries that
    are no probabilities or that increase, and for a depth that was not measured.
    """
    vector = _positions(positions)
    measured = vector.shape[-1] - anchor
    depth = measured if draft_length is None else draft_length
    if not 1 <= depth <= measured or depth != int(depth):
        raise ValueError(f"draft_length must be a whole number from 1 to {measured}, got {depth}")
    total = vector[..., : int(depth) + anchor].sum(axis=-1) + (0 if anchor else 1)
    return float(total) if vector.ndim == 1 else total


def positions_from_hazards(hazards: Vector) -> Array:
    """a_i from the conditional acceptance of every position: the running product."""
    vector = _vector("hazards", hazards)
    probability(hazards=vector)
    return np.asarray(np.cumprod(vector, axis=-1), dtype=np.float64)


def hazards_from_positions(positions: Vector) -> Array:
    """The conditional acceptance of every position, a_i / a_(i-1); NaN behind a position that was never accepted."""
    vector = _positions(positions)
    before = np.concatenate([np.ones_like(vector[..., :1]), vector[..., :-1]], axis=-1)
    hazards = np.full_like(vector, np.nan)
    np.divide(vector, before, out=hazards, where=before > 0)
    return hazards


def positions_from_histogram(counts: Vector) -> Array:
    """a_1..a_K from the number of rounds that accepted 0, 1, ..., K tokens."""
    vector = _vector("counts", counts)
    not_negative(counts=vector)
    if vector.shape[-1] < 2:
        raise ValueError("counts must hold the rounds with 0, 1, ..., K accepted tokens, got one entry")
    rounds = vector.sum(axis=-1, keepdims=True)
    positive(rounds=rounds)
    at_least_that_many = np.cumsum(vector[..., ::-1], axis=-1)[..., ::-1]
    return np.asarray(at_least_that_many[..., 1:] / rounds)


@overload
def tokens_from_histogram(counts: Sequence[float], draft_length: int | None = None) -> float: ...


@overload
def tokens_from_histogram(counts: Array, draft_length: int | None = None) -> float | Array: ...


def tokens_from_histogram(counts: Vector, draft_length: int | None = None) -> float | Array:
    """A from the number of rounds that accepted 0, 1, ..., K tokens, or what it would be at a smaller K."""
    return tokens_from_positions(positions_from_histogram(counts), draft_length)


def _accepted(p: Array, length: Array) -> Array:
    """Accepted tokens per round, p + p^2 + ... + p^K."""
    total = _accepted_closed(p, length)
    whole = (length == np.floor(length)) & (length <= _HORNER_LIMIT)
    if not np.any(whole):
        return total
    horner = np.zeros_like(total)
    for done in range(int(length[whole].max())):
        horner = np.where(done < length, p * (1 + horner), horner)
    return np.where(whole, horner, total)


def _accepted_closed(p: Array, length: Array) -> Array:
    """The same as p (1 - p^K) / (1 - p); expm1 of the logarithm keeps it exact beside p = 1, and log(0) gives 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        log_p = np.log(p)
        total = p * (np.expm1(length * log_p) / np.expm1(log_p))
    return np.where(p == 1, length, total)


def _invert(ratio: Array, length: Array) -> Array:
    """The constant p that gives r, by Newton steps for x = -log p on log(accepted(x)) = log(r K).

    What is accepted is exp(-(K + 1) x / 2) sinh(K x / 2) / sinh(x / 2). Its logarithm falls with x, convex for K above
    1 and concave below. The start is r = p^((K + 1) / 2), the bound of the geometric mean, or p = r K, whichever is
    nearer to the root on its steep side: no step overshoots from there, and about six reach float64. Elements stop one
    by one, so that what an element gives depends on no other.
    """
    share = np.where((ratio > 0) & (ratio < 1), ratio, 0.5)
    wanted = np.log(share) + np.log(length)
    bounds = (-2 * np.log(share) / (length + 1), -wanted)
    x = np.maximum(np.where(length < 1, np.minimum(*bounds), np.maximum(*bounds)), _NEAREST)
    moving = np.ones(x.shape, dtype=np.bool_)
    for _ in range(_STEPS):
        top, bottom = np.expm1(-length * x), np.expm1(-x)
        above = np.log(top / bottom) - x - wanted
        slope = 1 / bottom - length * (1 + top) / top
        near = length * x < _BESIDE_ONE
        if np.any(near):  # the two parts of the slope cancel there
            slope = np.where(near, (length**2 - 1) / 12 * x - (length + 1) / 2, slope)
        step = np.where(moving, above / slope, 0.0)
        x = np.maximum(x - step, _NEAREST)
        moving = np.abs(step) > _SETTLED * (1 + x)
        if not np.any(moving):
            break
    return np.select([ratio == 0, ratio == 1], [0.0, 1.0], np.exp(-x))


def _vector(name: str, values: Vector) -> Array:
    vector = finite(name, values)
    if vector.ndim == 0 or vector.shape[-1] == 0:
        raise ValueError(f"{name} must hold at least one entry")
    return vector


def _positions(positions: Vector) -> Array:
    vector = _vector("positions", positions)
    probability(positions=vector)
    if np.any(np.diff(vector, axis=-1) > ROUNDING):
        raise ValueError("positions must not increase: are these conditional acceptances instead?")
    return vector
