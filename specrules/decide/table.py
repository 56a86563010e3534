"""The verdict table: the class of the speedup interval, and the first row that hits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from specrules.catalog.places import Locate, relocated
from specrules.errors import ExpressionError, LoadError, Location, Problem
from specrules.expressions import Expression, Type, Unknown, compile_expression
from specrules.model.base import PARTS, Part
from specrules.model.rule import (
    CLASSES,
    OUTCOMES,
    ClassRow,
    RuleOutcome,
    SpeedupClass,
    VerdictRow,
    VerdictTable,
)
from specrules.model.verdict import FormulaLine

_LEFT_OVER: tuple[SpeedupClass, ...] = ("wide", "unknown")


@dataclass(frozen=True, eq=False)
class Table:
    """A compiled verdict table. `places` says where each row stands."""

    id: str
    classes: tuple[tuple[ClassRow, Expression], ...]
    rows: tuple[VerdictRow, ...]
    places: tuple[Location, ...]

    def speedup_class(self, values: Mapping[str, object]) -> tuple[SpeedupClass, tuple[FormulaLine, ...]]:
        """Return the class of the speedup interval, and the conditions that were looked at, with their results.

        The first condition that is true decides. Where none is, the class is unknown if a condition was, else wide.
        """
        lines: list[FormulaLine] = []
        for row, condition in self.classes:
            line = _line(row, condition, values)
            lines.append(line)
            if line.result is True:
                return row.speedup, tuple(lines)
        return ("unknown" if any(line.result is None for line in lines) else "wide"), tuple(lines)

    def verdict(self, parts: Mapping[Part, RuleOutcome], speedup: SpeedupClass) -> VerdictRow:
        """Return the first row that hits. LookupError where none does, which `prove` rules out."""
        state = (*(parts[part] for part in PARTS), speedup)
        for row in self.rows:
            if all(value in values for value, values in zip(state, columns(row), strict=True)):
                return row
        raise LookupError(f"no row of the verdict table {self.id!r} hits {state}")

    def economics(self, parts: Mapping[Part, RuleOutcome], speedup: SpeedupClass) -> VerdictRow:
        """Return what the numbers alone say: gates count as passed, except evidence that failed."""
        evidence: RuleOutcome = "fail" if parts["e"] == "fail" else "pass"
        return self.verdict({**dict.fromkeys(PARTS, "pass"), "e": evidence}, speedup)


def columns(row: VerdictRow) -> tuple[tuple[str, ...], ...]:
    """Return what a row admits for parts a to e and for the speedup; a column that is not listed admits everything."""
    parts = tuple(OUTCOMES if listed is None else listed for listed in (row.a, row.b, row.c, row.d, row.e))
    return (*parts, CLASSES if row.speedup is None else row.speedup)


def compile_table(table: VerdictTable, symbols: Mapping[str, Type], locate: Locate) -> Table:
    """Compile the conditions of a verdict table against the declared names. LoadError with every problem."""
    problems: list[Problem] = []
    classes: list[tuple[ClassRow, Expression]] = []
    for index, row in enumerate(table.classes):
        if row.speedup in _LEFT_OVER:
            message = f"{row.speedup!r} takes no condition: it is what is left when no condition is true"
            problems.append(Problem(message, locate(("classes", index, "speedup"), 0)))
        try:
            classes.append((row, compile_expression(row.when, symbols, expect=Type.BOOL)))
        except ExpressionError as error:
            problems += relocated(error.problems, row.when, ("classes", index, "when"), locate)
    if problems:
        raise LoadError(problems)
    places = tuple(locate(("rows", index), 0) for index in range(len(table.rows)))
    return Table(table.id, tuple(classes), table.rows, places)


def _line(row: ClassRow, condition: Expression, values: Mapping[str, object]) -> FormulaLine:
    explained = condition.explain(values)
    return FormulaLine(
        name=row.speedup,
        title=row.doc,
        symbols=explained.source,
        expression=explained.source,
        substituted=explained.substituted,
        result=None if isinstance(explained.result, Unknown) else explained.result is True,
    )
