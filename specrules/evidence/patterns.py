"""Regular expressions in linear time: logs are untrusted, and a pattern must not be able to hang on a line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

_SET_MEMORY = 64 << 20
_NAMES = re.compile(r"\\.|\(\?P?<(?P<name>\w+)>")
_CARETS = re.compile(r"\\.|\[\^|(?P<caret>\^)")


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
        self.groups: tuple[str, ...] = tuple(self._compiled.groupindex)
        self.group_count: int = self._compiled.groups

    def search(self, line: str) -> Mapping[str, str | None] | None:
        """Return the named groups of the first match, None where there is none."""
        match = self._compiled.search(line)
        groups: Mapping[str, str | None] | None = None if match is None else match.groupdict()
        return groups

    def first_group(self, text: str) -> str | None:
        """Return the first group of the first match, or the whole match for a pattern without groups."""
        match = self._compiled.search(text)
        found: str | None = None if match is None else match.group(min(self.group_count, 1))
        return found

    def remove(self, line: str) -> str:
        """Return the line without what the pattern matches."""
        stripped: str = self._compiled.sub("", line)
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

    def matching(self, line: str) -> list[int]:
        """Return the indices of the patterns that occur in the line, in order."""
        return [] if self._set is None else sorted(self._set.Match(line) or ())


def literal(text: str) -> str:
    """Return the pattern that matches a text as it stands."""
    escaped: str = _re2().escape(text)
    return escaped


def unanchored(text: str) -> str | None:
    """Return the pattern without the `^` at its start, None where another `^` stands elsewhere in it."""
    rest = text.removeprefix("^")
    return None if any(found["caret"] for found in _CARETS.finditer(rest)) else rest


@cache
def _options() -> Any:
    options = _re2().Options()
    # RE2 prints refused patterns to stderr besides raising; what is wrong is said by whoever catches the error.
    options.log_errors = False
    options.max_mem = _SET_MEMORY
    return options


def _compile(text: str) -> Any:
    re2 = _re2()
    try:
        return re2.compile(text, _options())
    except re2.error as error:
        reason = error.args[0] if error.args else error
        shown = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        raise PatternError(f"RE2 refuses the pattern: {shown}") from None


def _re2() -> Any:
    import re2

    return re2
