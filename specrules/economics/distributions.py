"""Samples of a value that lies around its middle in a known way, by inverting its distribution at even shares.

Every sampler takes `shares`, numbers between 0 and 1 that say how much of the distribution lies below the sample. Even
shares (see `even_shares`) give the quantiles of one varying input exactly, and far less noise than random ones where
several vary.
"""

from __future__ import annotations

import functools
from math import log
from statistics import NormalDist

import numpy as np

from specrules.economics.arrays import Array

_END = NormalDist().inv_cdf(0.95)
"""Standard deviations between the middle of a normal distribution and an end of its 90 % interval: 1.645."""
_WIDEST = 1 - 1e-9


LATTICES = {1021: 76, 2039: 1487, 4093: 1516, 8191: 5130}
"""Multipliers of Korobov lattices by their number of points (L'Ecuyer and Lemieux, Management Science 46, 2000)."""


@functools.lru_cache(maxsize=128)
def even_shares(count: int, dimension: int, seed: int) -> Array:
    """The coordinate of a lattice of `count` points in one dimension: each of `count` equal slices of [0, 1] once.

    Every pair of dimensions fills the square far more evenly than random points do. The seed shifts the lattice.
    Raises ValueError for a count without a known lattice.
    """
    if count not in LATTICES:
        raise ValueError(f"no lattice of {count} points; known are {', '.join(map(str, LATTICES))}")
    shift = int(np.random.default_rng([seed, dimension]).integers(count))
    steps = np.arange(count, dtype=np.int64) * pow(LATTICES[count], dimension, count) + shift
    shares: Array = (steps % count + 0.5) / count
    return shares


def standard_normal(shares: Array) -> Array:
    """Quantiles of the standard normal distribution.

    Shares that are the middles of equal slices are looked up in a table of that many quantiles.
    """
    count = shares.size
    index = np.rint(shares * count - 0.5).astype(np.intp)
    return _quantiles(count)[np.clip(index, 0, count - 1)]


@functools.lru_cache(maxsize=8)
def _quantiles(count: int) -> Array:
    normal = NormalDist()
    return np.array([normal.inv_cdf((index + 0.5) / count) for index in range(count)])


def uniform(low: float, high: float, shares: Array) -> Array:
    """Between the ends, any value as likely as another."""
    samples: Array = low + (high - low) * shares
    return samples


def skewed_normal(low: float, mid: float, high: float, shares: Array) -> Array:
    """Half a normal distribution on each side of the median, with `low` and `high` at 5 and 95 %."""
    normal = standard_normal(shares)
    samples: Array = mid + normal / _END * np.where(normal < 0, mid - low, high - mid)
    return samples


def skewed_lognormal(low: float, mid: float, high: float, shares: Array) -> Array:
    """The same on the logarithm, for values above 0. Raises ValueError where `low` is not."""
    if low <= 0:
        raise ValueError(f"low must be above 0, got {low:g}")
    samples: Array = np.exp(skewed_normal(log(low), log(mid), log(high), shares))
    return samples


def skewed_logit(low: float, mid: float, high: float, shares: Array) -> Array:
    """The same on log(x / (1 - x)), for shares. Ends at 0 or 1 are moved inside by 1e-9. ValueError outside [0, 1]."""
    if low < 0 or high > 1:
        raise ValueError(f"a share lies between 0 and 1, got {low:g} to {high:g}")
    logits = skewed_normal(_logit(low), _logit(mid), _logit(high), shares)
    samples: Array = 1 / (1 + np.exp(-logits))
    return samples


def _logit(share: float) -> float:
    inside = min(max(share, 1 - _WIDEST), _WIDEST)
    return log(inside / (1 - inside))
