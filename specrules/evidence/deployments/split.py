"""Command lines that no shell reads: split at blanks, with quotes and backslashes; everything else is plain text."""

from __future__ import annotations

import re
from bisect import bisect_right

from specrules.evidence.deployments.text import Builder, Text

_PLAIN = re.compile(r"[^\s'\"\\]+")
_IN_DOUBLE = re.compile(r'[^"\\]+')
_COMMENT = re.compile(r"#[^\n]*")


def split_words(text: Text, *, comments: bool = False) -> list[Text]:
    """The words of a command line. `comments`: a line that begins with `#` says nothing."""
    return _Splitter(text, comments=comments).words()


class _Splitter:
    """Walks through a text once."""

    def __init__(self, text: Text, *, comments: bool) -> None:
        self._text = text
        self._comments = comments
        self._holes = dict(text.holes)
        self._at = 0
        self._line_begins = True
        self._builder: Builder | None = None
        self._found: list[Text] = []

    def words(self) -> list[Text]:
        """Every word."""
        value = self._text.value
        while self._at < len(value):
            here = value[self._at]
            if here.isspace() and self._at not in self._holes:
                self._finish()
                self._line_begins = self._line_begins or here == "\n"
                self._at += 1
                continue
            if here == "#" and self._line_begins and self._comments and self._builder is None:
                self._at = _COMMENT.match(value, self._at).end()  # type: ignore[union-attr]
                continue
            self._line_begins = False
            self._take(here)
        self._finish()
        return self._found

    def _take(self, here: str) -> None:
        value = self._text.value
        if self._at in self._holes:
            self._add(self._holes[self._at])
        elif here == "'":
            end = value.find("'", self._at + 1)
            end = len(value) if end < 0 else end
            self._at += 1
            self._add(end)
            self._at = end + 1
        elif here == '"':
            self._at += 1
            self._add(self._at)
            self._double()
        elif here == "\\":
            self._escape(value[self._at + 1 : self._at + 2])
        else:
            self._add(self._clipped(_PLAIN.match(value, self._at).end()))  # type: ignore[union-attr]

    def _double(self) -> None:
        value = self._text.value
        while self._at < len(value) and value[self._at] != '"':
            if self._at in self._holes:
                self._add(self._holes[self._at])
            elif value[self._at] == "\\" and value[self._at + 1 : self._at + 2] in ('"', "\\", "$", "`", "\n"):
                self._escape(value[self._at + 1])
            elif value[self._at] == "\\":
                self._add(self._at + 1)
            else:
                self._add(self._clipped(_IN_DOUBLE.match(value, self._at).end()))  # type: ignore[union-attr]
        self._at += 1

    def _escape(self, following: str) -> None:
        if following == "\n":
            self._line_begins = True
        elif following:
            self._begin().character(following, self._text.at(self._at))
        self._at += 2

    def _add(self, end: int) -> None:
        self._begin().add(self._text, self._at, end)
        self._at = end

    def _clipped(self, end: int) -> int:
        """An end that does not reach into the next hole."""
        holes = self._text.holes
        index = bisect_right(holes, (self._at, len(self._text.value)))
        return min(end, holes[index][0]) if index < len(holes) else end

    def _begin(self) -> Builder:
        if self._builder is None:
            self._builder = Builder(self._text.source, self._text.at(self._at))
        return self._builder

    def _finish(self) -> None:
        if self._builder is not None:
            self._found.append(self._builder.text())
            self._builder = None
