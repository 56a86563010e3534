"""Functions that only the readers of engine files may call, beside those of all expressions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

from specrules.expressions.functions import FUNCTIONS, Function
from specrules.expressions.types import Type


def rounded(number: float) -> float:
    """Return the nearest whole number, halves upwards."""
    return float(math.floor(number + 0.5))


def total(numbers: tuple[float, ...]) -> float:
    """Return the sum of a vector, 0 for an empty one."""
    return math.fsum(numbers)


def shares(numbers: tuple[float, ...], whole: float) -> tuple[float, ...]:
    """Return each entry of a vector over a number. ZeroDivisionError where that is zero."""
    return tuple(number / whole for number in numbers)


def count(numbers: tuple[float, ...]) -> float:
    """Return the length of a vector."""
    return float(len(numbers))


def over(number: float, numbers: tuple[float, ...]) -> tuple[float, ...]:
    """Return a number over each entry of a vector. ZeroDivisionError where one of them is zero."""
    return tuple(number / entry for entry in numbers)


def histogram(numbers: tuple[float, ...], least: float) -> tuple[float, ...]:
    """Return how often `least`, `least` + 1, .. stand in a vector of whole numbers. ValueError for other numbers."""
    places = [number - least for number in numbers]
    if any(place < 0 or place != int(place) or place > _MOST_PLACES for place in places):
        raise ValueError("a histogram counts whole numbers from its least on")
    counts = [0.0] * (int(max(places, default=-1)) + 1)
    for place in places:
        counts[int(place)] += 1
    return tuple(counts)


def survivors(numbers: tuple[float, ...]) -> tuple[float, ...]:
    """Return the shares of rounds with at least 1, 2, .. accepted tokens, from the numbers of rounds with 0, 1, ..

    ZeroDivisionError for an empty histogram.
    """
    whole = math.fsum(numbers)
    return tuple(math.fsum(numbers[index:]) / whole for index in range(1, len(numbers)))


def mean(numbers: tuple[float, ...]) -> float:
    """Return the mean of a vector. ZeroDivisionError for an empty one."""
    return math.fsum(numbers) / len(numbers)


def mean_error(numbers: tuple[float, ...]) -> float:
    """Return the half-width of the 90 % interval of a mean by Student's t, for repeats of one measurement.

    ValueError for fewer than two numbers.
    """
    freedom = len(numbers) - 1
    if freedom < 1:
        raise ValueError("a spread needs two numbers or more")
    middle = mean(numbers)
    variance = math.fsum((number - middle) ** 2 for number in numbers) / freedom
    factor = _STUDENT_95[freedom - 1] if freedom <= len(_STUDENT_95) else _NORMAL_95
    return factor * math.sqrt(variance / len(numbers))


def distinct(numbers: tuple[float, ...]) -> tuple[float, ...]:
    """Return the different numbers of a vector, ascending."""
    return tuple(sorted(set(numbers)))


def means_by(keys: tuple[float, ...], numbers: tuple[float, ...]) -> tuple[float, ...]:
    """Return the mean of the numbers with each key, by ascending keys. ValueError for vectors of different lengths."""
    return tuple(mean(group) for group in _groups(keys, numbers))


def lows_by(keys: tuple[float, ...], numbers: tuple[float, ...]) -> tuple[float, ...]:
    """Return the smallest of the numbers with each key, by ascending keys."""
    return tuple(min(group) for group in _groups(keys, numbers))


def highs_by(keys: tuple[float, ...], numbers: tuple[float, ...]) -> tuple[float, ...]:
    """Return the largest of the numbers with each key, by ascending keys."""
    return tuple(max(group) for group in _groups(keys, numbers))


def _groups(keys: tuple[float, ...], numbers: tuple[float, ...]) -> list[tuple[float, ...]]:
    groups: dict[float, list[float]] = {}
    for key, number in zip(keys, numbers, strict=True):
        groups.setdefault(key, []).append(number)
    return [tuple(groups[key]) for key in sorted(groups)]


_STUDENT_95 = (
    *(6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833, 1.812),
    *(1.796, 1.782, 1.771, 1.761, 1.753, 1.746, 1.740, 1.734, 1.729, 1.725),
    *(1.721, 1.717, 1.714, 1.711, 1.708, 1.706, 1.703, 1.701, 1.699, 1.697),
)
"""The 95 % point of Student's t for 1 to 30 degrees of freedom, as tables print it."""

_NORMAL_95 = 1.645
_MOST_PLACES = 4096
_VECTOR, _TWO_VECTORS = (Type.NUMBERS,), (Type.NUMBERS, Type.NUMBERS)

_EXTRA = (
    Function("rounded", (Type.NUMBER,), Type.NUMBER, rounded, "Nearest whole number."),
    Function("total", (Type.NUMBERS,), Type.NUMBER, total, "Sum of a list of numbers."),
    Function("shares", (Type.NUMBERS, Type.NUMBER), Type.NUMBERS, shares, "(vector, whole): entries over the whole."),
    Function("count", _VECTOR, Type.NUMBER, count, "Length of a list of numbers."),
    Function("over", (Type.NUMBER, Type.NUMBERS), Type.NUMBERS, over, "(number, vector): number over each entry."),
    Function(
        "histogram", (Type.NUMBERS, Type.NUMBER), Type.NUMBERS, histogram, "(vector, least): how often each occurs."
    ),
    Function(
        "survivors", _VECTOR, Type.NUMBERS, survivors, "(histogram): share of rounds with 1, 2, .. accepted or more."
    ),
    Function("mean", _VECTOR, Type.NUMBER, mean, "Mean of a list of numbers."),
    Function("mean_error", _VECTOR, Type.NUMBER, mean_error, "Half-width of the 90 % interval of a mean of repeats."),
    Function("distinct", _VECTOR, Type.NUMBERS, distinct, "The different numbers of a list, ascending."),
    Function("means_by", _TWO_VECTORS, Type.NUMBERS, means_by, "(keys, vector): mean for each key, ascending."),
    Function("lows_by", _TWO_VECTORS, Type.NUMBERS, lows_by, "(keys, vector): smallest for each key, ascending."),
    Function("highs_by", _TWO_VECTORS, Type.NUMBERS, highs_by, "(keys, vector): largest for each key, ascending."),
)

READER_FUNCTIONS: Mapping[str, Function] = MappingProxyType({**FUNCTIONS, **{item.name: item for item in _EXTRA}})
