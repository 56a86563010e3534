"""What was found in a file: occurrences of fields in records, and how they become one value each."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from specrules.errors import Problem
from specrules.evidence.compiled import CompiledField, CompiledReader
from specrules.expressions import is_unknown
from specrules.model.fact import FactValue
from specrules.model.reader import ReaderField

Place = int | str
"""A line number, or the path of a value inside a JSON document."""

MAX_UNREAD = 100
_MAX_TEXT = 500
_TRUTH = {"true": True, "false": False, "yes": True, "no": False, "1": True, "0": False}


class FieldError(ValueError):
    """A value that is not of its field's type."""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One value of a field. `places` has more than one entry where it was computed from several."""

    value: FactValue
    places: tuple[Place, ...]


@dataclass(slots=True)
class Record:
    """What belongs together: the lines of one request, an item of a list, a whole metrics dump.

    `values` holds the combined fields of this record alone, once `settle` has been called.
    """

    is_request: bool = False
    found: dict[str, list[Occurrence]] = field(default_factory=dict)
    values: dict[str, FactValue] = field(default_factory=dict)

    def add(self, name: str, occurrence: Occurrence) -> None:
        """Note that a field occurred."""
        self.found.setdefault(name, []).append(occurrence)

    def forget(self, names: Iterable[str]) -> None:
        """Drop what was noted of these fields."""
        for name in names:
            self.found.pop(name, None)

    def settle(self, reader: CompiledReader) -> None:
        """Combine the fields of this record and compute the derived ones."""
        for item in reader.fields.values():
            value = _combined(item, [self]) if item.name in self.found else absent(item.spec)
            if value is not None:
                self.values[item.name] = value
        for item in reader.derived:
            self._derive(item)

    def _derive(self, item: CompiledField) -> None:
        expression = item.value
        if expression is None or (expression.names and not expression.names & self.found.keys()):
            return
        if item.when is not None and item.when.evaluate(self.values) is not True:
            return
        result = expression.evaluate(self.values)
        if is_unknown(result) or result in {(), ""}:
            return
        value: FactValue = (result,) if item.spec.combine == "list" else result  # type: ignore[assignment]
        names = expression.names & self.found.keys()
        places = dict.fromkeys(place for name in names for seen in self.found[name] for place in seen.places)
        self.add(item.name, Occurrence(value, tuple(places)))
        self.values[item.name] = value


@dataclass(slots=True)
class Observed:
    """Everything that a reader found in a file before facts are made of it. `matched` counts what it recognised."""

    records: list[Record] = field(default_factory=list)
    matched: int = 0
    warnings: list[Problem] = field(default_factory=list)
    unread: list[Problem] = field(default_factory=list)
    unread_lines: int = 0
    contradictions: list[Problem] = field(default_factory=list)

    def note_unread(self, problem: Problem) -> None:
        """Count a line that looks like evidence; the first hundred are kept."""
        self.unread_lines += 1
        if len(self.unread) < MAX_UNREAD:
            self.unread.append(problem)


@dataclass(frozen=True, slots=True)
class Combined:
    """One value for each known field, with the places that it was taken from."""

    values: Mapping[str, FactValue]
    places: Mapping[str, tuple[Place, ...]]


def combine(reader: CompiledReader, records: Sequence[Record]) -> Combined:
    """Combine the fields of settled records."""
    values: dict[str, FactValue] = {}
    places: dict[str, tuple[Place, ...]] = {}
    for item in reader.fields.values():
        holders = [record for record in records if item.name in record.found]
        value = _combined(item, holders) if holders else absent(item.spec)
        if value is None:
            continue
        values[item.name] = value
        spots = (place for seen in _occurrences(item.name, holders) for place in seen.places)
        places[item.name] = tuple(dict.fromkeys(spots))
    return Combined(values, places)


def absent(spec: ReaderField) -> FactValue | None:
    """Return what the absence of a field means; None for unknown."""
    if spec.default is not None:
        return spec.default
    return False if spec.type == "flag" and spec.combine == "any" else None


def to_value(item: CompiledField, raw: object) -> FactValue | None:
    """Return a raw value as the field's type, None where the field's `match` does not find its part in a text.

    Raises FieldError for a value of another type, and for numbers that are not finite.
    """
    spec = item.spec
    if spec.combine == "list":
        return (_number(raw),)
    if spec.type == "number":
        return _number(raw)
    if spec.type == "numbers":
        return _numbers(raw)
    if spec.type == "flag":
        return _flag(raw, spec.values)
    text = _text(raw)
    if item.match is not None:
        part = item.match.first_group(text)
        if not part:
            return None
        text = part
    return spec.values.get(text, text)


