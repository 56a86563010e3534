"""Text that stays on its line: names and messages come from files that anybody may have written."""

from __future__ import annotations

import unicodedata

_REORDERING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_REPLACED = frozenset({"Cc", "Cs", "Zl", "Zp"})


def one_line(text: str) -> str:
    """Return the text on one line: runs of white space are one space, and nothing can steer a terminal or reorder text.

    Controls, surrogates and marks that change the direction of text become U+FFFD.
    """
    return " ".join("".join(map(_shown, " ".join(text.split()))).split())


def xml_text(text: str) -> str:
    """Return the text with U+FFFD for what XML 1.0 cannot hold, not even escaped. Line ends stay."""
    return "".join(char if _in_xml(ord(char)) else "\ufffd" for char in text)


def place_text(path: str, line: int, column: int) -> str:
    """Return a place as `file:line:column`, as far as it is known."""
    return ":".join([path, *([str(line)] if line else []), *([str(column)] if line and column else [])])


def _shown(char: str) -> str:
    if " " <= char <= "~":
        return char
    return "\ufffd" if char in _REORDERING or unicodedata.category(char) in _REPLACED else char


def _in_xml(code: int) -> bool:
    return code in (0x9, 0xA, 0xD) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or 0x10000 <= code <= 0x10FFFF
