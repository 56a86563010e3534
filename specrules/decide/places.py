"""From a place inside a value of a document to a place in its file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeAlias

from specrules.errors import Location, Problem

Route: TypeAlias = tuple[str | int, ...]

Locate: TypeAlias = Callable[[Route, int], Location]
"""Maps a route in a document and a column inside the text found there to a place in the file.

Columns are 1-based and count code points of the text from its beginning, over line ends too; 0 means the value as a
whole.
"""


def relocated(problems: Iterable[Problem], text: str, route: Route, locate: Locate) -> list[Problem]:
    """Return problems found in `text` with the place that they have in the file.

    The excerpt is dropped: it shows the text, and the caret would point into the line of the file.
    """
    return [replace(one, where=locate(route, _column(one, text)), excerpt="") for one in problems]


def _column(problem: Problem, text: str) -> int:
    where = problem.where
    if where is None or not where.line or not where.column:
        return 0
    before = text.split("\n")[: where.line - 1]
    return sum(len(line) + 1 for line in before) + where.column