def _number(raw: object) -> float:
    if isinstance(raw, bool) or not isinstance(raw, int | float | str):
        raise FieldError(f"{_shown(raw)} is no number")
    try:
        number = float(raw)
    except ValueError:
        raise FieldError(f"{_shown(raw)} is no number") from None
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise FieldError(f"{_shown(raw)} is no finite number")
    return number + 0.0


def _numbers(raw: object) -> tuple[float, ...]:
    if isinstance(raw, str):
        return tuple(_number(part) for part in raw.replace(",", " ").split())
    if isinstance(raw, list):
        return tuple(_number(part) for part in raw)
    raise FieldError(f"{_shown(raw)} is no list of numbers")


def _flag(raw: object, spellings: Mapping[str, str]) -> bool:
    if isinstance(raw, bool):
        return raw
    text = str(raw).strip()
    word = spellings.get(text, text).lower()
    if word not in _TRUTH:
        raise FieldError(f"{_shown(raw)} is neither true nor false")
    return _TRUTH[word]


def _text(raw: object) -> str:
    if isinstance(raw, bool) or not isinstance(raw, str | int | float):
        raise FieldError(f"{_shown(raw)} is no text")
    # Texts end up in reports and on terminals, and JSON can spell characters that no encoding has.
    clean = "".join(char if char.isprintable() else " " for char in str(raw).strip())
    return clean if len(clean) <= _MAX_TEXT else clean[:_MAX_TEXT] + " ..."


def _shown(raw: object) -> str:
    text = ascii(raw)
    return text if len(text) <= 40 else text[:40] + "..."


def _combined(item: CompiledField, records: Sequence[Record]) -> FactValue | None:
    """Combine the occurrences of a field in the records that have it; None where no finite value comes out."""
    found = [seen.value for seen in sorted(_occurrences(item.name, records), key=_line)]
    value = _mean(item, records) if item.spec.combine == "mean" else _reduce(item.spec, found)
    numbers = value if isinstance(value, tuple) else (value,)
    if any(isinstance(number, float) and not math.isfinite(number) for number in numbers):
        return None
    return value


def _occurrences(name: str, records: Sequence[Record]) -> Iterator[Occurrence]:
    return (seen for record in records for seen in record.found[name])


def _line(seen: Occurrence) -> int:
    """Return the line of an occurrence; what has none keeps its order."""
    return next((place for place in seen.places if isinstance(place, int)), 0)


def _reduce(spec: ReaderField, found: Sequence[FactValue]) -> FactValue | None:
    match spec.combine:
        case "first":
            return found[0]
        case "last":
            return found[-1]
        case "any":
            return any(value is True for value in found)
        case "join":
            return ",".join(dict.fromkeys(str(value) for value in found))
        case "list":
            return tuple(number for value in found if isinstance(value, tuple) for number in value)
        case "sum" if spec.type == "numbers":
            return tuple(map(_sum, zip_longest(*_vectors(found), fillvalue=0.0)))
    numbers = [value for value in found if isinstance(value, float)]
    match spec.combine:
        case "max":
            return max(numbers)
        case "min":
            return min(numbers)
    return _sum(numbers)


def _mean(item: CompiledField, records: Sequence[Record]) -> FactValue | None:
    """Return the mean over the records, weighted; None where a weight is unknown and matters."""
    weighted: list[tuple[float, FactValue]] = []
    for record in records:
        weight: object = 1.0
        if item.weight is not None and len(records) > 1:
            weight = item.weight.evaluate(record.values)
        for seen in record.found[item.name]:
            if not isinstance(weight, float):
                return None
            weighted.append((weight, seen.value))
    whole = _sum(weight for weight, _ in weighted)
    if not math.isfinite(whole) or whole <= 0:
        return None
    if item.spec.type == "numbers":
        vectors = [tuple(weight * number for number in value) for weight, value in weighted if isinstance(value, tuple)]
        return tuple(_sum(column) / whole for column in zip_longest(*vectors, fillvalue=0.0))
    return _sum(weight * value for weight, value in weighted if isinstance(value, float)) / whole


def _vectors(found: Sequence[FactValue]) -> list[tuple[float, ...]]:
    return [value for value in found if isinstance(value, tuple)]


def _sum(numbers: Iterable[float]) -> float:
    """Return the sum, infinite where it is beyond the range of a float."""
    try:
        return math.fsum(numbers)
    except (OverflowError, ValueError):
        return math.inf
