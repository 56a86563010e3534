"""From the value of a YAML scalar back to the characters that it was written with."""

from __future__ import annotations

import re
from bisect import bisect_left

from specrules.catalog.document import Source
from specrules.evidence.deployments.text import Builder, Text, stretch

_SOLID = re.compile("[^ \t\r\n\x85\u2028\u2029]+")
_HEADER = re.compile(r"[^\n\r]*(?:\r\n|\r|\n|$)")
_SPACE = " \t\r\n"
_SPACES = re.compile(r"[ \t\r\n]*")
_TO_BREAK = re.compile(r"[^ \t\r\n\\]*")
_LINE_END = re.compile(r"\r\n|\r|\n")
_DIGITS = {"x": 2, "u": 4, "U": 8}


def scalar_text(source: Source, start: int, end: int, value: str, style: str | None) -> Text:
    """The text of a scalar that was read between two offsets of the file.

    White space of folded and indented text stands where the character before it ends.
    """
    if style == '"':
        return _double_quoted(source, start + 1, end - 1, value)
    if style == "'":
        return _in_order(source, start + 1, value, quoted=True)
    if style in ("|", ">"):
        header = _HEADER.match(source.text, start)
        return _in_order(source, header.end() if header else start, value)
    if source.text.startswith(value, start):
        return stretch(source, start, start + len(value))
    return _in_order(source, start, value)


def _in_order(source: Source, at: int, value: str, *, quoted: bool = False) -> Text:
    """What is not white space stands in the file in the same order, with nothing but white space between."""
    builder = Builder(source, at)
    done = 0
    for solid in _SOLID.finditer(value):
        builder.character(value[done : solid.start()], at)
        here = _next_solid(source, at)
        for piece in _pieces(solid.group(), quoted=quoted):
            builder.add(stretch(source, here, here + len(piece)))
            here += len(piece) + (1 if quoted and piece.endswith("'") else 0)
        at, done = here, solid.end()
    builder.character(value[done:], at)
    return builder.text()


def _next_solid(source: Source, at: int) -> int:
    found = _SOLID.search(source.text, at)
    return found.start() if found else at


def _pieces(solid: str, *, quoted: bool) -> list[str]:
    """Within single quotes a quote is written twice: pieces end with one."""
    if not quoted or "'" not in solid:
        return [solid]
    parts = solid.split("'")
    return [part + "'" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _double_quoted(source: Source, start: int, end: int, value: str) -> Text:
    builder = Builder(source, start)
    text = source.text
    at, done = start, 0
    while at < end and done < len(value):
        if text[at] == "\\":
            width = 2 + _DIGITS.get(text[at + 1], 0)
            if text[at + 1] in "\r\n":
                at = _SPACES.match(text, at + 1, end).end()  # type: ignore[union-attr]
                continue
            builder.character(value[done], at)
            done += 1
            at += width
        elif text[at] in _SPACE:
            after = _SPACES.match(text, at, end).end()  # type: ignore[union-attr]
            breaks = len(_LINE_END.findall(text, at, after))
            if breaks:
                width = max(breaks - 1, 1)
                builder.character(value[done : done + width], at)
            else:
                width = after - at
                builder.add(stretch(source, at, after))
            at, done = after, done + width
        else:
            after = _TO_BREAK.match(text, at, end).end()  # type: ignore[union-attr]
            length = min(after - at, len(value) - done)
            builder.add(stretch(source, at, at + length))
            at, done = at + length, done + length
    builder.character(value[done:], at)
    return builder.text()


def with_holes(text: Text, holes: list[tuple[int, int]], original: str) -> Text:
    """The text with stretches of the file as holes, and with the characters that the file really has there.

    `holes` are offsets of the file, in order; `original` is the file before anything was blanked out.
    """
    found: list[tuple[int, int]] = []
    value = text.value
    for index, (start, there) in enumerate(text.runs):
        end = text.runs[index + 1][0] if index + 1 < len(text.runs) else len(value)
        last = there + end - start
        for at in range(max(bisect_left(holes, (there, 0)) - 1, 0), len(holes)):
            begin, stop = holes[at]
            if begin >= last:
                break
            first, until = max(begin, there) - there + start, min(stop, last) - there + start
            if first < until:
                found.append((first, until))
    if not found:
        return text
    pieces, done = [], 0
    for first, until in found:
        pieces += [value[done:first], original[text.at(first) : text.at(first) + until - first]]
        done = until
    pieces.append(value[done:])
    return Text(text.source, "".join(pieces), text.runs, (*text.holes, *found))
