"""YAML as users write it to nodes with places: anchors, merge keys, tags, equal keys and several documents.

Only the events of libyaml are read, as the catalogue does it, since its node graph would stop at the first thing that a
constructor dislikes. Nothing is constructed from tags.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from specrules.catalog.document import Source
from specrules.evidence.deployments.nodes import MAX_DEPTH, Budget, Malformed, Mapping, Node, Scalar, Sequence, size
from specrules.evidence.deployments.scalars import scalar_text, with_holes
from specrules.evidence.deployments.templates import Blanked, blanked
from specrules.evidence.deployments.text import Text, unknown

_OWN_TAGS = "tag:yaml.org,2002:"


class Yaml:
    """The documents of a text, as far as it could be read, where template lines stood, and what depends on them."""

    def __init__(self, text: Text, budget: Budget | None = None) -> None:
        """Read a whole file, or a text inside one, such as a value of a ConfigMap."""
        self.documents: list[Node] = []
        self.template_lines: tuple[tuple[int, int], ...] = ()
        self.doubtful: tuple[tuple[int, int], ...] = ()
        self.problem: Malformed | None = None
        budget = budget or Budget()
        self._read(_Reader(text), budget)
        if self.problem is not None and "{{" in text.value:
            # What looks like a template may be text of a value.
            first = (self.documents, self.problem)
            self._read(_Reader(text, templates=False), budget)
            if self.problem is not None:
                self.documents, self.problem = first

    def _read(self, reader: _Reader, budget: Budget) -> None:
        self.documents, self.problem = [], None
        try:
            for node in reader.documents():
                size(node, budget)
                self.documents.append(node)
        except Malformed as problem:
            self.problem = problem
        self.template_lines, self.doubtful = reader.lines, reader.doubtful


class _Reader:
    """Builds nodes from events."""

    def __init__(self, text: Text, *, templates: bool = True) -> None:
        self._outer = text
        self._is_whole = text.runs == ((0, 0),)
        self._source = Source(text.source.path, text.value)
        found = blanked(self._source.text) if templates else Blanked(self._source.text, (), ())
        self._blank = Source(text.source.path, found.text)
        self._holes = sorted({*found.holes, *text.holes})
        self.lines = tuple((self._there(start), self._there(end)) for start, end in found.lines)
        self.doubtful = tuple((self._there(start), self._there(end)) for start, end in found.doubtful)
        self._anchors: dict[str, Node | None] = {}

    def documents(self) -> Iterator[Node]:
        """Every document that is not empty."""
        events = self._events()
        for event in events:
            name = type(event).__name__
            if name == "DocumentStartEvent":
                self._anchors = {}
            elif name in ("ScalarEvent", "MappingStartEvent", "SequenceStartEvent", "AliasEvent"):
                node = self._node(event, events, 0)
                if not (isinstance(node, Scalar) and node.is_null):
                    yield node

    def _events(self) -> Iterator[Any]:
        import yaml

        try:
            yield from yaml.parse(self._blank.text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            what = error.problem or error.context or "syntax error"
            if error.context and error.context_mark and error.problem:
                began = self._outer.source.location(self._there(error.context_mark.index))
                what += f" {error.context} that begins at line {began.line}"
            raise Malformed(f"not valid YAML: {what}", self._there(mark.index if mark else 0)) from None
        except yaml.reader.ReaderError as error:
            raise Malformed(f"not valid YAML: {error.reason}", self._there(error.position)) from None
        except (yaml.YAMLError, ValueError, OverflowError):
            msg = "not valid YAML"
            raise Malformed(msg, self._there(0)) from None

    def _node(self, event: Any, events: Iterator[Any], depth: int) -> Node:
        name = type(event).__name__
        start = self._there(event.start_mark.index)
        if depth > MAX_DEPTH:
            msg = f"nested deeper than {MAX_DEPTH} levels"
            raise Malformed(msg, start)
        if name == "AliasEvent":
            found = self._anchors.get(event.anchor)
            if found is None:
                what = "holds itself" if event.anchor in self._anchors else "names nothing"
                raise Malformed(f"the alias '*{event.anchor}' {what}", start)
            return found
        if event.anchor is not None:
            self._anchors[event.anchor] = None
        if name == "ScalarEvent":
            node: Node = self._scalar(event)
        elif name == "MappingStartEvent":
            node = self._mapping(start, events, depth)
        else:
            node = self._sequence(start, events, depth)
        if event.anchor is not None:
            self._anchors[event.anchor] = node
        return node

    def _scalar(self, event: Any) -> Scalar:
        start, end = event.start_mark.index, event.end_mark.index
        text = scalar_text(self._blank, start, end, event.value, event.style)
        if self._holes:
            text = with_holes(text, self._holes, self._source.text)
        text = self._outside(text)
        if event.tag is not None and not event.tag.startswith(_OWN_TAGS) and event.tag != "!":
            text = unknown(text)
        return Scalar(text, bare=bool(event.implicit[0]))

    def _mapping(self, start: int, events: Iterator[Any], depth: int) -> Mapping:
        mapping = Mapping(start)
        merged: list[Node] = []
        for event in events:
            if type(event).__name__ == "MappingEndEvent":
                mapping.end = self._there(event.end_mark.index)
                break
            key = self._node(event, events, depth + 1)
            value = self._node(next(events), events, depth + 1)
            if not isinstance(key, Scalar):
                continue
            if key.text.value == "<<" and key.bare:
                merged += value.items if isinstance(value, Sequence) else [value]
            else:
                mapping.entries.pop(key.text.value, None)
                mapping.entries[key.text.value] = (key, value)
        for other in merged:
            for name, entry in other.entries.items() if isinstance(other, Mapping) else ():
                mapping.entries.setdefault(name, entry)
        return mapping

    def _sequence(self, start: int, events: Iterator[Any], depth: int) -> Sequence:
        sequence = Sequence(start)
        for event in events:
            if type(event).__name__ == "SequenceEndEvent":
                sequence.end = self._there(event.end_mark.index)
                break
            sequence.items.append(self._node(event, events, depth + 1))
        return sequence

    def _there(self, offset: int) -> int:
        """An offset of the text that is read as one of the file."""
        return self._outer.at(offset)

    def _outside(self, text: Text) -> Text:
        """A text cut out of an inner text, as one cut out of the file."""
        if self._is_whole:
            return Text(self._outer.source, text.value, text.runs, text.holes)
        return through(self._outer, text)


def through(outer: Text, inner: Text) -> Text:
    """A text whose runs point into another text, with runs that point into the file of that one."""
    runs: list[tuple[int, int]] = []
    for index, (start, there) in enumerate(inner.runs):
        end = inner.runs[index + 1][0] if index + 1 < len(inner.runs) else max(len(inner.value), start + 1)
        piece = outer.cut(there, there + end - start)
        runs += [(start + offset, place) for offset, place in piece.runs if offset < end - start or not offset]
    return Text(outer.source, inner.value, tuple(runs), inner.holes)
