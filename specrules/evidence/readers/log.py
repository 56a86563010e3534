"""Logs: lines to fields. Lines that belong to one request end up in one record."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Mapping

from specrules.errors import Location, Problem
from specrules.evidence.readers.compiled import CompiledPattern, CompiledReader, LineMatcher
from specrules.evidence.readers.fields import FieldError, Occurrence, to_value
from specrules.evidence.readers.observed import Observed, Record
from specrules.evidence.readers.stream import plain
from specrules.model.fact import FactValue

MAX_OPEN = 2048
MAX_PROCESSES = 1024
_EXCERPT = 160
Groups = Mapping[str, str | None]
Process = tuple[str | None, ...]
Key = tuple[Process, tuple[tuple[str, str], ...]]


def match_line(reader: CompiledReader, line: str) -> tuple[CompiledPattern, Groups] | None:
    """Return the pattern that takes a line as an engine printed it, with its groups."""
    matcher = matcher_of(reader)
    stripped, _ = _stripped(matcher, plain(line.encode(errors="replace")))
    found = matcher.shapes.matching(stripped)
    if not found or found[0] >= len(reader.patterns):
        return None
    taken = reader.patterns[found[0]]
    return taken, taken.pattern.search(stripped) or {}


def line_values(reader: CompiledReader, taken: CompiledPattern, groups: Groups) -> dict[str, FactValue]:
    """Return the fields that a line gives. FieldError where one of them is not what it should be."""
    raw: dict[str, object] = {name: groups[name] for name in taken.fields if groups[name] is not None}
    raw |= taken.spec.sets
    values = {}
    for name, found in raw.items():
        try:
            value = to_value(reader.fields[name], found)
        except FieldError as error:
            raise FieldError(f"{name}: {error}") from None
        if value is not None:
            values[name] = value
    return values


def matcher_of(reader: CompiledReader) -> LineMatcher:
    """Return what a reader of logs looks for in lines."""
    if reader.lines is None:
        raise TypeError(f"the reader {reader.spec.id!r} does not read logs")
    return reader.lines


def _stripped(matcher: LineMatcher, line: bytes) -> tuple[bytes, Process]:
    """Return the line without what is removed, and the groups in its prefixes that tell processes apart."""
    for index in matcher.first_set.matching(line):
        line = matcher.first[index].remove(line)
    return matcher.prefixes.remove(line)


class LogCollector:
    """Sorts the lines of one log into records for one reader.

    Requests are folded away when many others have been touched since, so that a log of any length takes a bounded
    number of records. Records that are replaced line by line since the server started stay to the end.
    """

    def __init__(self, reader: CompiledReader, name: str) -> None:
        self.reader = reader
        self.observed = Observed(reader)
        self._name = name
        self._matcher = matcher_of(reader)
        self._serial = 0
        self._requests: OrderedDict[int, Record] = OrderedDict()
        self._standing: OrderedDict[int, Record] = OrderedDict()
        self._keyed: dict[Hashable, Record] = {}
        # The request that lines without a key belong to, for each process.
        self._opened: OrderedDict[Process, Record] = OrderedDict()
        self._processes: dict[Process, int] = {}

    def take(self, line: bytes, number: int) -> bool:
        """Take in a line of the log; tell whether a pattern of the reader takes it."""
        stripped, process = _stripped(self._matcher, line)
        found = self._matcher.shapes.matching(stripped)
        if not found:
            return False
        if found[0] >= len(self.reader.patterns):
            message = "the line looks like evidence and has no known shape"
            text = stripped.decode(errors="replace")
            excerpt = text if len(text) <= _EXCERPT else text[:_EXCERPT] + " ..."
            self.observed.note_unread(Problem(message, Location(self._name, number), excerpt=excerpt))
            return False
        self.observed.matched += 1
        self.observed.by_pattern[found[0]] += 1
        self._note(self.reader.patterns[found[0]], stripped, process, number)
        return True

    def forget(self) -> None:
        """Drop what was collected: another reader knows more of the log."""
        matched = self.observed.matched
        self.observed = Observed(self.reader)
        self.observed.matched = matched
        for kept in (self._requests, self._standing, self._keyed, self._opened, self._processes):
            kept.clear()

    def finish(self) -> Observed:
        """Return what was found, after a look at how many processes wrote the log. Called once."""
        named = {process: line for process, line in self._processes.items() if any(process)}
        if len(named) > 1:
            names = ", ".join("/".join(part for part in process if part) for process in named)
            message = f"the log mixes the lines of {len(named)} processes ({names}): cut it to one of them"
            self.observed.contradictions.append(Problem(message, Location(self._name, list(named.values())[1])))
        for record in sorted([*self._requests.values(), *self._standing.values()], key=lambda record: record.serial):
            self.observed.fold(record)
        for name in self.observed.cut_fields():
            self.observed.warn(Problem(f"{name} has too many different values: it was not read", Location(self._name)))
        return self.observed

    def _note(self, taken: CompiledPattern, line: bytes, process: Process, number: int) -> None:
        groups = taken.pattern.search(line) or {}
        if len(self._processes) < MAX_PROCESSES:
            self._processes.setdefault(process, number)
        # A line counts as a whole or not at all: its tokens without its time would make a wrong rate.
        try:
            values = line_values(self.reader, taken, groups)
        except FieldError as error:
            self.observed.warn(Problem(f"{error}: the line was not read", Location(self._name, number)))
            return
        spec = taken.spec
        key = _key_of(taken, groups, process)
        if key is None and not spec.per_request and not spec.opens_request:
            record = Record()
            _add(record, values, number)
            self.observed.fold(record)
            return
        record = self._record(taken, key, process, values)
        if spec.cumulative:
            record.forget([*taken.fields, *spec.sets])
        _add(record, values, number)
        self._fold_oldest()

    def _record(
        self, taken: CompiledPattern, key: Key | None, process: Process, line: Mapping[str, FactValue]
    ) -> Record:
        """Return the record that a line belongs to, a new one where a request begins or nothing else is known."""
        spec = taken.spec
        opened = self._opened.get(process)
        record = None
        if key is not None:
            record = self._keyed.get(key)
            # The same key later on is another request: its numbers start again with the server.
            if (
                spec.opens_request
                and record is not None
                and (record is not opened or line.keys() & record.found.keys())
            ):
                record = None
        elif spec.per_request and not spec.opens_request:
            record = opened
        if record is None:
            self._serial += 1
            record = Record(serial=self._serial, key=key)
            if key is not None:
                self._keyed[key] = record
        record.is_request = record.is_request or spec.per_request
        if spec.cumulative:
            self._requests.pop(record.serial, None)
            self._standing[record.serial] = record
        kept = self._standing if record.serial in self._standing else self._requests
        kept[record.serial] = record
        kept.move_to_end(record.serial)
        if spec.opens_request:
            self._opened[process] = record
            self._opened.move_to_end(process)
            if len(self._opened) > MAX_PROCESSES:
                self._opened.popitem(last=False)
        return record

    def _fold_oldest(self) -> None:
        for kept in (self._requests, self._standing):
            if len(kept) <= MAX_OPEN:
                continue
            _, record = kept.popitem(last=False)
            if self._keyed.get(record.key) is record:
                del self._keyed[record.key]
            for process in [process for process, opened in self._opened.items() if opened is record]:
                del self._opened[process]
            self.observed.fold(record)


def _key_of(taken: CompiledPattern, groups: Groups, process: Process) -> Key | None:
    """Return what a line says about the record that it belongs to, None where it does not say all of it."""
    values = []
    for name in taken.spec.key:
        value = groups[name]
        if value is None:
            return None
        values.append((name, value))
    return (process, tuple(values)) if values else None


def _add(record: Record, values: Mapping[str, FactValue], number: int) -> None:
    places = (number,)
    for name, value in values.items():
        record.add(name, Occurrence(value, places))
