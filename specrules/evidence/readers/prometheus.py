"""Prometheus dumps: the series of a metric to fields, from one dump or from the difference of two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from specrules.errors import EvidenceError, Problem
from specrules.evidence.readers.compiled import CompiledField, CompiledReader
from specrules.evidence.readers.difference import START, created_of, difference, latest
from specrules.evidence.readers.dump import Dump, Series, parse_dump
from specrules.evidence.readers.fields import FieldError, Occurrence, to_value
from specrules.evidence.readers.observed import Observed, Record
from specrules.evidence.source import Source

_MAX_POSITIONS = 4096


def observe(reader: CompiledReader, source: Source, before: Source | None = None) -> Observed | None:
    """Return what the reader finds in a dump, None where a metric that it requires is missing.

    With an earlier dump of the same server: what happened since. Raises EvidenceError for a line of a wanted metric
    that is not in the exposition format, an earlier dump of another kind, and a server that was restarted in between.
    """
    dump = _parse(reader, source, with_starts=before is not None)
    if dump is None:
        return None
    series = _Series(reader, dump)
    if before is not None:
        series.add_difference(before)
    else:
        series.add_all()
    return series.finish()


def observe_window(
    reader: CompiledReader,
    name: str,
    rose: Mapping[str, Sequence[Series]],
    means: Mapping[str, Sequence[Series]],
    types: Mapping[str, str],
) -> Observed | None:
    """Return what a reader finds in a range of time, None where a metric that it requires is missing.

    `rose` holds by metric how far each series rose, `means` what it was on average. Counters are taken from the first,
    gauges from the second; an average over a server's lifetime is unknown in a range. `name` says where all is from.
    """
    if not all(means.get(metric) for metric in reader.spec.requires):
        return None
    series = _Series(reader, Dump(Source(name, ""), means, types, ()))
    series.add_window(rose)
    return series.finish()


def counters_of(reader: CompiledReader, types: Mapping[str, str]) -> frozenset[str]:
    """Return the metrics of a reader that count up since the server started."""
    dump = Dump(Source("", ""), {}, types, ())
    fields = (field for field in reader.fields.values() if dump.is_counter(field))
    return frozenset(field.spec.metric for field in fields if field.spec.metric is not None)


def _parse(reader: CompiledReader, source: Source, *, with_starts: bool) -> Dump | None:
    """Return the metrics that a reader wants, None where one that it requires is missing."""
    if not all(_mentions(source.text, name) for name in reader.spec.requires):
        return None
    wanted = {field.spec.metric for field in reader.fields.values() if field.spec.metric}
    starts = {START, *map(created_of, wanted)} if with_starts else set()
    dump = parse_dump(source, wanted | set(reader.spec.requires) | starts)
    return dump if all(dump.of(name) for name in reader.spec.requires) else None


def _mentions(text: str, name: str) -> bool:
    return text.startswith(name) or f"\n{name}" in text


class _Series:
    """Turns series into one record of occurrences and says what it had to decide on the way."""

    def __init__(self, reader: CompiledReader, dump: Dump) -> None:
        self.reader = reader
        self.dump = dump
        self.observed = Observed(reader)
        self.record = Record()
        self.told: set[str] = set()
        for warning in dump.warnings:
            self.observed.warn(warning)

    def add_all(self) -> None:
        """Note the series of the dump itself."""
        counters = []
        for field in self.reader.fields.values():
            metric = field.spec.metric
            found = self.dump.of(metric)
            if metric is None or not found:
                continue
            single = latest(found)
            if len(single) < len(found):
                count = f"{metric} stands {len(found)} times in the file for {len(single)} series"
                self._tell(metric, f"{count}: the last one counts", found[-1].line)
            self._add(field, single)
            if self.dump.is_counter(field):
                counters += [item.value for item in single]
        if counters and not any(counters):
            message = "nothing was served since the server started: whether it drafts is unknown"
            self.observed.warn(Problem(message, self.dump.source.at()))

    def add_difference(self, before: Source) -> None:
        """Note what happened since an earlier dump. Raises EvidenceError where that cannot be told."""
        earlier = _parse(self.reader, before, with_starts=True)
        if earlier is None:
            message = f"this is no {self.reader.spec.title} of {self.reader.engine.title}: nothing can be subtracted"
            raise EvidenceError(Problem(message, before.at()))
        for warning in earlier.warnings:
            self.observed.warn(warning)
        found = difference(self.reader.fields, earlier, self.dump)
        for warning in found.warnings:
            self.observed.warn(warning)
        for name, series in found.series.items():
            self._add(self.reader.fields[name], series)
        self.observed.inexact = frozenset(found.inexact)
        self.observed.is_idle = found.is_idle
        if found.is_idle:
            message = f"nothing was served since {before.name} (idle window): whether the server drafts is unknown"
            self.observed.warn(Problem(message, self.dump.source.at()))

    def add_window(self, rose: Mapping[str, Sequence[Series]]) -> None:
        """Note how far counters rose and what gauges were on average. Places are the metrics: there are no lines."""
        moved: list[bool] = []
        for field in self.reader.fields.values():
            metric = field.spec.metric
            if metric is None or not self.dump.of(metric) or field.spec.kind == "lifetime":
                continue
            is_counter = self.dump.is_counter(field)
            found = rose.get(metric, ()) if is_counter else self.dump.of(metric)
            if is_counter:
                moved += [item.value != 0 for item in found]
            self._add(field, found)
            if field.name in self.record.found:
                seen = self.record.found[field.name]
                self.record.found[field.name] = [Occurrence(item.value, (metric,)) for item in seen]
        self.observed.is_idle = bool(moved) and not any(moved)

    def finish(self) -> Observed:
        """Return what was found."""
        self.observed.matched = sum(len(self.dump.of(field.spec.metric)) for field in self.reader.fields.values())
        self.observed.fold(self.record)
        return self.observed

    def _add(self, field: CompiledField, series: Sequence[Series]) -> None:
        """Note the series of a field, by the values of its label where it has one."""
        if field.spec.label is not None:
            self._add_vector(field, series, field.spec.label)
            return
        metric = field.spec.metric or ""
        if len(series) > 1:
            if self._is_per_rank(field):
                self._add_equal(field, [(item.value, (item.line,)) for item in series])
                return
            kind = self.dump.type_of(metric) or "metric"
            message = f"{metric} has {len(series)} series: this {kind} is read as their {field.spec.combine}"
            self._tell(metric, message, series[0].line)
        self._note(field, [(item.value, (item.line,)) for item in series])

    def _add_vector(self, field: CompiledField, series: Sequence[Series], label: str) -> None:
        metric = field.spec.metric or ""
        positions: dict[int, list[Series]] = {}
        for item in series:
            value = dict(item.labels).get(label, "")
            if not (value.isascii() and value.isdigit()) or int(value) >= _MAX_POSITIONS:
                self._warn(f"{metric} has no number of a position in the label {label!r}: it was not read", item.line)
                return
            positions.setdefault(int(value), []).append(item)
        missing = [str(index) for index in range(max(positions) + 1) if index not in positions]
        if missing:
            self._warn(f"{metric} lacks the {label} {', '.join(missing[:5])}: it was not read", series[0].line)
            return
        lines = tuple(item.line for item in series)
        parts = max(len(items) for items in positions.values())
        ordered = [[item.value for item in positions[index]] for index in sorted(positions)]
        if parts > 1 and self._is_per_rank(field):
            ranks = {tuple(values[rank] if rank < len(values) else None for values in ordered) for rank in range(parts)}
            self._add_equal(field, [(list(rank), lines) for rank in sorted(ranks, key=repr)])
            return
        if parts > 1:
            self._tell(metric, f"{metric} has {parts} series for each {label}: they were added up", series[0].line)
        self._note(field, [([sum(values) for values in ordered], lines)])

    def _is_per_rank(self, field: CompiledField) -> bool:
        """Tell whether several series of a field are the same value as each rank sees it, and no parts of a sum."""
        return "combine" not in field.spec.model_fields_set and not self.dump.is_counter(field)

    def _add_equal(self, field: CompiledField, found: Sequence[tuple[object, tuple[int, ...]]]) -> None:
        """Note the one value that all series of a gauge have; none where they differ."""
        metric = field.spec.metric or ""
        if all(value == found[0][0] for value, _ in found):
            self._note(field, found[:1])
            return
        message = f"{metric} is a gauge whose series differ, and gauges are not added up: it was not read"
        self._warn(message, found[0][1][0])

    def _note(self, field: CompiledField, found: Sequence[tuple[object, tuple[int, ...]]]) -> None:
        """Note all series of a field, or none where one of them has no finite number: a part is not the sum."""
        for raw, lines in found:
            try:
                value = to_value(field, raw)
            except FieldError as error:
                self.record.forget([field.name])
                self._warn(f"{field.spec.metric}: {error}; it was not read", lines[0])
                return
            if value is not None:
                self.record.add(field.name, Occurrence(value, lines))

    def _warn(self, message: str, line: int) -> None:
        self.observed.warn(Problem(message, self.dump.source.at(line)))

    def _tell(self, metric: str, message: str, line: int) -> None:
        if metric not in self.told:
            self.told.add(metric)
            self._warn(message, line)
