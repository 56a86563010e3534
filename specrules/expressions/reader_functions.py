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


_EXTRA = (
    Function("rounded", (Type.NUMBER,), Type.NUMBER, rounded, "Nearest whole number."),
    Function("total", (Type.NUMBERS,), Type.NUMBER, total, "Sum of a list of numbers."),
    Function("shares", (Type.NUMBERS, Type.NUMBER), Type.NUMBERS, shares, "(vector, whole): entries over the whole."),
)

READER_FUNCTIONS: Mapping[str, Function] = MappingProxyType({**FUNCTIONS, **{item.name: item for item in _EXTRA}})
