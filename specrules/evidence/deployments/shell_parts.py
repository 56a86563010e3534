"""What a shell's text is made of: words in parts, operators, here-documents, and where substitutions end."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from specrules.evidence.deployments.text import Text

Kind = Literal["text", "escape", "variable", "unknown"]

_BRACED = re.compile(r"(!?[A-Za-z_]\w*|[0-9]+|[@*#?$!-])(\[[@*0-9]+\])?(:?[-=+?])?")
_LONGEST_SUBSTITUTION = 1 << 16


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a word, by its offsets in the text.

    `variable`: `value` is its name and `modifier` what stands between the name and a default, such as `:-`.
    `escape`: `value` is the character that is meant. `unknown`: a substitution.
    """

    kind: Kind
    start: int
    end: int
    quoted: bool
    value: str = ""
    modifier: str = ""


@dataclass(frozen=True, slots=True)
class RawWord:
    """A word as it is written, in parts."""

    start: int
    end: int
    parts: tuple[Part, ...]

    def literal(self, text: Text) -> str | None:
        """The word where it stands there in plain letters, without quotes and variables; else None."""
        if any(part.kind != "text" or part.quoted for part in self.parts):
            return None
        return text.value[self.start : self.end]


@dataclass(frozen=True, slots=True)
class Operator:
    """`;`, `&&`, `|`, a redirection, a parenthesis, or the end of a line."""

    start: int
    value: str


@dataclass(slots=True)
class Heredoc:
    """The lines that follow a command, up to its delimiter. `quoted`: variables in it are plain text."""

    delimiter: str
    strip_tabs: bool
    quoted: bool
    start: int = 0
    end: int = 0


Token: TypeAlias = RawWord | Operator | Heredoc


def braced(value: str, start: int, end: int, *, quoted: bool) -> Part:
    """The part that `${...}` is: a variable, with a default or not, or something else that is unknown."""
    inner = value[start + 2 : end - 1] if value[end - 1 : end] == "}" else value[start + 2 : end]
    found = _BRACED.match(inner)
    if found is None:
        return Part("unknown", start, end, quoted)
    name, index, modifier = found.group(1), found.group(2) or "", found.group(3) or ""
    if found.end() < len(inner) and not modifier:
        return Part("unknown", start, end, quoted)
    return Part("variable", start, end, quoted, value=name + index, modifier=modifier)


def substitution_end(value: str, start: int, opens: str, closes: str) -> int:
    """Behind the bracket that closes the one at `start`, past quotes and nested ones; bounded."""
    depth, at = 0, start
    limit = min(len(value), start + _LONGEST_SUBSTITUTION)
    quote = ""
    while at < limit:
        here = value[at]
        if here == "\\" and quote != "'":
            at += 1
        elif quote:
            quote = "" if here == quote else quote
        elif here in "'\"":
            quote = here
        elif here == opens:
            depth += 1
        elif here == closes:
            depth -= 1
            if not depth:
                return at + 1
        at += 1
    return limit
