"""How far a measured acceptance may lie from the true one, from what was counted.

    request_interval          per-request A: requests differ from each other far more than rounds of one request do
    mean_error                the same for any mean over requests, such as a rate
    outcome_interval          S accepted tokens and F rounds that ended in a rejection: Wilson on S / (S + F)
    histogram_interval        rounds with 0..K accepted tokens: their own mean and spread, without a model of p
    ratio_interval            only accepted / drafted: Wilson widened by the root of the design effect

Accepted tokens of one round hang together, because a position is only looked at when all earlier ones were accepted.
Wilson on accepted / drafted takes them for independent and covers 81, 75 and 70 % instead of 95 % at K = 3, 5 and 7.
S / (S + F) has no such fault: each looked-at position is one trial, and a round that was accepted in full adds only to
S. What is counted over rounds says nothing about how requests differ; the first function is the one that does.
"""

from __future__ import annotations

from functools import lru_cache
from math import cos, pi, sin, sqrt
from statistics import NormalDist

import numpy as np

from specrules.economics.acceptance import conditional_from_ratio, positions_from_histogram, tokens_from_positions
from specrules.economics.arrays import Array, Vector
from specrules.economics.domain import committed, finite, not_negative, positive, probability, vectorised
from specrules.economics.interval import Interval
from specrules.economics.samples import accepted_variance

ENOUGH_REQUESTS = 8
"""Fewer requests give no interval: it would rest on a spread that is itself unknown."""

CONFIDENCE = 0.9
"""Intervals hold the true value this often, as every `low` and `high` of a case does."""

_PRIOR = 0.5
"""Jeffreys: half an acceptance and half a rejection, the prior whose posterior comes closest to Wilson's interval."""

_CONFIDENCE: Array = np.asarray(CONFIDENCE)


def request_interval(
    tokens_per_round: Vector, rounds: Vector | None = None, *, confidence: float = CONFIDENCE
) -> Interval[float] | None:
    """A with its t-interval over requests; None where fewer than `ENOUGH_REQUESTS` were seen.

    `tokens_per_round` holds A of each request. With `rounds`, the rounds of each, the middle is the A of all rounds
    together and the spread that of a ratio estimator (Cochran, Sampling Techniques, 1977, ch. 6): long requests then
    weigh more, as they do in a rate. The lower end is never below 1.
    """
    tokens = _list("tokens_per_round", tokens_per_round)
    committed(tokens_per_round=tokens)
    weights = np.ones_like(tokens) if rounds is None else _list("rounds", rounds)
    positive(rounds=weights)
    if weights.shape != tokens.shape:
        raise ValueError("rounds must hold one entry per request")
    if tokens.size < ENOUGH_REQUESTS:
        return None
    shares = weights / weights.sum()
    mean = float(shares @ tokens)
    spread = sqrt(float(np.sum((shares * (tokens - mean)) ** 2)) * tokens.size / (tokens.size - 1))
    half = student_quantile((1 + confidence) / 2, tokens.size - 1) * spread
    return Interval(max(1.0, mean - half), mean, mean + half)


def mean_error(samples: Vector, *, confidence: float = CONFIDENCE) -> float:
    """Half the t-interval of a mean over requests; 0 where fewer than `ENOUGH_REQUESTS` were seen, as it is unknown."""
    found = _list("samples", samples)
    if found.size < ENOUGH_REQUESTS:
        return 0.0
    spread = float(found.std(ddof=1)) / sqrt(found.size)
    return student_quantile((1 + confidence) / 2, found.size - 1) * spread


@vectorised
def outcome_interval(accepted: Array, rejected_rounds: Array, confidence: Array = _CONFIDENCE) -> Interval[Array]:
    """P = S / (S + F) with Wilson's interval: S accepted tokens, F rounds that ended in a rejection.

    F is rounds less rounds that were accepted in full. Covers 93.6 to 96.8 % at 95 % for K = 1..7, 30 to 200 rounds and
    p from .5 to .9, which the tests repeat. Raises ValueError where neither was counted.
    """
    not_negative(accepted=accepted, rejected_rounds=rejected_rounds)
    trials = accepted + rejected_rounds
    positive(outcomes=trials)
    return _wilson(accepted / trials, trials, _normal(confidence), np.ones_like(trials))


def outcome_posterior(accepted: float, rejected_rounds: float) -> tuple[float, float]:
    """The Beta(S + 1/2, F + 1/2) from which a simulation draws p. Its 90 % interval is close to `outcome_interval`."""
    not_negative(accepted=finite("accepted", accepted), rejected_rounds=finite("rejected_rounds", rejected_rounds))
    return (accepted + _PRIOR, rejected_rounds + _PRIOR)


