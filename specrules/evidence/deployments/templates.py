"""Templates that nobody rendered: blanked out, so that the rest can be read, and remembered as holes.

`{{ ... }}` of Helm, Go and Jinja, and `{% ... %}` of Jinja. A line that holds nothing else becomes blank: what it would
have put there is unknown. Everywhere else letters of a private area stand in for the template, one per character.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

STAND_IN = "\ue000"
_OPENS = re.compile(r"\{[{%#]")
_CLOSES = {"{{": "}}", "{%": "%}", "{#": "#}"}
_WORD = re.compile(r"\{[{%][-+]?\s*(if|with|range|for|block|define|endif|endfor|endblock|end)\b")
_OPENING = frozenset({"if", "with", "range", "for", "block", "define"})
_COMMENT = re.compile(r"\{\{-?\s*/\*|\{#")
_LINE_END = re.compile(r"[\r\n]")
_LONGEST = 4096


@dataclass(frozen=True, slots=True)
class Blanked:
    """A text of the same length without templates.

    `holes` are the stretches inside values, `lines` those that stood alone and may stand for anything, in order.
    `doubtful` is what stands inside a branch or a loop, and may not be there.
    """

    text: str
    holes: tuple[tuple[int, int], ...]
    lines: tuple[tuple[int, int], ...]
    doubtful: tuple[tuple[int, int], ...] = ()


def blanked(text: str) -> Blanked:
    """The text without its templates."""
    if "{{" not in text and "{%" not in text:
        return Blanked(text, (), ())
    pieces: list[str] = []
    holes: list[tuple[int, int]] = []
    lines: list[tuple[int, int]] = []
    done = 0
    for start, end in _spans(text):
        alone = _alone(text, start, end)
        pieces += [text[done:start], _blank(text[start:end]) if alone else STAND_IN * (end - start)]
        done = end
        if not alone:
            holes.append((start, end))
        elif not _COMMENT.match(text, start):
            lines.append((start, end))
    pieces.append(text[done:])
    return Blanked("".join(pieces), tuple(holes), tuple(lines), tuple(_branches(text)))


def _branches(text: str) -> Iterator[tuple[int, int]]:
    """What stands between the outermost `if`, `with`, `range` or `for` and its end."""
    depth, begin = 0, 0
    for start, end in _templates(text):
        word = _WORD.match(text, start)
        if word is None:
            continue
        if word[1] in _OPENING:
            begin = end if not depth else begin
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                yield begin, start
    if depth:
        yield begin, len(text)


def _spans(text: str) -> list[tuple[int, int]]:
    """Templates, those that follow each other with blanks between on one line as one."""
    found: list[tuple[int, int]] = []
    for start, end in _templates(text):
        comment = _COMMENT.match(text, start) is not None
        if _LINE_END.search(text, start, end) and not comment and not _alone(text, start, end):
            continue
        if found and not comment and start - found[-1][1] < _LONGEST and not text[found[-1][1] : start].strip(" \t"):
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return found


def _templates(text: str) -> Iterator[tuple[int, int]]:
    """Every template that ends within reach. Each kind of end is looked for once: the time is that of one pass."""
    ends = dict.fromkeys(_CLOSES.values(), -1)
    at = 0
    while (opened := _OPENS.search(text, at)) is not None:
        start, close = opened.start(), _CLOSES[opened.group()]
        if ends[close] < start + 2:
            found = text.find(close, start + 2)
            ends[close] = found if found >= 0 else len(text)
        end = ends[close] + 2
        if end > len(text) or end - start > _LONGEST:
            at = start + 2
            continue
        yield start, end
        at = end


def _alone(text: str, start: int, end: int) -> bool:
    """Whether nothing else stands on the lines of a template."""
    line = text[max(start - _LONGEST, 0) : start]
    before = line[max(line.rfind("\n"), line.rfind("\r")) + 1 :]
    after = _LINE_END.split(text[end : end + _LONGEST], maxsplit=1)[0]
    return len(before) < _LONGEST and not before.strip() and not after.strip()


def _blank(text: str) -> str:
    return "".join(character if character in "\r\n" else " " for character in text)
