"""Prometheus dumps: the series of a metric to fields."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from specrules.errors import EvidenceError, Problem
from specrules.evidence.compiled import CompiledField, CompiledReader
from specrules.evidence.fields import FieldError, Observed, Occurrence, Record, to_value
from specrules.evidence.source import Source

_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
_TYPE = re.compile(r"# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (\w+)")
_MAX_POSITIONS = 4096


@dataclass(frozen=True, slots=True)
class _Series:
    """One sample of a metric."""

    labels: tuple[tuple[str, str], ...]
    value: float
    line: int


def observe(reader: CompiledReader, source: Source) -> Observed | None:
    """Return what the reader finds in a dump, None where a metric that it requires is missing.

    Raises EvidenceError for a line of a wanted metric that is not in the exposition format.
    """
    if not all(_mentions(source.text, name) for name in reader.spec.requires):
        return None
    lines, warnings = source.complete_lines()
    metrics = {field.spec.metric for field in reader.fields.values() if field.spec.metric}
    series, types = _parse(lines, metrics | set(reader.spec.requires), source)
    if not all(series.get(name) for name in reader.spec.requires):
        return None
    dump = _Dump(source, Observed(warnings=list(warnings)), types)
    record = Record()
    for field in reader.fields.values():
        found = series.get(field.spec.metric or "", [])
        if found:
            dump.observed.matched += len(found)
            dump.add(record, field, dump.latest(field.spec.metric or "", found))
    record.settle(reader)
    dump.observed.records.append(record)
    return dump.observed


def _mentions(text: str, name: str) -> bool:
    return text.startswith(name) or f"\n{name}" in text


def _parse(lines: Sequence[str], wanted: set[str], source: Source) -> tuple[dict[str, list[_Series]], dict[str, str]]:
    """Return the series of the wanted metrics, and the type of each metric where the dump states it."""
    from prometheus_client.parser import text_string_to_metric_families

    series: dict[str, list[_Series]] = {}
    types: dict[str, str] = {}
    for number, line in enumerate(lines, start=1):
        stated = _TYPE.match(line)
        if stated:
            types[stated[1]] = stated[2]
        name = _NAME.match(line)
        if name is None or name[0] not in wanted:
            continue
        # A line at a time: the parser knows no line numbers, and a metric's other lines do not change its value.
        try:
            samples = [sample for family in text_string_to_metric_families(line) for sample in family.samples]
        except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
            message = f"this is not a sample of {name[0]} in the exposition format: {error}"
            raise EvidenceError(Problem(message, source.at(number))) from None
        for sample in samples:
            labels = tuple(sorted(sample.labels.items()))
            series.setdefault(sample.name, []).append(_Series(labels, _float(sample.value), number))
    return series, types


def _float(value: float) -> float:
    """Return a sample's value; the parser gives integers of any size."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


class _Dump:
    """Turns series into occurrences and says what it had to decide on the way."""

    def __init__(self, source: Source, observed: Observed, types: dict[str, str]) -> None:
        self.source = source
        self.observed = observed
        self.types = types
        self.told: set[str] = set()

    def latest(self, metric: str, series: Sequence[_Series]) -> list[_Series]:
        """Return one sample per series: of two scrapes in one file the later one counts."""
        by_labels = {item.labels: item for item in series}
        if len(by_labels) < len(series):
            message = (
                f"{metric} stands {len(series)} times in the file for {len(by_labels)} series: the last one counts"
            )
            self._tell(metric, message, series[-1].line)
        return list(by_labels.values())

    def add(self, record: Record, field: CompiledField, series: Sequence[_Series]) -> None:
        """Note the series of a field, by the values of its label where it has one."""
        if field.spec.label is not None:
            self._add_vector(record, field, series, field.spec.label)
            return
        metric = field.spec.metric or ""
        if len(series) > 1:
            kind = self.types.get(metric, "metric")
            message = f"{metric} has {len(series)} series: this {kind} is read as their {field.spec.combine}"
            self._tell(metric, message, series[0].line)
        self._add(record, field, [(item.value, (item.line,)) for item in series])

    def _add_vector(self, record: Record, field: CompiledField, series: Sequence[_Series], label: str) -> None:
        metric = field.spec.metric or ""
        positions: dict[int, list[_Series]] = {}
        for item in series:
            value = dict(item.labels).get(label, "")
            if not (value.isascii() and value.isdigit()) or int(value) >= _MAX_POSITIONS:
                message = f"{metric} has no number of a position in the label {label!r}: it was not read"
                self.observed.warnings.append(Problem(message, self.source.at(item.line)))
                return
            positions.setdefault(int(value), []).append(item)
        missing = [str(index) for index in range(max(positions) + 1) if index not in positions]
        if missing:
            message = f"{metric} lacks the {label} {', '.join(missing[:5])}: it was not read"
            self.observed.warnings.append(Problem(message, self.source.at(series[0].line)))
            return
        parts = max(len(items) for items in positions.values())
        if parts > 1:
            message = f"{metric} has {parts} series for each {label}: they were added up"
            self._tell(metric, message, series[0].line)
        vector = [sum(item.value for item in positions[index]) for index in sorted(positions)]
        self._add(record, field, [(vector, tuple(item.line for item in series))])

    def _add(self, record: Record, field: CompiledField, found: Sequence[tuple[object, tuple[int, ...]]]) -> None:
        """Note all series of a field, or none where one of them has no finite number: a part is not the sum."""
        for raw, lines in found:
            try:
                value = to_value(field, raw)
            except FieldError as error:
                record.forget([field.name])
                message = f"{field.spec.metric}: {error}; it was not read"
                self.observed.warnings.append(Problem(message, self.source.at(lines[0])))
                return
            if value is not None:
                record.add(field.name, Occurrence(value, lines))

    def _tell(self, metric: str, message: str, line: int) -> None:
        if metric not in self.told:
            self.told.add(metric)
            self.observed.warnings.append(Problem(message, self.source.at(line)))
