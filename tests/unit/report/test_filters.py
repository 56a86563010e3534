from __future__ import annotations

import pytest

from specrules.model.rule import OUTCOMES
from specrules.model.verdict import Range, Speedup
from specrules.report import filters
from specrules.report.context import Source
from specrules.report.markdown import Markdown


def test_between() -> None:
    assert filters.between(Range(low=2.1, high=3.4), "ms") == "2.1 to 3.4 ms"
    assert filters.between((2.1, None)) == "2.1 to ?"
    assert filters.between((None, 3.4)) == "? to 3.4"
    assert filters.between(Range(), "ms") == ""
    assert filters.between(Speedup(low=0.5, mid=0.6, high=0.7)) == "0.5 to 0.7"


def test_spread() -> None:
    assert filters.spread(2.7425, (2.5, 3.1)) == "2.743 (2.5 to 3.1)"
    assert filters.spread(2.0, (2.0, 2.0)) == "2"
    assert filters.spread(2.0, (None, None)) == "2"
    assert filters.spread(None, (1.0, 3.0)) == "? (1 to 3)"
    assert filters.spread(None, (None, None)) == "?"
    assert filters.spread("impossible", (0.9, None)) == "impossible (0.9 to ?)"


def test_value() -> None:
    assert filters.value(12.0, "ms") == "12 ms"
    assert filters.value(None, "ms") == "? ms"
    assert filters.value(True) == "true"
    assert filters.value(False) == "false"
    assert filters.value("a*b") == "`a*b`"
    assert filters.value((0.5, 0.25), "share") == "0.5, 0.25 share"
    assert filters.value(tuple(float(n) for n in range(10))) == "0, 1, 2, 3, 4, 5, 6, 7, .. (10 in all)"


def test_code_and_lists_of_it() -> None:
    assert filters.code(None) == "?"
    assert filters.code("a b") == "`a b`"
    assert filters.code(3) == "`3`"
    assert filters.codes(("a", "b|c")) == r"`a`, b\|c"
    assert filters.codes(()) == ""


def test_notes_name_what_is_missing_last() -> None:
    assert filters.notes(("a*", "b"), ("x.y",)) == r"a\*; b; needs `x.y`"
    assert filters.notes((), ("x", "y")) == "needs `x`, `y`"
    assert filters.notes(()) == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see https://example.org/a?b=c#d.", "see <https://example.org/a?b=c#d>."),
        ("(https://example.org/a) *x*", r"(<https://example.org/a>) \*x\*"),
        ("https://example.org:8080", "<https://example.org:8080>"),
        ("a https://x.org b https://y.org/", "a <https://x.org> b <https://y.org/>"),
        ("http://example.org", r"http\://example.org"),
        ("javascript:alert(1) [x](https://x.org)", r"javascript:alert(1) \[x\](<https://x.org>)"),
        ("https://x.org/`a|b<c>", r"<https://x.org/>\`a\|b&lt;c>"),
        ("run `specrules tokenizer`, then *x*", r"run `specrules tokenizer`, then \*x\*"),
        ("`a*b``c` ``d`` `", r"\`a\*b\`\`c\` \`\`d\`\` \`"),
        ("`a|b`", r"a\|b"),
        ("`https://x.org`", "`https://x.org`"),
        ("no address", "no address"),
        ("", ""),
    ],
)
def test_prose_links_plain_https_addresses_and_shows_backticks_as_code(text: str, expected: str) -> None:
    assert filters.prose(text) == expected


def test_marks_are_plain_and_cover_every_outcome() -> None:
    marks = [filters.mark(outcome) for outcome in OUTCOMES]
    assert marks == ["PASS", "FAIL", "UNKNOWN", "N-A", "ERROR"]


def test_source_tells_kind_place_and_age() -> None:
    assert filters.source(None) == "unknown"
    assert filters.source(Source("measured", "a.log:3", "3 d", stale=False)) == "measured, `a.log:3`, 3 d ago"
    assert filters.source(Source("measured", "a.log:3", "99 d", stale=True)) == "measured, `a.log:3`, 99 d ago, STALE"
    assert filters.source(Source("assumed", "", "", stale=False)) == "assumed"
    assert filters.aged(Source("measured", "", "after now", stale=False)) == "after now"
    assert filters.aged(Source("measured", "", "", stale=False)) == "?"


def test_what_filters_call_markdown_is_escaped() -> None:
    hostile = "*a* <b> |"
    for made in (
        filters.code(hostile),
        filters.codes([hostile]),
        filters.notes([hostile], [hostile]),
        filters.prose(hostile),
        filters.source(Source("measured", hostile, "", stale=False)),
    ):
        assert isinstance(made, Markdown)
        assert "*a*" not in made.replace(r"\*a\*", "")
        assert "<b>" not in made
