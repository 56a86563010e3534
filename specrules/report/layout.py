"""The layout of rendered Markdown: tables aligned so that they read as plain text, single blank lines."""

from __future__ import annotations

import re
import unicodedata

# Wider cells are left to overflow: one of them does not push the columns of all other rows to the right.
WIDEST_COLUMN = 40

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_CELL = re.compile(r"((?:\\.|[^|\\]|\\$)*)\|?")
_DELIMITER = re.compile(r":?-+:?")


def tidy(text: str) -> str:
    """Return Markdown with aligned tables, at most one blank line in a row, and one line end at its end.

    Fenced code stays as it is. The meaning of the Markdown does not change.
    """
    kept: list[str] = []
    table: list[str] = []
    fence = ""
    for line in text.split("\n"):
        if fence:
            kept.append(line)
            fence = "" if _closes(line, fence) else fence
            continue
        if line.startswith("|"):
            table.append(line)
            continue
        kept += align(table)
        table = []
        opening = _FENCE.match(line)
        fence = opening.group(1) if opening else ""
        if line.strip():
            # Two spaces at the end are a line break, one is nothing.
            kept.append(line if line.endswith("  ") else line.rstrip())
        elif kept and kept[-1]:
            kept.append("")
    kept += align(table)
    return "\n".join(kept).strip("\n") + "\n"


def _closes(line: str, fence: str) -> bool:
    bare = line.strip()
    return len(bare) >= len(fence) and set(bare) == {fence[0]}


def align(lines: list[str]) -> list[str]:
    """Return the lines of one pipe table with cells padded to the width of their column.

    The last column stays ragged: nothing to its right would have to line up. Lines that are no table, or rows of
    different lengths, are returned as they are.
    """
    rows = [_cells(line) for line in lines]
    if len(rows) < 2 or len({len(row) for row in rows}) > 1 or not all(map(_DELIMITER.fullmatch, rows[1])):
        return lines
    *columns, last = zip(*rows, strict=True)
    aligned = [*map(_column, columns), _column(last, padded=last[1].endswith(":"))]
    return [f"| {' | '.join(cells)} |" for cells in zip(*aligned, strict=True)]


def _cells(line: str) -> list[str]:
    inner = line.strip().removeprefix("|")
    return [match.group(1).strip() for match in _CELL.finditer(inner) if match.group()]


def _column(cells: tuple[str, ...], *, padded: bool = True) -> list[str]:
    head, rule, *body = cells
    left, right = rule.startswith(":"), rule.endswith(":")
    widths = [_width(cell) for cell in (head, *body)] if padded else []
    widest = max([3, *(width for width in widths if width <= WIDEST_COLUMN)])

    def pad(cell: str) -> str:
        space = " " * (widest - _width(cell)) if padded else ""
        return space + cell if right and not left else cell + space

    return [pad(head), ":" * left + "-" * (widest - left - right) + ":" * right, *map(pad, body)]


def _width(text: str) -> int:
    """Columns in a terminal: wide characters take two, combining ones none."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )
