"""Text as Markdown that cannot break out of its place.

Everything that a template prints is data until it is proven otherwise: the environment's `finalize` hook escapes every
value that is not already `Markdown`. Only the functions of this module make `Markdown`, and there is no filter that
lets data through as it is. The rules are those of CommonMark and of GitHub's extensions (tables, strikethrough,
autolinks, mentions, math); all output is safe inside a table cell as well as outside of one.
"""

from __future__ import annotations

import re
import unicodedata

LONGEST_CODE = 160

# Categories that end lines, hide, or reorder what a reader sees: controls, separators, surrogates, bidi marks.
_LINE_ENDS = {"Cc", "Zl", "Zp"}
_REORDERING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_REPLACEMENT = "\ufffd"

# What would start a block, where the text is the first thing on its line.
_BLOCK_START = re.compile(r"(?:[-+](?=\s|$)|-(?=[-\s:|]*$)|=(?==*\s*$)|:(?=\s*-))")
_ORDERED_START = re.compile(r"(\d{1,9})([.)])(?=\s|$)")

_INLINE = re.compile(
    r"""
      (?P<always>[\\`\[\]|~$])
    | (?P<star>\*) | (?P<under>_)
    | (?P<bang>!$)
    | (?P<hash>(?<!\S)\#)
    | (?P<entity>&(?=\#?\w*(?:;|$)))
    | (?P<tag><(?=[A-Za-z/!?]|$))
    | (?P<quote>^>)
    | (?P<scheme>:(?=//))
    | (?P<host>(?<=[wW]{3})\.)
    | (?P<at>@)
    """,
    re.VERBOSE,
)


class Markdown(str):
    """Text that is Markdown already and is printed as it is."""

    __slots__ = ()

    def __html__(self) -> str:
        """Keep Jinja's own HTML escaping away, where it is switched on."""
        return self


def one_line(text: str) -> str:
    """Return the text on one line: line ends, controls and runs of spaces become one space, bidi marks are shown."""
    return " ".join("".join(_visible(char) for char in text).split())


def _visible(char: str) -> str:
    if " " <= char <= "~":
        return char
    category = unicodedata.category(char)
    if category in _LINE_ENDS:
        return " "
    return _REPLACEMENT if category == "Cs" or char in _REORDERING else char


def escape(text: str) -> Markdown:
    """Return Markdown that shows the text on one line and formats nothing.

    Characters that stay plain where they are cannot format anything there, so that identifiers, comparisons and flags
    read the same in the source as on the page: `draft_length`, `a < b`, `3 * 12`, `--flag`.
    """
    plain = one_line(text)
    escaped = _INLINE.sub(_escape_match, plain)
    if _BLOCK_START.match(plain):
        return Markdown("\\" + escaped)
    return Markdown(_ORDERED_START.sub(r"\1\\\2", escaped, count=1) if _ORDERED_START.match(plain) else escaped)


def _escape_match(match: re.Match[str]) -> str:
    char = match.group()
    before = match.string[match.start() - 1 : match.start()]
    after = match.string[match.end() : match.end() + 1]
    match match.lastgroup:
        case "star" if before == after == " ":
            return char
        case "under" if before.isalnum() and after.isalnum():
            return char
        case "tag":
            return "&lt;"
        case "always" if char == "\\" and not after:
            # A pipe that the template puts right behind would be taken for an escaped one.
            return "&#92;"
        case "at":
            # Neither a backslash nor an entity for the sign keeps GitHub from linking addresses and mentions.
            return "@&#8203;"
    return "\\" + char


def code(text: str, limit: int = LONGEST_CODE) -> Markdown:
    """Return an inline code span that shows the text, whatever backticks it holds; nothing for an empty text.

    A span cannot hold a pipe both inside and outside of a table, so a text with one is shown without a span. Texts
    longer than `limit` characters are cut at the end, marked by `...`.
    """
    plain = shorten(one_line(text), limit)
    if "|" in plain:
        return escape(plain)
    if not plain:
        return Markdown("")
    fence = "`" * (_longest_run(plain) + 1)
    pad = " " if plain.startswith("`") or plain.endswith("`") else ""
    return Markdown(f"{fence}{pad}{plain}{pad}{fence}")


def fenced(text: str, language: str = "sh") -> Markdown:
    """Return a fenced code block that shows the text line by line, with a fence longer than any in the text."""
    lines = ["".join(_visible(char) for char in line.expandtabs(4)).rstrip() for line in re.split(r"\r\n|\r|\n", text)]
    body = "\n".join(lines).strip("\n")
    fence = "`" * max(3, _longest_run(body) + 1)
    return Markdown(f"{fence}{language}\n{body}\n{fence}")


def shorten(text: str, limit: int) -> str:
    """Return the text, cut to `limit` characters with `...` at its end where it is longer."""
    return text if len(text) <= limit else text[: max(limit - 3, 0)].rstrip() + "..."


def finalize(value: object) -> Markdown:
    """Turn whatever a template prints into Markdown: `Markdown` stays, None is `?`, all else is escaped."""
    if isinstance(value, Markdown):
        return value
    if value is None:
        return Markdown("?")
    if isinstance(value, bool):
        return Markdown("true" if value else "false")
    return escape(str(value))


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)
