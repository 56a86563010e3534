"""What knowing an input before deciding is worth, from samples of what each option would deliver.

    value_of_all     EVPI: every input becomes known
    value_of_some    EVPPI: some inputs become known

Both are in the unit of the options. The second one regresses each option on the inputs that become known (Strong,
Oakley and Brennan, Medical Decision Making 34, 2014), which takes one set of samples where a nested simulation takes a
square.
"""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
from numpy.polynomial import legendre

from specrules.economics.arrays import Array

_DEGREES = {1: 7, 2: 5, 3: 4}
_DEGREE_OF_MANY = 3
_MOST_TERMS = 120


def value_of_all(options: Array) -> float:
    """The mean of the best option of each sample less the best mean. `options` has a row per option.

    Raises ValueError for samples that are not finite.
    """
    _check(options)
    return max(0.0, float(options.max(axis=0).mean() - options.mean(axis=1).max()))


def value_of_some(options: Array, shares: Array, groups: Array | None = None) -> float:
    """The same where only some inputs become known.

    `shares` has a row per such input: how much of its distribution lies below each sample, between 0 and 1. `groups`
    numbers the samples by an input that takes few values, such as a kind. Without either the answer is 0.
    """
    _check(options)
    expected = np.empty_like(options)
    numbers = np.zeros(options.shape[1]) if groups is None else groups
    for number in np.unique(numbers):
        chosen = numbers == number
        expected[:, chosen] = _expected(options[:, chosen], shares[:, chosen])
    return max(0.0, float(expected.max(axis=0).mean() - options.mean(axis=1).max()))


def _expected(options: Array, shares: Array) -> Array:
    """What each option delivers on average where the inputs are what they are in each sample."""
    terms = _terms(2 * shares - 1)
    weights, *_ = np.linalg.lstsq(terms @ terms.T, terms @ options.T, rcond=None)
    found: Array = (terms.T @ weights).T
    return found


def _terms(inputs: Array) -> Array:
    """Legendre polynomials of the inputs, and their products up to a degree that the number of inputs allows."""
    count = len(inputs)
    degree = _DEGREES.get(count, _DEGREE_OF_MANY)
    powers = [legendre.legvander(one, degree).T for one in inputs]
    rows = [np.ones(inputs.shape[1])]
    for power in range(1, degree + 1):
        for chosen in combinations_with_replacement(range(count), power):
            if len(rows) >= _MOST_TERMS:
                break
            rows.append(np.prod([powers[one][chosen.count(one)] for one in set(chosen)], axis=0))
    return np.stack(rows)


def _check(options: Array) -> None:
    if options.ndim != 2 or not np.isfinite(options).all():
        raise ValueError("options must be rows of finite samples, one row per option")
