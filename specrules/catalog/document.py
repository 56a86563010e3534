"""A YAML document as plain data, with the place of every key and value in it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from specrules.errors import Location, Problem

Loc = tuple[str | int, ...]
"""The route to a value: keys of mappings and indices of lists, from the root."""

_LINE_END = re.compile(r"\r\n|\r|\n")
_BARE_KEY = re.compile(r"[\w-]+")
_UNPRINTABLE = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\ud800-\udfff]")
LONGEST_EXCERPT = 200


@dataclass(frozen=True, eq=False)
class Source:
    """The text of one file. Offsets count code points from its start (after a byte order mark)."""

    path: str
    text: str
    layer: str = ""

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(end.end() for end in _LINE_END.finditer(self.text))]

    def location(self, offset: int) -> Location:
        """Return the place of an offset as 1-based line and column."""
        line = bisect_right(self._line_starts, offset)
        return Location(self.path, line, offset - self._line_starts[line - 1] + 1)

    def line(self, number: int) -> str:
        """Return a line by its 1-based number, without its end; empty where there is none."""
        if not 1 <= number <= len(self._line_starts):
            return ""
        end = self._line_starts[number] if number < len(self._line_starts) else None
        return self.text[self._line_starts[number - 1] : end].rstrip("\r\n")

    def problem(self, message: str, offset: int, hint: str = "") -> Problem:
        """Return a problem at an offset. A line too long to print is cut, or left out where the place lies beyond."""
        where = self.location(offset)
        excerpt = self.line(where.line)
        if len(excerpt) > LONGEST_EXCERPT:
            excerpt = excerpt[:LONGEST_EXCERPT] + " ..." if where.column <= LONGEST_EXCERPT else ""
        return Problem(message, where, hint, _UNPRINTABLE.sub("\ufffd", excerpt))


class Spot:
    """Where a value and its key stand. The tree of spots has the shape of the data."""

    __slots__ = ("children", "key", "source", "start")

    def __init__(self, source: Source, start: int, children: dict[str, Spot] | list[Spot] | None = None) -> None:
        self.source = source
        self.start = start
        self.key: int | None = None
        self.children = children

    def child(self, step: str | int) -> Spot | None:
        """Return the spot one step down, or None where the document has nothing there."""
        if isinstance(self.children, dict):
            return self.children.get(step) if isinstance(step, str) else None
        if isinstance(self.children, list) and isinstance(step, int) and 0 <= step < len(self.children):
            return self.children[step]
        return None

    def leaves(self, loc: Loc = ()) -> Iterator[tuple[Loc, Spot]]:
        """Yield every scalar and every empty mapping or list with its route."""
        if not self.children:
            yield loc, self
            return
        items = self.children.items() if isinstance(self.children, dict) else enumerate(self.children)
        for step, spot in items:
            yield from spot.leaves((*loc, step))


@dataclass(frozen=True, order=True)
class Provenance:
    """Which layer and which place in which file a value comes from."""

    layer: str
    where: Location

    def __str__(self) -> str:
        return f"{self.layer} {self.where}" if self.layer else str(self.where)


@dataclass(frozen=True, eq=False)
class Document:
    """Data of one file, or of several where one extends another; then each value keeps its own file and layer.

    `source` is the file that was asked for. `problems` is empty in a document that loaded.
    """

    source: Source
    data: dict[str, Any]
    root: Spot
    problems: tuple[Problem, ...] = ()

    @property
    def path(self) -> str:
        """The path as it is shown to the user."""
        return self.source.path

    @property
    def layer(self) -> str:
        """The name of the layer that the file belongs to; empty outside the catalogue."""
        return self.source.layer

    def spot(self, loc: Loc) -> Spot:
        """Return the spot at a route, or the deepest one on the way where the document ends before."""
        spot = self.root
        for step in loc:
            below = spot.child(step)
            if below is None:
                break
            spot = below
        return spot

    def value(self, loc: Loc) -> Any:
        """Return the value at a route. Raises KeyError, IndexError or TypeError where there is none."""
        value: Any = self.data
        for step in loc:
            value = value[step]
        return value

    def position(self, loc: Loc) -> Location:
        """Return the place where a value begins."""
        spot = self.spot(loc)
        return spot.source.location(spot.start)

    def key_position(self, loc: Loc) -> Location:
        """Return the place of the key of a value; of the value itself in a list and at the root."""
        spot = self.spot(loc)
        return spot.source.location(spot.start if spot.key is None else spot.key)

    def provenance(self, loc: Loc) -> Provenance:
        """Return layer and place of a value."""
        spot = self.spot(loc)
        return Provenance(spot.source.layer, spot.source.location(spot.start))

    def leaves(self) -> Iterator[tuple[Loc, Provenance]]:
        """Yield the provenance of every scalar and every empty mapping or list."""
        for loc, spot in self.root.leaves():
            yield loc, Provenance(spot.source.layer, spot.source.location(spot.start))

    def source_line(self, line: int) -> str:
        """Return a line of the file that was asked for."""
        return self.source.line(line)

    def problem(self, message: str, loc: Loc = (), hint: str = "", *, at_key: bool = False) -> Problem:
        """Return a problem at a value, or at its key, with the line it stands on."""
        spot = self.spot(loc)
        at = spot.key if at_key and spot.key is not None else spot.start
        return spot.source.problem(message, at, hint)


def dotted(loc: Loc) -> str:
    """Return a route as users write it: `rules[0].require`, `flags['a b']`."""
    text = ""
    for step in loc:
        if isinstance(step, int):
            text += f"[{step}]"
        elif _BARE_KEY.fullmatch(step):
            text += f".{step}" if text else step
        else:
            text += f"[{step!r}]"
    return text
