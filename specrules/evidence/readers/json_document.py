"""JSON: the records of a document, a list or a file of one document per line to fields."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from specrules.errors import Problem
from specrules.evidence.readers.compiled import CompiledReader
from specrules.evidence.readers.fields import FieldError, Occurrence, Place, to_value
from specrules.evidence.readers.observed import Observed, Record
from specrules.evidence.readers.runs import Runs
from specrules.evidence.source import Source

_EACH = "[]"


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed file. With `by_line`, `items` are the documents of its lines and `lines` their numbers."""

    items: tuple[Any, ...]
    lines: tuple[int, ...] = ()


def parse(source: Source) -> Document | Problem:
    """Return the documents in a file: one, or one per line. A Problem with its place where it is no JSON."""
    try:
        return Document((json.loads(source.text),))
    except json.JSONDecodeError as error:
        problem = Problem(f"this is not JSON: {error.msg}", source.at(error.lineno, error.colno))
    except (ValueError, RecursionError) as error:
        problem = Problem(f"this is not JSON that can be read: {error}", source.at())
    by_line = parse_lines(source.text)
    return problem if by_line is None else by_line


def parse_lines(text: str) -> Document | None:
    """Return the documents of a text with one per line, None where a line is none or there is but one."""
    items, numbers = [], []
    lines = text.split("\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            item = json.loads(line)
        except (ValueError, RecursionError):
            return None
        items.append(item)
        numbers.append(number)
    return Document(tuple(items), tuple(numbers)) if len(items) > 1 else None


def observe(reader: CompiledReader, source: Source, document: Document) -> tuple[Observed, ...] | None:
    """Return what the reader finds in each run of a document, None where no record has the paths that it requires."""
    runs = Runs(reader, source)
    skipped: list[Place] = []
    count = 0
    for place, item in records(reader.spec.records, document):
        count += 1
        if not all(any(True for _ in values(item, path)) for path in reader.spec.requires):
            skipped.append(place)
            continue
        # A record counts as a whole or not at all: its tokens without its time would make a wrong rate.
        try:
            record = _record(reader, item, place)
        except FieldError as error:
            runs.warn(_warning(source, place, f"{error}: the record was not read"))
            continue
        runs.fold(record)
    if len(skipped) == count:
        return None
    if skipped:
        message = f"{len(skipped)} of {count} records lack {' or '.join(reader.spec.requires)} and were left out"
        runs.warn(_warning(source, skipped[0], message))
    return runs.finish()


def _record(reader: CompiledReader, item: object, place: Place) -> Record:
    """Return one record. FieldError where a field is not what it should be."""
    record = Record(is_request=True)
    for name, field in reader.fields.items():
        for route, raw in values(item, field.spec.path) if field.spec.path is not None else ():
            if raw is None:
                continue
            try:
                value = to_value(field, raw)
            except FieldError as error:
                raise FieldError(f"{name}: {error}") from None
            if value is not None:
                record.add(name, Occurrence(value, (_spot(place, route),)))
    return record


def values(item: object, path: str) -> Iterator[tuple[str, Any]]:
    """Yield what stands at a dotted path, with the route to it. `[]` stands for every entry of a list.

    A key with dots in it is found as well: the shortest key that leads on wins.
    """
    return _walk(item, tuple(path.replace(_EACH, f".{_EACH}").strip(".").split(".")), "")


def _walk(item: object, steps: Sequence[str], route: str) -> Iterator[tuple[str, Any]]:
    if not steps:
        yield route, item
    elif steps[0] == _EACH:
        if isinstance(item, list):
            for index, entry in enumerate(item):
                yield from _walk(entry, steps[1:], f"{route}[{index}]")
    elif isinstance(item, dict):
        for length in range(1, len(steps) + 1):
            key = ".".join(steps[:length])
            if key in item:
                found = list(_walk(item[key], steps[length:], f"{route}.{key}" if route else key))
                if found:
                    yield from found
                    return


def records(path: str, document: Document) -> Iterator[tuple[Place, object]]:
    """Yield the records that stand at a path of a document, with their place: a line number, or a route."""
    for index, item in enumerate(document.items):
        line = document.lines[index] if document.lines else None
        for route, found in [("", item)] if not path else values(item, path):
            entries = (
                [(f"{route}[{position}]", entry) for position, entry in enumerate(found)]
                if isinstance(found, list)
                else [(route, found)]
            )
            for spot, entry in entries:
                yield (spot if line is None else line), entry


def _spot(place: Place, route: str) -> Place:
    if isinstance(place, int):
        return place
    return f"{place}.{route}" if place else route


def _warning(source: Source, place: Place, message: str) -> Problem:
    if isinstance(place, int):
        return Problem(message, source.at(place))
    return Problem(f"{place}: {message}" if place else message, source.at())
