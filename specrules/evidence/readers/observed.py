"""What a reader found in a file: records, folded into one value for each field as soon as they are complete."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field

from specrules.errors import Problem
from specrules.evidence.readers.compiled import CompiledField, CompiledReader
from specrules.evidence.readers.fields import Occurrence
from specrules.evidence.readers.totals import Places, Total, new_total, settled
from specrules.expressions import is_unknown
from specrules.model.fact import FactValue

MAX_UNREAD = 100
MAX_WARNINGS = 20
MAX_SAMPLES = 4_000


@dataclass(slots=True)
class Record:
    """What belongs together: the lines of one request, an item of a list, a whole metrics dump.

    `values` holds the combined fields of this record alone, once `settle` has been called. `serial` orders records by
    their beginnings; `key` is how lines of a log find theirs.
    """

    is_request: bool = False
    is_settled: bool = False
    serial: int = 0
    key: Hashable = None
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
        """Combine the fields of this record and compute the derived ones, once."""
        if self.is_settled:
            return
        self.is_settled = True
        self.values = dict(reader.absent)
        for name, found in self.found.items():
            value = _combined(reader.fields[name], found)
            if value is None:
                self.values.pop(name, None)
            else:
                self.values[name] = value
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


class Samples:
    """The facts of single requests: of all of them, or of one in two, four, .. of very many. `requests` counts all."""

    def __init__(self, reader: CompiledReader) -> None:
        self.step = 1
        self.requests = 0
        self._rules = reader.sampled
        self._kept: list[dict[str, float]] = []

    def add(self, values: Mapping[str, FactValue]) -> None:
        """Take in the fields of a request."""
        if self._rules and self.requests % self.step == 0:
            self._kept.append(self._facts(values))
            if len(self._kept) > MAX_SAMPLES:
                self._kept = self._kept[::2]
                self.step *= 2
        self.requests += 1

    def of(self, fact: str) -> tuple[float, ...]:
        """Return the values of a fact in the requests that were kept and have it, in their order."""
        return tuple(row[fact] for row in self._kept if fact in row)

    def _facts(self, values: Mapping[str, FactValue]) -> dict[str, float]:
        row = {}
        for fact, rules in self._rules.items():
            value = next((value for rule in rules if (value := rule.result(values)) is not None), None)
            if isinstance(value, float):
                row[fact] = value
        return row


@dataclass(frozen=True, slots=True)
class Combined:
    """One value for each known field, with the places that it was taken from."""

    values: Mapping[str, FactValue]
    places: Mapping[str, Places]


class Observed:
    """Everything that a reader found in a file before facts are made of it.

    `matched` counts what it recognised, `by_pattern` the lines of a log by the index of their pattern. `inexact` are
    fields whose value is known only roughly; `is_idle` says that nothing happened in the time that the file is about.
    `run` holds the fields by which a file with several runs is split, as they are in this one.
    """

    def __init__(self, reader: CompiledReader) -> None:
        self.reader = reader
        self.matched = 0
        self.by_pattern: Counter[int] = Counter()
        self.warnings: list[Problem] = []
        self.more_warnings = 0
        self.unread: list[Problem] = []
        self.unread_lines = 0
        self.contradictions: list[Problem] = []
        self.inexact: frozenset[str] = frozenset()
        self.is_idle = False
        self.run: dict[str, FactValue] = {}
        self.samples = Samples(reader)
        self._plain = reader.plain
        self._totals: dict[str, Total] = {}
        self._places: dict[str, Places] = {}

    def warn(self, problem: Problem) -> None:
        """Note a warning; of endless ones the first twenty are kept."""
        if len(self.warnings) < MAX_WARNINGS:
            self.warnings.append(problem)
        else:
            self.more_warnings += 1

    def note_unread(self, problem: Problem) -> None:
        """Count a line that looks like evidence; the first hundred are kept."""
        self.unread_lines += 1
        if len(self.unread) < MAX_UNREAD:
            self.unread.append(problem)

    def fold(self, record: Record) -> None:
        """Take in a record to which nothing will be added."""
        # Most lines of a log are records of their own from which nothing is computed.
        if record.is_request or not self._plain.issuperset(record.found):
            record.settle(self.reader)
        for name, found in record.found.items():
            item = self.reader.fields[name]
            total = self._totals.get(name)
            if total is None:
                total = self._totals[name] = new_total(item)
                self._places[name] = Places()
            if item.weight is not None:
                total.weight = item.weight.evaluate(record.values)
            total.add(found)
            places = self._places[name]
            for seen in found:
                places.add(seen.places)
        if record.is_request:
            self.samples.add(record.values)

    def combined(self) -> Combined:
        """Return the fields of all records that were folded."""
        values: dict[str, FactValue] = {}
        for name in self.reader.fields:
            total = self._totals.get(name)
            value = self.reader.absent.get(name) if total is None else settled(total)
            if value is not None:
                values[name] = value
        return Combined(values, self._places)

    def cut_fields(self) -> list[str]:
        """Return the fields with more different values than are kept."""
        return [name for name, total in self._totals.items() if total.is_cut]


def _combined(item: CompiledField, found: list[Occurrence]) -> FactValue | None:
    """Combine the occurrences of a field in one record; None where no finite value comes out."""
    if len(found) == 1:
        return found[0].value
    total = new_total(item)
    total.add(found)
    return settled(total)
