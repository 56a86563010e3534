"""The lift from numbers to arrays, and the checks of arguments.

The bodies of the economics functions are written for arrays of one shape. `vectorised` brings their arguments there
and turns the result back into a number when every argument was one.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Protocol, TypeVar, overload

import numpy as np

from specrules.economics.arrays import Array, Flags, Number
from specrules.economics.interval import Interval

ROUNDING = 1e-9
"""How far beyond its limit a value may land that was computed from exact ones, as a quotient of counts is."""

ScalarT_co = TypeVar("ScalarT_co", covariant=True)
StackT_co = TypeVar("StackT_co", covariant=True)


class Vectorised(Protocol[ScalarT_co, StackT_co]):
    """A function that gives a scalar for numbers and a stack for anything that holds an array."""

    __name__: str

    @overload
    def __call__(self, *args: float, **named: float) -> ScalarT_co: ...

    @overload
    def __call__(self, *args: Number, **named: Number) -> StackT_co: ...


@overload
def vectorised(function: Callable[..., Array]) -> Vectorised[float, Array]: ...


@overload
def vectorised(function: Callable[..., Flags]) -> Vectorised[bool, Flags]: ...


@overload
def vectorised(function: Callable[..., Interval[Array]]) -> Vectorised[Interval[float], Interval[Array]]: ...


def vectorised(function: Callable[..., Any]) -> Any:
    """Let `function`, written for float64 arrays of one shape, take numbers and arrays that broadcast.

    A result with `item()` (an array or an `Interval`) becomes a plain number when every argument was a number.
    Raises ValueError where an argument is not a finite number or the shapes do not broadcast.
    """
    signature = inspect.signature(function)

    @functools.wraps(function)
    def lifted(*args: Any, **named: Any) -> Any:
        bound = signature.bind(*args, **named)
        bound.apply_defaults()
        arrays = [finite(name, value) for name, value in bound.arguments.items()]
        result = function(**dict(zip(bound.arguments, np.broadcast_arrays(*arrays), strict=True)))
        return result.item() if all(array.ndim == 0 for array in arrays) else result

    return lifted


def finite(name: str, value: Any) -> Array:
    """Return `value` as a float64 array. Raises ValueError where it is not made of finite numbers."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be a number, got {value!r}") from error
    _refuse(name, array, ~np.isfinite(array), "must be a finite number")
    return array


def probability(**values: Array) -> None:
    """Raise ValueError for a value outside [0, 1]."""
    for name, array in values.items():
        _refuse(name, array, (array < 0) | (array > 1), "must lie between 0 and 1")


def positive(**values: Array) -> None:
    """Raise ValueError for a value that is not above 0."""
    for name, array in values.items():
        _refuse(name, array, array <= 0, "must be above 0")


def not_negative(**values: Array) -> None:
    """Raise ValueError for a value below 0."""
    for name, array in values.items():
        _refuse(name, array, array < 0, "must not be negative")


def at_least(bound: float, **values: Array) -> None:
    """Raise ValueError for a value below `bound`."""
    for name, array in values.items():
        _refuse(name, array, array < bound, f"must be at least {bound:g}")


def committed(**values: Array) -> None:
    """Raise ValueError for a number of tokens per round below 1: the unit is then probably a ratio."""
    for name, array in values.items():
        _refuse(name, array, array < 1, "must be at least 1, a round commits at least one token (is this a ratio?)")


def _refuse(name: str, array: Array, wrong: Flags, demand: str) -> None:
    if np.any(wrong):
        raise ValueError(f"{name} {demand}, got {float(array[wrong].flat[0]):g}")
