"""What requests say together: quotients of sums, with the spread between requests.

A rate is tokens over time and tokens per round are tokens over rounds, each summed over all requests. Requests differ
far more than the tokens of one request do, so the request, or the prompt, is the unit that is drawn.
"""

from __future__ import annotations

from math import exp, sqrt

import numpy as np

from specrules.economics.arrays import Vector
from specrules.economics.domain import finite, positive
from specrules.economics.interval import Interval
from specrules.economics.sampling_error import CONFIDENCE, ENOUGH_REQUESTS, student_quantile


def quotient_interval(
    numerators: Vector, denominators: Vector, *, confidence: float = CONFIDENCE
) -> Interval[float] | None:
    """Sum of numerators over sum of denominators, with its t-interval over units; None for fewer than eight.

    The ratio estimator of Cochran, Sampling Techniques, 1977, ch. 6. The low end is never below zero. Raises ValueError
    for lists of different lengths and denominators that are not above zero.
    """
    above, below = finite("numerators", numerators), finite("denominators", denominators)
    positive(denominators=below)
    if above.ndim != 1 or above.shape != below.shape:
        raise ValueError("numerators and denominators must be lists of the same length")
    count = above.size
    if count < ENOUGH_REQUESTS:
        return None
    value = float(above.sum() / below.sum())
    spread = sqrt(float(np.sum((above - value * below) ** 2)) * count / (count - 1)) / float(below.sum())
    half = student_quantile((1 + confidence) / 2, count - 1) * spread
    return Interval(max(0.0, value - half), value, value + half)


def paired_ratio(candidate: Vector, incumbent: Vector, *, confidence: float = CONFIDENCE) -> Interval[float] | None:
    """The ratio of two rates from pairs over the same prompts, with its t-interval; None for fewer than eight pairs.

    A t-interval on the logarithm of each pair's ratio: what makes a prompt slow for both arms cancels. The middle is
    the geometric mean, a little off the quotient of the arms' rates where prompts differ. Raises ValueError for
    rates that are not above zero and lists of different lengths.
    """
    above, below = finite("candidate", candidate), finite("incumbent", incumbent)
    positive(candidate=above, incumbent=below)
    if above.ndim != 1 or above.shape != below.shape:
        raise ValueError("pairs are two lists of the same length")
    count = above.size
    if count < ENOUGH_REQUESTS:
        return None
    logs = np.log(above / below)
    middle = float(logs.mean())
    half = student_quantile((1 + confidence) / 2, count - 1) * float(logs.std(ddof=1)) / sqrt(count)
    return Interval(exp(middle - half), exp(middle), exp(middle + half))


def looked_at(confidence: float, looks: int) -> float:
    """The confidence of one look at data that is looked at several times, so that all together hold `confidence`.

    Pocock's constant boundary for equally spaced looks, two-sided, as tabled for 0.90 (Jennison and Turnbull, Group
    Sequential Methods, 2000, table 2.1); beyond the table, and for another confidence, Bonferroni's, which is wider.
    """
    if looks < 1 or not 0 < confidence < 1:
        raise ValueError("at least one look, and a confidence between 0 and 1")
    if confidence == CONFIDENCE and looks <= len(_POCOCK_90):
        return 1 - 2 * (1 - _normal_share(_POCOCK_90[looks - 1]))
    return 1 - (1 - confidence) / looks


_POCOCK_90 = (1.645, 1.875, 1.992, 2.067, 2.122, 2.164, 2.197, 2.225, 2.249, 2.270)


def _normal_share(quantile: float) -> float:
    from statistics import NormalDist

    return NormalDist().cdf(quantile)
