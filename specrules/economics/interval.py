"""A value with its two ends, and functions carried over the ends."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Self, TypeVar

import numpy as np

from specrules.economics.arrays import Array

NumberT = TypeVar("NumberT", float, Array)


@dataclass(frozen=True)
class Interval(Generic[NumberT]):
    """A best estimate between two ends; numbers, or arrays of one shape.

    NaN marks an end (or the middle) that is unknown. Raises ValueError where the known parts are out of order.
    """

    low: NumberT
    mid: NumberT
    high: NumberT

    def __post_init__(self) -> None:
        disordered = (self.low > self.mid) | (self.mid > self.high) | (self.low > self.high)
        if np.any(disordered):
            raise ValueError(f"interval out of order: low {self.low}, mid {self.mid}, high {self.high}")

    @classmethod
    def exact(cls, value: NumberT) -> Self:
        """The interval of a value that is known exactly."""
        return cls(value, value, value)

    @property
    def known(self) -> bool:
        """Whether both ends and the middle are known everywhere."""
        return not any(bool(np.any(np.isnan(part))) for part in (self.low, self.mid, self.high))

    def map(self, function: Callable[[NumberT], Any], *, decreasing: bool = False) -> Interval[Any]:
        """Carry the interval through a function of one argument that only rises (or, `decreasing`, only falls).

        Each end is evaluated on its own, so that an end where `function` has no value becomes NaN and the other end
        stays: a break-even acceptance can be possible at the low end and impossible at the high one.
        """
        low, mid, high = (function(part) for part in (self.low, self.mid, self.high))
        return Interval(high, mid, low) if decreasing else Interval(low, mid, high)

    def item(self) -> Interval[float]:
        """The same with plain numbers, from arrays of one element."""
        return Interval(*(np.asarray(part).item() for part in (self.low, self.mid, self.high)))


def corners(function: Callable[..., Any], **inputs: float | Array | Interval[Any]) -> Interval[Any]:
    """Evaluate `function` with every combination of the ends of its interval arguments.

    low and high are the smallest and largest value found, mid is the value at the middles. Exact where `function` is
    monotone in each argument while the others are held; elsewhere the true range may be wider. A corner without a
    value (NaN) makes low and high NaN. Costs 2^n evaluations for n interval arguments.
    """
    ends = {
        name: (value.low, value.high) if isinstance(value, Interval) else (value,) for name, value in inputs.items()
    }
    middle = function(**{name: value.mid if isinstance(value, Interval) else value for name, value in inputs.items()})
    found = [function(**dict(zip(ends, corner, strict=True))) for corner in itertools.product(*ends.values())]
    stack = np.stack(np.broadcast_arrays(middle, *found))
    low, mid, high = stack.min(axis=0), stack[0], stack.max(axis=0)
    result: Interval[Any] = Interval(low, mid, high)
    return result.item() if stack.ndim == 1 else result
