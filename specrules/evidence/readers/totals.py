"""One value for each field of a file, summed up while the file is read: nothing is kept for each occurrence."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

from specrules.evidence.readers.compiled import CompiledField
from specrules.evidence.readers.fields import Occurrence, Place
from specrules.evidence.readers.sums import ExactSum, VectorSum
from specrules.model.fact import FactValue

MAX_PLACES = 2_000
MAX_TEXTS = 1_000
MAX_NUMBERS = 100_000


class Places:
    """Where the occurrences of a field stand: the first 2,000 of them, and the last line."""

    __slots__ = ("_seen", "last_line", "more")

    def __init__(self) -> None:
        self._seen: dict[Place, None] = {}
        self.last_line = 0
        self.more = False

    def add(self, places: Iterable[Place]) -> None:
        """Note places."""
        for place in places:
            if isinstance(place, int) and place > self.last_line:
                self.last_line = place
            if len(self._seen) < MAX_PLACES:
                self._seen[place] = None
            elif place not in self._seen:
                self.more = True

    def first(self) -> Iterable[Place]:
        """Return the places that were kept, in the order in which they came."""
        return self._seen


def line_of(seen: Occurrence) -> int:
    """Return the line of an occurrence; what has none keeps its order."""
    return next((place for place in seen.places if isinstance(place, int)), 0)


class Total(ABC):
    """The combined value of a field over the records that have it.

    `weight` is the one of the record that is added next. `is_cut` tells that a text or a list had more different
    entries than are kept.
    """

    weight: object = 1.0
    is_cut = False

    @abstractmethod
    def add(self, found: Sequence[Occurrence]) -> None:
        """Take in the occurrences of one record."""

    @abstractmethod
    def value(self) -> FactValue | None:
        """Return the value, None for unknown. Numbers may be infinite."""


class _First(Total):
    def __init__(self) -> None:
        self.seen: Occurrence | None = None

    def add(self, found: Sequence[Occurrence]) -> None:
        for seen in found:
            if self.seen is None or line_of(seen) < line_of(self.seen):
                self.seen = seen

    def value(self) -> FactValue | None:
        return None if self.seen is None else self.seen.value


class _Last(_First):
    def add(self, found: Sequence[Occurrence]) -> None:
        for seen in found:
            if self.seen is None or line_of(seen) >= line_of(self.seen):
                self.seen = seen


class _Numbers(Total):
    """Totals of single numbers, of which one value is carried on."""

    def __init__(self) -> None:
        self.number: float | None = None

    def add(self, found: Sequence[Occurrence]) -> None:
        for seen in found:
            if isinstance(seen.value, float):
                self.number = seen.value if self.number is None else self.chosen(self.number, seen.value)

    def value(self) -> FactValue | None:
        return self.number

    @abstractmethod
    def chosen(self, one: float, other: float) -> float: ...


class _Highest(_Numbers):
    def chosen(self, one: float, other: float) -> float:
        return max(one, other)


class _Lowest(_Numbers):
    def chosen(self, one: float, other: float) -> float:
        return min(one, other)


class _AnyTrue(Total):
    def __init__(self) -> None:
        self.is_true = False

    def add(self, found: Sequence[Occurrence]) -> None:
        self.is_true = self.is_true or any(seen.value is True for seen in found)

    def value(self) -> FactValue | None:
        return self.is_true


class _Joined(Total):
    def __init__(self) -> None:
        self.texts: dict[str, int] = {}

    def add(self, found: Sequence[Occurrence]) -> None:
        for seen in found:
            text, line = str(seen.value), line_of(seen)
            if text in self.texts:
                self.texts[text] = min(line, self.texts[text])
            elif len(self.texts) < MAX_TEXTS:
                self.texts[text] = line
            else:
                self.is_cut = True

    def value(self) -> FactValue | None:
        return ",".join(sorted(self.texts, key=lambda text: self.texts[text]))


class _Listed(Total):
    def __init__(self) -> None:
        self.numbers: list[tuple[int, float]] = []

    def add(self, found: Sequence[Occurrence]) -> None:
        for seen in found:
            if len(self.numbers) >= MAX_NUMBERS:
                self.is_cut = True
            elif isinstance(seen.value, tuple):
                self.numbers += [(line_of(seen), number) for number in seen.value]

    def value(self) -> FactValue | None:
        return tuple(number for _, number in sorted(self.numbers, key=lambda entry: entry[0]))


class _Sum(Total):
    def __init__(self) -> None:
        self.numbers = ExactSum()

    def add(self, found: Sequence[Occurrence]) -> None:
        for seen in found:
            if isinstance(seen.value, float):
                self.numbers.add(seen.value)

    def value(self) -> FactValue | None:
        return self.numbers.value()


class _VectorSum(Total):
    def __init__(self) -> None:
        self.vectors = VectorSum()

    def add(self, found: Sequence[Occurrence]) -> None:
        for seen in found:
            if isinstance(seen.value, tuple):
                self.vectors.add(seen.value)

    def value(self) -> FactValue | None:
        return self.vectors.value()


class _Mean(Total):
    """A weighted mean of numbers or vectors. One record needs no weight; of several, each weight must be known."""

    def __init__(self) -> None:
        self.vectors = VectorSum()
        self.weights = ExactSum()
        self.alone: FactValue | None = None
        self.records = 0
        self.is_open = False
        self.is_vector = False

    def add(self, found: Sequence[Occurrence]) -> None:
        self.records += 1
        if self.records == 1:
            self.alone = _plain_mean(found)
        weight = self.weight
        if not isinstance(weight, float):
            self.is_open = True
            return
        for seen in found:
            self.is_vector = isinstance(seen.value, tuple)
            self.weights.add(weight)
            self.vectors.add([weight * number for number in _as_vector(seen.value)])

    def value(self) -> FactValue | None:
        if self.records == 1:
            return self.alone
        whole = self.weights.value()
        if self.is_open or not math.isfinite(whole) or whole <= 0:
            return None
        columns = tuple(column / whole for column in self.vectors.value())
        return columns if self.is_vector else columns[0]


_TOTALS: dict[str, type[Total]] = {
    "first": _First,
    "last": _Last,
    "max": _Highest,
    "min": _Lowest,
    "any": _AnyTrue,
    "join": _Joined,
    "list": _Listed,
    "sum": _Sum,
    "mean": _Mean,
}


def new_total(item: CompiledField) -> Total:
    """Return an empty total for a field."""
    spec = item.spec
    return _VectorSum() if spec.type == "numbers" and spec.combine == "sum" else _TOTALS[spec.combine]()


def settled(total: Total) -> FactValue | None:
    """Return the value of a total, None where it is not finite or a part of it was left out."""
    value = None if total.is_cut else total.value()
    return value if value is None or _is_finite(value) else None


def _is_finite(value: FactValue) -> bool:
    """Tell whether every number in a value is finite."""
    numbers = value if isinstance(value, tuple) else (value,)
    return all(math.isfinite(number) for number in numbers if isinstance(number, float))


def _plain_mean(found: Sequence[Occurrence]) -> FactValue:
    sums = VectorSum()
    for seen in found:
        sums.add(_as_vector(seen.value))
    columns = tuple(column / len(found) for column in sums.value())
    return columns if isinstance(found[0].value, tuple) else columns[0]


def _as_vector(value: FactValue) -> tuple[float, ...]:
    return value if isinstance(value, tuple) else (value,) if isinstance(value, float) else ()