def histogram_interval(counts: Vector, *, confidence: float = CONFIDENCE) -> Interval[float]:
    """A with its interval from the number of rounds that accepted 0, 1, ..., K tokens.

    The mean and spread of the counts themselves, for any dependence between positions. Half a round of either extreme
    is added for the spread, so that rounds that all ended alike do not give an interval without width.
    """
    found = finite("counts", counts)
    mid = float(tokens_from_positions(positions_from_histogram(found)))
    accepted, length = np.arange(found.size, dtype=np.float64), found.size - 1
    smoothed = found.copy()
    smoothed[[0, -1]] += _PRIOR
    total = float(smoothed.sum())
    mean = float(smoothed @ accepted) / total
    variance = float(smoothed @ (accepted - mean) ** 2) / total
    half = _normal(np.asarray(confidence)).item() * sqrt(variance / total)
    return Interval(max(1.0, mid - half), mid, min(length + 1.0, mid + half))


@vectorised
def design_effect(conditional_acceptance: Array, draft_length: Array) -> Array:
    """Var(X) / (K r (1 - r)): by how much X accepted tokens of a round vary more than K independent ones.

    For constant p; 1 at p = 0 and (2 K + 1) / 3 at p = 1, its limits. A length that is no whole number (drafted over
    rounds) has the variance of the next whole one, the wider of the two.
    """
    probability(conditional_acceptance=conditional_acceptance)
    positive(draft_length=draft_length)
    p = np.clip(conditional_acceptance, 1e-6, 1 - 1e-6)  # both limits are smooth, and 0 / 0 itself
    length = np.ceil(draft_length)
    mean = np.zeros_like(p)
    for done in range(int(length.max())):
        mean = np.where(done < length, p * (1 + mean), mean)
    ratio = mean / length
    return np.maximum(1.0, accepted_variance(p, length) / (length * ratio * (1 - ratio)))


@vectorised
def ratio_interval(
    accepted: Array, drafted: Array, draft_length: Array, confidence: Array = _CONFIDENCE
) -> Interval[Array]:
    """The accepted ratio r with its interval, where only accepted and drafted tokens are known.

    Wilson's half-width on accepted / drafted times the square root of the design effect at the p that r inverts to.
    Raises ValueError where more was accepted than drafted.
    """
    not_negative(accepted=accepted)
    positive(drafted=drafted, draft_length=draft_length)
    ratio = accepted / drafted
    probability(ratio=ratio)
    conditional = np.asarray(conditional_from_ratio(ratio, draft_length))
    wider = np.asarray(design_effect(np.clip(conditional, 0, 1), draft_length))
    return _wilson(ratio, drafted, _normal(confidence), wider)


@vectorised
def cluster_effect(rounds_per_request: Array, correlation: Array) -> Array:
    """1 + (m - 1) ICC: how many rounds of m per request count as one independent round.

    `correlation` is the share of the variance between requests. 60 rounds at .1 give 6.9. Kish, Survey Sampling, 1965.
    """
    positive(rounds_per_request=rounds_per_request)
    probability(correlation=correlation)
    return np.maximum(1.0, 1 + (rounds_per_request - 1) * correlation)


@lru_cache(maxsize=256)
def student_quantile(share: float, degrees: int) -> float:
    """The value below which Student's t with `degrees` degrees of freedom lies this often, for shares above one half.

    The distribution has a finite sum for whole degrees (Abramowitz and Stegun 26.7.3 and 26.7.4); it is inverted by
    bisection in the angle atan(t / sqrt(degrees)).
    """
    if not 0.5 <= share < 1 or degrees < 1:
        raise ValueError(f"share must lie in [0.5, 1) and degrees be at least 1, got {share} and {degrees}")
    low, high = 0.0, pi / 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, degrees) < 2 * share - 1 else (low, middle)
    return sqrt(degrees) * sin(low) / cos(low)


def _within(angle: float, degrees: int) -> float:
    """The share of Student's t between -tan(angle) and tan(angle) times sqrt(degrees)."""
    even = degrees % 2 == 0
    term = 1.0 if even else cos(angle)
    total = 0.0
    for step in range(1 if even else 2, degrees, 2):
        total += term
        term *= step / (step + 1) * cos(angle) ** 2
    if even:
        return sin(angle) * total
    return 2 / pi * (angle + sin(angle) * total)


def _wilson(share: Array, trials: Array, quantile: Array, wider: Array) -> Interval[Array]:
    """Wilson's interval (1927) with its half-width times the root of `wider`. It always holds the share itself."""
    shrunk = 1 + quantile**2 / trials
    centre = (share + quantile**2 / (2 * trials)) / shrunk
    half = quantile / shrunk * np.sqrt(share * (1 - share) / trials + quantile**2 / (4 * trials**2)) * np.sqrt(wider)
    return Interval(
        np.minimum(share, np.clip(centre - half, 0, 1)), share, np.maximum(share, np.clip(centre + half, 0, 1))
    )


def _normal(confidence: Array) -> Array:
    """The two-sided quantile of the normal distribution."""
    if np.any((confidence <= 0) | (confidence >= 1)):
        raise ValueError("confidence must lie between 0 and 1")
    inverse = NormalDist().inv_cdf
    return np.asarray(np.vectorize(lambda held: inverse((1 + held) / 2), otypes=[np.float64])(confidence))


def _list(name: str, values: Vector) -> Array:
    found = finite(name, values)
    if found.ndim != 1:
        raise ValueError(f"{name} must be a list, one entry per request")
    return found
