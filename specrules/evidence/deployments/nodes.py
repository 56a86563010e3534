"""Values of YAML and JSON files with their places, whatever of them is a value."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from specrules.catalog.scalars import plain_value
from specrules.evidence.deployments.text import Builder, Text, unknown

MAX_DEPTH = 64
_EXPONENT = re.compile(r"-?\d{1,18}(?:\.\d{1,18})?[eE][-+]?\d{1,2}")
MAX_VISITS = 200_000


class Malformed(Exception):  # noqa: N818
    """A text that is no value of its format. `offset` is where in the file."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset


@dataclass(slots=True, eq=False)
class Scalar:
    """A single value. `bare`: written without quotes, so that `null` and `true` are no texts."""

    text: Text
    bare: bool

    @property
    def start(self) -> int:
        """Where it begins in the file."""
        return self.text.start

    @property
    def is_null(self) -> bool:
        """Whether it says that there is nothing."""
        return self.bare and self.text.value in ("", "~", "null", "Null", "NULL")


@dataclass(slots=True, eq=False)
class Mapping:
    """Keys with values. The last of two equal keys counts, and own keys before merged ones."""

    start: int
    end: int = 0
    entries: dict[str, tuple[Scalar, Node]] = field(default_factory=dict)

    def get(self, *route: str) -> Node | None:
        """The value at a route of keys, or None where there is none."""
        here: Node | None = self
        for key in route:
            found = here.entries.get(key) if isinstance(here, Mapping) else None
            here = None if found is None else found[1]
        return here

    def text(self, *route: str) -> Text | None:
        """The text at a route of keys, or None where there is none or something else."""
        node = self.get(*route)
        return node.text if isinstance(node, Scalar) and not node.is_null else None

    def value(self, *route: str) -> str:
        """The text at a route of keys as plain text; empty where there is none."""
        text = self.text(*route)
        return "" if text is None else text.value


@dataclass(slots=True, eq=False)
class Sequence:
    """Values in order."""

    start: int
    end: int = 0
    items: list[Node] = field(default_factory=list)


Node: TypeAlias = Scalar | Mapping | Sequence


@dataclass(slots=True, eq=False)
class Documents:
    """The documents of a file. `template_lines` stood in it alone; `doubtful` stretches may not be there."""

    documents: list[Node]
    template_lines: tuple[tuple[int, int], ...] = ()
    doubtful: tuple[tuple[int, int], ...] = ()


def within(spans: tuple[tuple[int, int], ...], node: Mapping) -> tuple[tuple[int, int], ...]:
    """The stretches of a file that reach into a mapping."""
    return tuple(span for span in spans if span[0] < node.end and span[1] > node.start)


def items(node: Node | None) -> list[Node]:
    """The values of a sequence; nothing for anything else."""
    return node.items if isinstance(node, Sequence) else []


def entries(node: Node | None) -> list[tuple[Scalar, Node]]:
    """The keys and values of a mapping; nothing for anything else."""
    return list(node.entries.values()) if isinstance(node, Mapping) else []


def texts(node: Node | None) -> list[Text]:
    """The texts of a sequence of scalars, without anything else in it."""
    return [item.text for item in items(node) if isinstance(item, Scalar)]


def plain(node: Node) -> Any:
    """The value as plain data. What nobody rendered stays as it is written."""
    if isinstance(node, Mapping):
        return {key: plain(value) for key, (_, value) in node.entries.items()}
    if isinstance(node, Sequence):
        return [plain(item) for item in node.items]
    text = node.text.value
    if not node.bare or not node.text.rendered:
        return text
    try:
        return float(text) if _EXPONENT.fullmatch(text) else plain_value(text)
    except OverflowError:
        return text


def rendered(node: Node) -> bool:
    """Whether everything in a value is known."""
    if isinstance(node, Scalar):
        return node.text.rendered
    inner = node.items if isinstance(node, Sequence) else [value for _, value in node.entries.values()]
    return all(rendered(item) for item in inner)


def flattened(node: Node, prefix: str = "", separator: str = ".") -> Iterator[tuple[str, Scalar | None, Text]]:
    """Every value under its dotted route, with its key: scalars as they are, mappings and lists as JSON.

    A mapping comes before what is in it.
    """
    for name, (key, value) in list(node.entries.items()) if isinstance(node, Mapping) else ():
        route = f"{prefix}{separator}{name}" if prefix else name
        yield route, key, value.text if isinstance(value, Scalar) else as_json(value, key.text)
        if isinstance(value, Mapping):
            yield from flattened(value, route, separator)


def as_json(node: Node, near: Text) -> Text:
    """A mapping or list as one line of JSON that stands where the node does."""
    builder = Builder(near.source, node.start)
    builder.character(json.dumps(plain(node), ensure_ascii=False), node.start)
    text = builder.text()
    return text if rendered(node) else unknown(text)


class Budget:
    """How much of a file may be looked at: aliases can make a small file an endless one."""

    def __init__(self, left: int = MAX_VISITS) -> None:
        self.left = left

    def spend(self) -> None:
        """Count one visit. Raises Malformed when nothing is left."""
        self.left -= 1
        if self.left < 0:
            msg = "aliases unfold to more than can be read"
            raise Malformed(msg, 0)


def size(node: Node, budget: Budget, depth: int = 0) -> None:
    """Walk a value once. Raises Malformed where it unfolds to too much or nests too deeply."""
    budget.spend()
    if depth > MAX_DEPTH:
        msg = f"nested deeper than {MAX_DEPTH} levels"
        raise Malformed(msg, node.start)
    inner = node.items if isinstance(node, Sequence) else [value for _, value in entries(node)]
    for item in inner:
        size(item, budget, depth + 1)
