"""Filters of the Markdown templates. Those that return `Markdown` have escaped what they print."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from specrules.model.fact import FactValue
from specrules.model.rule import RuleOutcome
from specrules.model.verdict import Range, Speedup
from specrules.report import markdown
from specrules.report.context import Source
from specrules.report.markdown import Markdown
from specrules.templating import UNKNOWN, num

Interval = Range | Speedup | Sequence[float | None]

MARKS: Mapping[RuleOutcome, str] = {
    "pass": "PASS",
    "fail": "FAIL",
    "unknown": "UNKNOWN",
    "not-applicable": "N-A",
    "error": "ERROR",
}
_LONGEST_LIST = 8
# Nothing in an address can end its link, a table cell or a code span.
_PROSE = re.compile(
    r"(?<!`)`(?P<code>[^`]+)`(?!`)"
    r"|(?P<address>https://[A-Za-z0-9.-]+(?::\d+)?(?:/[A-Za-z0-9/._~#?=&%+,:@-]*)?(?<![.,:?]))"
)


def code(value: object, limit: int = markdown.LONGEST_CODE) -> Markdown:
    """Return the value as an inline code span, `?` for None. Longer texts than `limit` are cut."""
    return Markdown(UNKNOWN) if value is None else markdown.code(str(value), limit)


def codes(values: Sequence[str]) -> Markdown:
    """Return the values as code spans with commas between."""
    return Markdown(", ".join(markdown.code(value) for value in values))


def notes(texts: Sequence[str], missing: Sequence[str] = ()) -> Markdown:
    """Return remarks in one cell, and behind them what an unknown number waits for."""
    waiting = [f"needs {codes(missing)}"] if missing else []
    return Markdown("; ".join([*(markdown.escape(text) for text in texts), *waiting]))


def prose(text: str) -> Markdown:
    """Return a text of the catalogue with its `https` addresses as links and what stands in backticks as code.

    Only for what the authors of rules and engines wrote; never for text that holds names or evidence.
    """
    parts: list[str] = []
    position = 0
    for match in _PROSE.finditer(text):
        shown = markdown.code(match["code"], len(text)) if match["code"] else f"<{match['address']}>"
        parts += [_piece(text[position : match.start()]), shown]
        position = match.end()
    return Markdown("".join([*parts, _piece(text[position:])]).strip())


def _piece(text: str) -> str:
    """Escape a part of a line and keep the spaces that part it from its neighbours."""
    before = " " if text[:1].isspace() else ""
    after = " " if text[-1:].isspace() else ""
    return f"{before}{markdown.escape(text)}{after}"


def between(interval: Interval, unit: str = "") -> str:
    """Return an interval as `2.1 to 3.4 ms`, with `?` at an unknown end; empty where nothing is known about it."""
    low, high = _ends(interval)
    return "" if low is None and high is None else f"{num(low)} to {num(high, unit)}"


def spread(middle: float | str | None, interval: Interval) -> str:
    """Return a number with its interval: `2.742 (2.5 to 3.1)`. An interval that tells nothing more is left out."""
    shown = middle if isinstance(middle, str) else num(middle)
    low, high = _ends(interval)
    if low == high == middle or not (around := between(interval)):
        return shown
    return f"{shown} ({around})"


def _ends(interval: Interval) -> tuple[float | None, float | None]:
    if isinstance(interval, Range | Speedup):
        return interval.low, interval.high
    low, high = interval
    return low, high


def mark(outcome: RuleOutcome) -> str:
    """Return the mark of an outcome in plain ASCII."""
    return MARKS[outcome]


def value(content: FactValue | None, unit: str = "") -> str:
    """Return the value of a fact or formula: numbers with their unit, texts as code, the first entries of lists."""
    if isinstance(content, bool):
        return "true" if content else "false"
    if isinstance(content, str):
        return markdown.code(content)
    if isinstance(content, tuple):
        shown = ", ".join(num(entry) for entry in content[:_LONGEST_LIST])
        more = f", .. ({len(content)} in all)" if len(content) > _LONGEST_LIST else ""
        return f"{shown}{more} {unit}".rstrip()
    return num(content, unit)


def source(where: Source | None) -> Markdown:
    """Return kind, place and age of a source in one phrase: measured, `server.log:14`, 3 d ago."""
    if where is None:
        return Markdown("unknown")
    text = markdown.code(where.text)
    return Markdown(", ".join([where.kind, *([text] if text else []), *([aged(where)] if where.age else [])]))


def aged(where: Source) -> Markdown:
    """Return the age of a source, marked where it is too old; `?` where nobody said when it was observed."""
    if not where.age:
        return Markdown(UNKNOWN)
    told = where.age if where.age.endswith("now") else f"{where.age} ago"
    return Markdown(f"{told}, STALE" if where.stale else told)


FILTERS: Mapping[str, Callable[..., Any]] = {
    "code": code,
    "codes": codes,
    "notes": notes,
    "prose": prose,
    "fenced": markdown.fenced,
    "between": between,
    "spread": spread,
    "mark": mark,
    "value": value,
    "source": source,
    "aged": aged,
}
