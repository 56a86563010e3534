"""Logs: lines to fields. Lines that belong to one request end up in one record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from specrules.errors import Problem
from specrules.evidence.compiled import CompiledPattern, CompiledReader, LineMatcher
from specrules.evidence.fields import FieldError, Observed, Occurrence, Record, to_value
from specrules.evidence.source import Source
from specrules.model.fact import FactValue

_EXCERPT = 160
Groups = Mapping[str, str | None]
Process = tuple[str | None, ...]
Key = tuple[Process, tuple[tuple[str, str], ...]]


def observe(reader: CompiledReader, source: Source) -> Observed | None:
    """Return what the reader finds in a log, None where no line has one of its shapes.

    Raises EvidenceError for a line that is too long.
    """
    lines, warnings = source.complete_lines()
    collector = _Collector(reader, source)
    collector.read(lines)
    if not collector.observed.matched:
        return None
    collector.observed.warnings[:0] = warnings
    return collector.finish()


def match_line(reader: CompiledReader, line: str) -> tuple[CompiledPattern, Groups] | None:
    """Return the pattern that takes a line as an engine printed it, with its groups."""
    matcher = _matcher(reader)
    stripped, _ = _strip(matcher, _remove_first(matcher, line))
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


def _matcher(reader: CompiledReader) -> LineMatcher:
    if reader.lines is None:
        raise TypeError(f"the reader {reader.spec.id!r} does not read logs")
    return reader.lines


def _remove_first(matcher: LineMatcher, line: str) -> str:
    for index in matcher.first_set.matching(line):
        line = matcher.first[index].remove(line)
    return line


def _strip(matcher: LineMatcher, line: str) -> tuple[str, Process]:
    """Return the line without its prefixes, and the groups in them that tell processes apart."""
    process: list[str | None] = []
    for strip in matcher.prefixes:
        groups = strip.search(line)
        if groups is None:
            process += [None] * len(strip.groups)
            continue
        process += [groups[name] for name in strip.groups]
        line = strip.remove(line)
    return line, tuple(process)


class _Collector:
    """Sorts lines into records. `opened` is, per process, the request that lines without a key belong to."""

    def __init__(self, reader: CompiledReader, source: Source) -> None:
        self.reader = reader
        self.source = source
        self.matcher = _matcher(reader)
        self.observed = Observed()
        self.keyed: dict[Key, Record] = {}
        self.opened: dict[Process, Record] = {}
        self.processes: dict[Process, int] = {}

    def read(self, lines: Sequence[str]) -> None:
        """Take in all lines of the log."""
        screen, shapes = self.matcher.screen, self.matcher.shapes
        for number, raw in enumerate(lines, start=1):
            line = _remove_first(self.matcher, raw)
            if screen is not None and not screen.matching(line):
                continue
            stripped, process = _strip(self.matcher, line)
            found = shapes.matching(stripped)
            if not found:
                continue
            if found[0] >= len(self.reader.patterns):
                message = "the line looks like evidence and has no known shape"
                excerpt = stripped if len(stripped) <= _EXCERPT else stripped[:_EXCERPT] + " ..."
                self.observed.note_unread(Problem(message, self.source.at(number), excerpt=excerpt))
                continue
            self._take(self.reader.patterns[found[0]], stripped, process, number)

    def finish(self) -> Observed:
        """Return what was found, after a look at how many processes wrote the log."""
        named = {process: line for process, line in self.processes.items() if any(process)}
        if len(named) > 1:
            names = ", ".join("/".join(part for part in process if part) for process in named)
            message = f"the log mixes the lines of {len(named)} processes ({names}): cut it to one of them"
            self.observed.contradictions.append(Problem(message, self.source.at(list(named.values())[1])))
        for record in self.observed.records:
            record.settle(self.reader)
        return self.observed

    def _take(self, taken: CompiledPattern, line: str, process: Process, number: int) -> None:
        groups = taken.pattern.search(line) or {}
        self.observed.matched += 1
        self.processes.setdefault(process, number)
        # A line counts as a whole or not at all: its tokens without its time would make a wrong rate.
        try:
            values = line_values(self.reader, taken, groups)
        except FieldError as error:
            self.observed.warnings.append(Problem(f"{error}: the line was not read", self.source.at(number)))
            return
        record = self._record(taken, groups, process, values)
        if taken.spec.cumulative:
            record.forget([*taken.fields, *taken.spec.sets])
        for name, value in values.items():
            record.add(name, Occurrence(value, (number,)))

    def _record(
        self, taken: CompiledPattern, groups: Groups, process: Process, line: Mapping[str, FactValue]
    ) -> Record:
        """Return the record that a line belongs to, a new one where a request begins or nothing else is known."""
        spec = taken.spec
        values = tuple((name, groups[name]) for name in spec.key)
        key: Key | None = None
        if values and all(value is not None for _, value in values):
            key = (process, tuple((name, value or "") for name, value in values))
        opened = self.opened.get(process)
        record = None
        if key is not None:
            record = self.keyed.get(key)
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
            record = Record()
            self.observed.records.append(record)
            if key is not None:
                self.keyed[key] = record
        record.is_request = record.is_request or spec.per_request
        if spec.opens_request:
            self.opened[process] = record
        return record
