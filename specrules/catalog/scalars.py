"""Scalars: the values that plain text stands for, and the place of a character inside written text."""

from __future__ import annotations

import re
from typing import Any

from specrules.catalog.document import Document, Loc
from specrules.errors import Location

_CONSTANTS = {"": None, "~": None, "null": None, "true": True, "false": False}
_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(?:(?:0|[1-9][0-9]*)\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_NUMBER_LIKE = re.compile(r"[-+.\w~]+")
_LINE_END = re.compile(r"\r\n|\r|\n")
_ESCAPE_DIGITS = {"x": 2, "u": 4, "U": 8}
_SPACE = " \t\r\n"


def plain_value(text: str) -> str | int | float | bool | None:
    """Return what an unquoted scalar means: YAML 1.2 core, narrowed to what cannot be taken for something else.

    `true`, `false`, `null`, `~`, nothing, decimal integers without leading zeros, decimal floats with a dot. All else
    is text: `yes`, `012`, `1_000`, `1e3`, `1:30`, dates, hashes. Raises OverflowError beyond the range of a float.
    """
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if text[0] not in "-+.0123456789":
        return text
    whole = _INT.fullmatch(text) is not None
    if not whole and not _FLOAT.fullmatch(text):
        return text
    number = float(text)
    if number in (float("inf"), float("-inf")):
        msg = f"{text[:20]} is out of range"
        raise OverflowError(msg)
    return int(text) if whole else number


def written_number(document: Document, loc: Loc) -> str:
    """Return a plain number, `true` or `null` as the file spells it (`1.10`), or nothing for other values."""
    spot = document.spot(loc)
    found = _NUMBER_LIKE.match(spot.source.text, spot.start)
    return found.group() if found else ""


def expression_location(document: Document, loc: Loc, column: int) -> Location:
    """Return the place of the 1-based `column` of a text value in its file.

    Exact for text on one line and for block text (`|`, `>`); the start of the scalar for quoted text over several
    lines.
    """
    spot = document.spot(loc)
    value: Any = document.value(loc)
    if not isinstance(value, str):
        return document.position(loc)
    offset = min(max(column - 1, 0), len(value))
    return spot.source.location(_written_offset(spot.source.text, spot.start, value, offset))


def _written_offset(text: str, start: int, value: str, offset: int) -> int:
    first = text[start : start + 1]
    if first in ("'", '"'):
        return _in_quotes(text, start, first, offset)
    if first in ("|", ">"):
        header = _LINE_END.search(text, start)
        return _in_order(text, header.end() if header else start, value, offset)
    if text.startswith(value, start):
        return start + offset
    return _in_order(text, start, value, offset)


def _in_quotes(text: str, start: int, quote: str, offset: int) -> int:
    at = start + 1
    for _ in range(offset):
        if text[at] in "\r\n" or text[at : at + 2] in ("\\\n", "\\\r"):
            return start
        if quote == "'":
            at += 2 if text.startswith("''", at) else 1
        else:
            at += 2 + _ESCAPE_DIGITS.get(text[at + 1], 0) if text[at] == "\\" else 1
    return at


def _in_order(text: str, at: int, value: str, offset: int) -> int:
    """Find a character of folded text: what is not white space stands in the file in the same order."""
    for character in value[:offset]:
        if character not in _SPACE:
            at = text.index(character, at) + 1
    if offset < len(value) and value[offset] not in _SPACE:
        at = text.index(value[offset], at)
    return at
