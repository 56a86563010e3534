"""The text of an expression: places in it, and the problems found there."""

from __future__ import annotations

import ast

from specrules.errors import Location, Problem

PATH = "<expression>"
MAX_EXCERPT = 200


class Source:
    """Text of an expression, without the white space around it when it comes to parsing.

    Offsets count code points from the start of the text. The `ast` module counts UTF-8 bytes from the start of a line
    of what it was given; `offset_of` and `span` translate.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.code = text.strip()
        self._lines = self.code.split("\n")
        self._starts = [len(text) - len(text.lstrip())]
        for line in self._lines[:-1]:
            self._starts.append(self._starts[-1] + len(line) + 1)

    def span(self, node: ast.expr | ast.keyword) -> tuple[int, int]:
        """Return start and end of an `ast` node as offsets."""
        start = self.offset_of(node.lineno, node.col_offset)
        if node.end_lineno is None or node.end_col_offset is None:
            return start, start
        return start, self.offset_of(node.end_lineno, node.end_col_offset)

    def offset_of(self, line: int, byte_column: int) -> int:
        """Translate a 1-based line and a 0-based UTF-8 byte column of the parsed code."""
        before = self._lines[line - 1].encode()[:byte_column]
        return self._starts[line - 1] + len(before.decode())

    def offset_of_error(self, line: int | None, column: int | None) -> int:
        """Translate the place of a SyntaxError, which counts code points from 1 and may lie beyond the text."""
        end = len(self.text.rstrip())
        index = max(line or 1, 1) - 1
        if index >= len(self._starts):
            return end
        # Column 0 stands for the end of the line.
        return min(self._starts[index] + (column - 1 if column else len(self._lines[index])), end)

    def problem(self, offset: int, message: str, hint: str = "") -> Problem:
        """Return a problem at an offset, with its line as excerpt where that is short enough to be read."""
        line_start = self.text.rfind("\n", 0, offset) + 1
        line = self.text.count("\n", 0, offset) + 1
        excerpt = self.text[line_start : line_start + MAX_EXCERPT + 1].partition("\n")[0]
        # Terminals obey control characters.
        excerpt = "".join(
            char if char.isprintable() or char == "\t" else "\N{REPLACEMENT CHARACTER}" for char in excerpt
        )
        if len(excerpt) > MAX_EXCERPT:
            excerpt = ""
        return Problem(message, Location(PATH, line, offset - line_start + 1), hint, excerpt)

    def quote(self, start: int, end: int) -> str:
        """Return a part of the text on one line, in backticks, shortened in the middle where it is long."""
        return f"`{shorten(self.text[start:end])}`"


def shorten(text: str) -> str:
    """Return text on one line, without its middle where it is long."""
    words = " ".join(text.split())
    return words if len(words) <= 60 else f"{words[:40]} ... {words[-15:]}"
