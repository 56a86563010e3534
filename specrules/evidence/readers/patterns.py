"""Regular expressions in linear time: logs are untrusted, and a pattern must not be able to hang on a line.

RE2 guarantees it: it matches in time linear in the text whatever the pattern, and refuses what cannot be matched so
(look-around, back-references). A pattern that compiles here can therefore not run away.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

_SET_MEMORY = 64 << 20
_NAMES = re.compile(r"\\.|\(\?P?<(?P<name>\w+)>")
_TOKENS = re.compile(
    r"\\Q.*?(?:\\E|$)|(?P<anchor>\\[AbB]|\^)|(?P<end>\\z)|\\.|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]|(?P<name>\(\?P?<\w+>)"
    r"|(?P<open>\()|(?P<close>\))|(?P<bar>\|)",
    re.DOTALL,
)
Text = str | bytes


class PatternError(ValueError):
    """A pattern that cannot be used, with the reason."""


class Pattern:
    """A compiled pattern. `groups` are the names of its groups in order."""

    def __init__(self, text: str) -> None:
        names = [found["name"] for found in _NAMES.finditer(text) if found["name"]]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise PatternError(f"the group {twice!r} stands twice in the pattern")
        self.text = text
        self._compiled = _compile(text)
        self._index: Mapping[str, int] = self._compiled.groupindex
        self.groups: tuple[str, ...] = tuple(self._index)
        self.group_count: int = self._compiled.groups

    def search(self, line: Text) -> Mapping[str, str | None] | None:
        """Return the named groups of the first match, None where there is none."""
        match = self._compiled.search(line)
        if match is None:
            return None
        found = match.groups()
        return {name: _decoded(found[index - 1]) for name, index in self._index.items()}

    def first_group(self, text: str) -> str | None:
        """Return the first group of the first match, or the whole match for a pattern without groups."""
        match = self._compiled.search(text)
        found: str | None = None if match is None else match.group(min(self.group_count, 1))
        return found

    def remove(self, line: bytes) -> bytes:
        """Return the line without what the pattern matches."""
        stripped: bytes = self._compiled.sub(b"", line)
        return stripped


class PatternSet:
    """Many patterns that are looked for in one pass over a line."""

    def __init__(self, patterns: Iterable[str]) -> None:
        texts = tuple(patterns)
        self._set = None
        if texts:
            self._set = _re2().Set.SearchSet(_options())
            for text in texts:
                self._set.Add(text)
            self._set.Compile()

    def matching(self, line: Text) -> list[int]:
        """Return the indices of the patterns that occur in the line, in order."""
        return [] if self._set is None else sorted(self._set.Match(line) or ())


class Prefixes:
    """Patterns that begin with `^`, removed from the beginning of a line one after the other."""

    def __init__(self, patterns: Iterable[Pattern]) -> None:
        self._patterns = tuple(patterns)
        self._together: Any = None
        self._has_groups = any(pattern.groups for pattern in self._patterns)
        if self._patterns and all(is_prefix(pattern.text) for pattern in self._patterns):
            # As a sequence of optional parts all of them cost one search: each is taken where it can be.
            parts = (f"(?:{_nameless(pattern.text[1:])})?" for pattern in self._patterns)
            self._together = _compile("^" + "".join(parts))

    def remove(self, line: bytes) -> tuple[bytes, tuple[str | None, ...]]:
        """Return the line without its prefixes, and what their named groups matched."""
        if self._together is not None:
            match = self._together.match(line)
            return line[match.end() :], tuple(map(_decoded, match.groups())) if self._has_groups else ()
        found: list[str | None] = []
        for pattern in self._patterns:
            groups = pattern.search(line)
            if groups is None:
                found += [None] * len(pattern.groups)
                continue
            found += groups.values()
            line = pattern.remove(line)
        return line, tuple(found)


class Screen:
    """Finds the lines of a block of text in which a pattern may match, without looking at each line.

    The patterns are loosened: what they say about the beginnings of lines and words no longer counts, because prefixes
    stand there that are removed later. So it finds too many lines, and none too few.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        options = _new_options()
        options.never_nl = True
        options.never_capture = True
        alternatives = "|".join(f"(?:{loosened(text)})" for text in patterns)
        self._compiled = _compile(f"(?m){alternatives}", options) if alternatives else None

    def lines(self, block: bytes, first: int) -> Iterator[tuple[int, bytes]]:
        """Yield the lines that may match, without their ends and each with its number; the block begins with `first`.

        Every line of the block ends in a line feed.
        """
        if self._compiled is None:
            return
        search = self._compiled.search
        position = counted = 0
        number = first
        while position < len(block):
            match = search(block, position)
            if match is None:
                return
            begin, end = match.span()
            start = block.rfind(b"\n", position, begin) + 1 or position
            stop = block.find(b"\n", end)
            number += block.count(b"\n", counted, start)
            counted = start
            yield number, block[start:stop]
            position = stop + 1


def literal(text: str) -> str:
    """Return the pattern that matches a text as it stands."""
    escaped: str = _re2().escape(text)
    return escaped


def loosened(text: str) -> str:
    """Return a pattern without named groups that matches wherever this one does, whatever stands before it in a line.

    Assertions about the beginning of the line and the limits of words are left out; those about its end hold for lines.
    """

    def replaced(found: re.Match[str]) -> str:
        if found["anchor"]:
            return ""
        return "(?:" if found["name"] else "$" if found["end"] else found[0]

    return _TOKENS.sub(replaced, text)


def is_prefix(text: str) -> bool:
    """Tell whether a pattern says `^` first, and nothing else about the beginning or beside it."""
    depth = 0
    for found in _TOKENS.finditer(text):
        depth += bool(found["open"] or found["name"]) - bool(found["close"])
        if (found["bar"] and not depth) or (found["anchor"] and found.start()):
            return False
    return text.startswith("^")


def _nameless(text: str) -> str:
    """Return the pattern with its named groups without names, and without other groups that capture."""

    def replaced(found: re.Match[str]) -> str:
        if found["name"]:
            return "("
        is_plain = found["open"] and text[found.end() : found.end() + 1] != "?"
        return "(?:" if is_plain else found[0]

    return _TOKENS.sub(replaced, text)


def _decoded(found: Text | None) -> str | None:
    return found.decode(errors="replace") if isinstance(found, bytes) else found


@cache
def _options() -> Any:
    return _new_options()


def _new_options() -> Any:
    options = _re2().Options()
    # RE2 prints refused patterns to stderr besides raising; what is wrong is said by whoever catches the error.
    options.log_errors = False
    options.max_mem = _SET_MEMORY
    return options


def _compile(text: str, options: Any = None) -> Any:
    re2 = _re2()
    try:
        return re2.compile(text, options or _options())
    except re2.error as error:
        reason = error.args[0] if error.args else error
        shown = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        raise PatternError(f"RE2 refuses the pattern: {shown}") from None


def _re2() -> Any:
    import re2

    return re2
