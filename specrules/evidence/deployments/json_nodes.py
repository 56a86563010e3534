"""JSON to nodes with places, also inside the value of a flag, where a shell or a template may have left holes."""

from __future__ import annotations

import re

from specrules.evidence.deployments.nodes import MAX_DEPTH, Malformed, Mapping, Node, Scalar, Sequence
from specrules.evidence.deployments.text import Builder, Text

_SPACE = re.compile(r"[ \t\r\n]*")
_LITERAL = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null|NaN|-?Infinity")
_UNQUOTED = re.compile(r"[^\s,:\[\]{}\"']+")
_PLAIN = re.compile(r'[^"\\\x00-\x1f]+')
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_HEX = re.compile(r"[0-9a-fA-F]{4}")


def read_json(text: Text) -> Node:
    """The one value in a text. Raises Malformed with the place of the first thing that is no JSON."""
    return _Reader(text).document()


class _Reader:
    """Reads one value from its beginning to its end."""

    def __init__(self, text: Text) -> None:
        self._text = text
        self._value = text.value
        self._holes = dict(text.holes)
        self._at = 0

    def document(self) -> Node:
        """The value, with nothing after it."""
        node = self._node(0)
        self._skip()
        if self._at < len(self._value):
            raise self._problem("the value ends before this")
        return node

    def _node(self, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise self._problem(f"nested deeper than {MAX_DEPTH} levels")
        self._skip()
        here = self._value[self._at : self._at + 1]
        hole = self._holes.get(self._at)
        if hole is not None:
            start, self._at = self._at, hole
            return Scalar(self._text.cut(start, hole), bare=True)
        if here == "{":
            return self._mapping(depth)
        if here == "[":
            return self._sequence(depth)
        if here == '"':
            return Scalar(self._string(), bare=False)
        found = _LITERAL.match(self._value, self._at)
        if found is None or _UNQUOTED.match(self._value, self._at).end() > found.end():  # type: ignore[union-attr]
            raise self._problem(self._what_is_here())
        self._at = found.end()
        return Scalar(self._text.cut(found.start(), found.end()), bare=True)

    def _mapping(self, depth: int) -> Mapping:
        mapping = Mapping(self._text.at(self._at))
        self._at += 1
        while not self._closes("}", first=not mapping.entries):
            self._skip()
            if self._value[self._at : self._at + 1] != '"':
                raise self._problem(self._what_is_here("a key in double quotes"))
            key = Scalar(self._string(), bare=False)
            self._skip()
            if self._value[self._at : self._at + 1] != ":":
                raise self._problem("a ':' is missing after the key")
            self._at += 1
            value = self._node(depth + 1)
            mapping.entries.pop(key.text.value, None)
            mapping.entries[key.text.value] = (key, value)
        mapping.end = self._text.at(self._at)
        return mapping

    def _sequence(self, depth: int) -> Sequence:
        sequence = Sequence(self._text.at(self._at))
        self._at += 1
        while not self._closes("]", first=not sequence.items):
            sequence.items.append(self._node(depth + 1))
        sequence.end = self._text.at(self._at)
        return sequence

    def _closes(self, end: str, *, first: bool) -> bool:
        """Whether the container ends here; otherwise the next item is up, behind a comma unless it is the first."""
        self._skip()
        here = self._value[self._at : self._at + 1]
        if here == end:
            self._at += 1
            return True
        if first:
            return False
        if here != ",":
            raise self._problem(f"a ',' or '{end}' is missing here")
        self._at += 1
        self._skip()
        if self._value[self._at : self._at + 1] == end:
            raise self._problem(f"a ',' stands before '{end}'")
        return False

    def _string(self) -> Text:
        self._at += 1
        builder = Builder(self._text.source, self._text.at(self._at))
        while True:
            plain = _PLAIN.match(self._value, self._at)
            if plain is not None:
                builder.add(self._text, plain.start(), plain.end())
                self._at = plain.end()
            here = self._value[self._at : self._at + 1]
            if here == '"':
                self._at += 1
                return builder.text()
            if here == "\\":
                self._escape(builder)
            elif here:
                raise self._problem("a line end or control character inside a text")
            else:
                raise self._problem("a text in double quotes does not end")

    def _escape(self, builder: Builder) -> None:
        there, kind = self._text.at(self._at), self._value[self._at + 1 : self._at + 2]
        if kind in _ESCAPES and kind:
            builder.character(_ESCAPES[kind], there)
            self._at += 2
            return
        digits = _HEX.match(self._value, self._at + 2) if kind == "u" else None
        if digits is None:
            raise self._problem("no such escape")
        code = int(digits.group(), 16)
        builder.character("\ufffd" if 0xD800 <= code <= 0xDFFF else chr(code), there)
        self._at += 6

    def _skip(self) -> None:
        self._at = _SPACE.match(self._value, self._at).end()  # type: ignore[union-attr]

    def _what_is_here(self, wanted: str = "a value") -> str:
        here = self._value[self._at : self._at + 1]
        if not here:
            return "the text ends too early"
        if here == "'":
            return f"{wanted} is missing: JSON has no single quotes"
        if _UNQUOTED.match(self._value, self._at):
            return f"{wanted} is missing: text needs double quotes, and true, false and null are in small letters"
        return f"{wanted} is missing"

    def _problem(self, message: str) -> Malformed:
        return Malformed(message, self._text.at(self._at))
