"""Tables: rows of Markdown or of comma-separated values to fields."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from specrules.errors import Problem
from specrules.evidence.readers.compiled import CompiledReader
from specrules.evidence.readers.fields import FieldError, Occurrence, to_value
from specrules.evidence.readers.observed import Observed, Record
from specrules.evidence.readers.runs import Runs
from specrules.evidence.source import Source, cut_line

_RULE = re.compile(r"\|(?: *:?-+:? *\|)+")
_BAR = re.compile(r"(?<!\\)\|")
_DELIMITERS = (",", ";", "\t")


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table: its cells by the heading of their column, and the number of its line."""

    cells: dict[str, str]
    line: int


def observe(reader: CompiledReader, source: Source) -> tuple[Observed, ...] | None:
    """Return what the reader finds in the tables of a file that have all the columns it requires, None without one.

    Text before, between and behind tables is passed over. A row counts as a whole or not at all.
    """
    lines = source.text.split("\n")
    requires = reader.spec.requires
    # A row of Markdown ends with a bar. Of separated values nothing tells whether the last line was cut.
    tables = [*markdown_tables(lines, requires), *separated_tables(lines[:-1], requires)]
    if not tables:
        return None
    runs = Runs(reader, source)
    if lines[-1].strip() and _markdown_cells(lines[-1]) is None:
        runs.warn(cut_line(source.at(len(lines))))
    for row in (row for rows in tables for row in rows):
        try:
            runs.fold(_record(reader, row))
        except FieldError as error:
            runs.warn(Problem(f"{error}: the row was not read", source.at(row.line)))
    return runs.finish()


def _record(reader: CompiledReader, row: Row) -> Record:
    record = Record(is_request=True)
    for name, field in reader.fields.items():
        cell = row.cells.get(field.spec.column or "")
        if not cell:
            continue
        try:
            value = to_value(field, cell)
        except FieldError as error:
            raise FieldError(f"{name}: {error}") from None
        if value is not None:
            record.add(name, Occurrence(value, (row.line,)))
    return record


def markdown_tables(lines: Sequence[str], requires: Sequence[str]) -> Iterator[list[Row]]:
    """Yield the rows of each Markdown table with these columns: a line of headings, one of dashes, and rows."""
    index = 0
    while index + 1 < len(lines):
        heading = _markdown_cells(lines[index])
        if heading is None or not set(requires) <= set(heading) or not _RULE.fullmatch(lines[index + 1].strip()):
            index += 1
            continue
        rows = []
        index += 2
        while index < len(lines) and (cells := _markdown_cells(lines[index])) is not None:
            if len(cells) == len(heading):
                rows.append(Row(dict(zip(heading, cells, strict=True)), index + 1))
            index += 1
        yield rows


def separated_tables(lines: Sequence[str], requires: Sequence[str]) -> Iterator[list[Row]]:
    """Yield the rows of each table of separated values with these columns: headings, then lines with as many cells."""
    heading: list[str] = []
    rows: list[Row] = []
    delimiter = ""
    for number, line in enumerate(lines, start=1):
        mark = next((mark for mark in _DELIMITERS if set(requires) <= set(_cells(line, mark))), "")
        if mark:
            if heading:
                yield rows
            heading, rows, delimiter = _cells(line, mark), [], mark
        elif heading:
            cells = _cells(line, delimiter)
            if len(cells) == len(heading):
                rows.append(Row(dict(zip(heading, cells, strict=True)), number))
    if heading:
        yield rows


def _markdown_cells(line: str) -> list[str] | None:
    text = line.strip()
    if len(text) < 2 or not text.startswith("|") or not text.endswith("|"):
        return None
    return [cell.strip().replace("\\|", "|") for cell in _BAR.split(text[1:-1])]


def _cells(line: str, delimiter: str) -> list[str]:
    if delimiter not in line:
        return []
    try:
        cells = next(csv.reader([line.rstrip("\r")], delimiter=delimiter, strict=True), [])
    except csv.Error:
        return []
    return [cell.strip() for cell in cells]
