"""What a rule case expects beside what the rule said, as a diff that a person can read."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from difflib import SequenceMatcher

from specrules.decide.cases import CaseResult

_WIDTH = 100
_INDENT = "    "


def case_diff(result: CaseResult) -> tuple[str, ...]:
    """The `expect` of a case as a diff: `-` is what the case expects, `+` what the rule said, unmarked what agrees.

    Words that differ in a message stand in brackets. The expression with its values comes last: it decided. Empty for a
    case that holds or could not be asked.
    """
    if result.ok or result.gate is None:
        return ()
    expected, gate = result.case.expect, result.gate
    lines = [f"{_INDENT}{result.case.rule}, asked with"]
    lines += [f"{_INDENT}    {name}: {_shown(value)}" for name, value in result.case.given.items()] or [
        f"{_INDENT}    nothing"
    ]
    lines += _pair("outcome", expected.outcome, gate.outcome)
    if expected.message is not None:
        lines += _pair("message", *_marked(expected.message, gate.message))
    if expected.missing is not None:
        lines += _pair("missing", ", ".join(sorted(expected.missing)), ", ".join(sorted(gate.missing)))
    lines += _wrapped("  decided ", gate.expression) + _wrapped("  that is ", gate.substituted)
    return tuple(lines)


def _pair(name: str, expected: str, found: str) -> list[str]:
    if expected == found:
        return _wrapped(f"  {name} ", expected or "nothing")
    return _wrapped(f"- {name} ", expected or "nothing") + _wrapped(f"+ {name} ", found or "nothing")


def _marked(expected: str, found: str) -> tuple[str, str]:
    """Both texts with the words in brackets that the other lacks."""
    if expected == found:
        return expected, found
    before, after = expected.split(" "), found.split(" ")
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    left: list[str] = []
    right: list[str] = []
    for tag, first, last, start, end in matcher.get_opcodes():
        if tag == "equal":
            left += before[first:last]
            right += after[start:end]
        else:
            left += _bracketed(before[first:last])
            right += _bracketed(after[start:end])
    return " ".join(left), " ".join(right)


def _bracketed(words: list[str]) -> Iterator[str]:
    if words:
        yield f"[{' '.join(words)}]"


def _wrapped(head: str, text: str) -> list[str]:
    """A text under its head, its further lines under its first word."""
    if not text:
        return []
    mark = head[0] if head[0] in "-+" else " "
    first, rest = f"{_INDENT}{head}", f"{_INDENT}{mark}{' ' * (len(head) - 1)}"
    return textwrap.wrap(text, _WIDTH, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)


def _shown(value: object) -> str:
    match value:
        case None:
            return "unknown"
        case bool():
            return "true" if value else "false"
        case list() | tuple():
            return ", ".join(_shown(entry) for entry in value) or "nothing"
    return f"{value:g}" if isinstance(value, float) else str(value)
