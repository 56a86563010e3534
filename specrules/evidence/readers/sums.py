"""Sums of numbers that come one after the other."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence


class ExactSum:
    """The correctly rounded sum of numbers, whatever order they come in; infinite beyond the range of a float.

    Keeps partial sums that do not overlap (Shewchuk, "Adaptive Precision Floating-Point Arithmetic", 1997).
    """

    __slots__ = ("_is_infinite", "_partials")

    def __init__(self, numbers: Iterable[float] = ()) -> None:
        self._partials: list[float] = []
        self._is_infinite = False
        for number in numbers:
            self.add(number)

    def add(self, number: float) -> None:
        """Add a number."""
        kept = []
        for partial in self._partials:
            large, small = (number, partial) if abs(number) >= abs(partial) else (partial, number)
            number = large + small
            error = small - (number - large)
            if error:
                kept.append(error)
        kept.append(number)
        self._is_infinite = self._is_infinite or not math.isfinite(number)
        self._partials = [] if self._is_infinite else kept

    def value(self) -> float:
        """Return the sum."""
        return math.inf if self._is_infinite else math.fsum(self._partials)


class VectorSum:
    """Sums of vectors, position by position; the shorter ones count as if filled up with zeros."""

    __slots__ = ("_columns",)

    def __init__(self) -> None:
        self._columns: list[ExactSum] = []

    def add(self, numbers: Sequence[float]) -> None:
        """Add a vector."""
        self._columns += [ExactSum() for _ in range(len(numbers) - len(self._columns))]
        for column, number in zip(self._columns, numbers, strict=False):
            column.add(number)

    def value(self) -> tuple[float, ...]:
        """Return the sums."""
        return tuple(column.value() for column in self._columns)
