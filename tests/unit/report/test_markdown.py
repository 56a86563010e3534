from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from specrules.report.markdown import Markdown, code, escape, fenced, finalize, one_line, shorten

from .parsed import PARSER, blocks, formats, shown

HOSTILE = [
    "a|b",
    "`x`",
    "``",
    "<script>alert(1)</script>",
    "<!-- x",
    "\n# H",
    "# H",
    "a\n\n| new | row |\n| --- | --- |",
    "[l](javascript:alert(1))",
    "![i](http://example.org/i.png)",
    "[l]: http://example.org",
    "<http://example.org>",
    "http://example.org",
    "https://example.org/a",
    "www.example.org",
    "**b** _i_ __b__ *i* ~~s~~ ~s~",
    "a\u2028# H\u2029- x\u0085> y\x0b\x0c\x1c",
    "&lt;b&gt; &copy; &#124;",
    "- item",
    "+ item",
    "* item",
    "1. item",
    "23) item",
    "> quote",
    "===",
    "---",
    "- - -",
    "--|--",
    ":-:",
    "    code",
    "\tcode",
    "~~~",
    "```\ncode",
    "\\",
    "\\|",
    "a\\|b\\",
    "$x$",
    "x" * 5000,
    "a" + "|" * 200,
    "\ud800",
    "\u202eltr",
]
TEXTS = st.text(
    st.sampled_from("|`*_[]()<>#!&;:/\\~-+=.$@0123abw \n\r\t\u2028\u2029\x85\x00é漢") | st.characters(), max_size=40
)


@pytest.mark.parametrize(
    "text",
    [
        "draft_length",
        "engine.max_verify_rows > 4",
        "3 * 12 ms < 67 ms",
        "--spec-draft-n-max 3",
        "-1.5",
        "1.5 tok/s",
        "llama-3.1-8b (Q4_K_M), build b11434",
        "R&D, AT&T, 5 > 4",
        "rules/gates.yaml:12:3: why?",
        "C# is no heading",
        "émigré 漢字",
    ],
)
def test_ordinary_text_is_left_as_it_is(text: str) -> None:
    assert escape(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a|b", r"a\|b"),
        ("`x`", r"\`x\`"),
        ("<script>", "&lt;script>"),
        ("\n# H", r"\# H"),
        ("[l](x)", r"\[l\](x)"),
        ("![i](http://x)", r"!\[i\](http\://x)"),
        ("see www.x.org", r"see www\.x.org"),
        ("*a* _b_ ~c~", r"\*a\* \_b\_ \~c\~"),
        ("&lt; &x", r"\&lt; \&x"),
        ("1. x", r"1\. x"),
        ("12) x", r"12\) x"),
        ("- x", r"\- x"),
        ("---", r"\---"),
        ("== =", "== ="),
        ("==", r"\=="),
        (":-:", r"\:-:"),
        ("> x", r"\> x"),
        ("a\r\nb\u2028c\u2029d\x85e\x00f", "a b c d e f"),
        ("ends in \\", "ends in &#92;"),
        ("me@example.org", "me@&#8203;example.org"),
        ("\ud800\u202e", "\ufffd\ufffd"),
        ("really!", r"really\!"),
    ],
)
def test_text_that_would_format_is_escaped(text: str, expected: str) -> None:
    assert escape(text) == expected


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize(
    "place", ["{}", "- {}", "# {}", "| a | {} | b |\n| --- | --- | --- |\n| x | {} | y |", "p\n{}"]
)
def test_hostile_text_stays_text_in_its_place(text: str, place: str) -> None:
    for write in (escape, code):
        written = place.replace("{}", write(text))
        assert blocks(written) == blocks(place.replace("{}", "x"))
        assert formats(written) <= {"softbreak"}


@settings(deadline=None)
@given(TEXTS)
@example("a\\|b`c")
@example("`` ` ``")
def test_escaped_text_reads_as_it_was(text: str) -> None:
    plain = one_line(text)
    seen = shown(f"| {escape(text)} | y |\n| --- | --- |\n| {code(text, 500)} | {escape(text)} |")
    cells = [cell.replace("@\u200b", "@") for cell in seen]
    assert cells == ([plain, "y", plain, plain] if plain else ["y"])


@settings(deadline=None)
@given(TEXTS)
def test_escaped_text_starts_no_block_and_formats_nothing(text: str) -> None:
    for written in (escape(text), code(text)):
        if written:
            assert blocks(written) == ["paragraph_open", "inline", "paragraph_close"]
            assert formats(written) == set()


@settings(deadline=None)
@given(TEXTS, TEXTS)
def test_escaped_texts_beside_each_other_format_nothing(left: str, right: str) -> None:
    assert formats(f"| {escape(left)}{escape(right)} |\n| --- |") == set()


@settings(deadline=None)
@given(TEXTS)
def test_a_fence_holds_whatever_is_in_it(text: str) -> None:
    tokens = PARSER.parse(f"before\n\n{fenced(text)}\n\nafter")
    assert [token.type for token in tokens if not token.type.startswith(("paragraph", "inline"))] == ["fence"]
    assert tokens[3].info == "sh"


def test_a_fence_keeps_lines_and_indentation() -> None:
    assert (
        fenced("\nfor x in a; do\n\techo $x | cat\r\ndone\n") == "```sh\nfor x in a; do\n    echo $x | cat\ndone\n```"
    )
    assert fenced("````\n", "") == "`````\n````\n`````"
    assert fenced("a\x1b[31mb\u202e") == "```sh\na [31mb\ufffd\n```"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x", "`x`"),
        ("a*b_c<d>", "`a*b_c<d>`"),
        ("`x`", "`` `x` ``"),
        ("a``b", "```a``b```"),
        ("a\nb", "`a b`"),
        ("a|b", r"a\|b"),
        ("a|`b", r"a\|\`b"),
        ("", ""),
        (" \n ", ""),
        ("back\\", "`back\\`"),
    ],
)
def test_code_spans(text: str, expected: str) -> None:
    assert code(text) == expected


def test_long_code_is_cut_where_asked() -> None:
    assert code("x" * 200) == "`" + "x" * 157 + "...`"
    assert code("x" * 200, 500) == "`" + "x" * 200 + "`"
    assert [shorten("abcdef", limit) for limit in (6, 5, 3)] == ["abcdef", "ab...", "..."]


def test_finalize_escapes_all_but_markdown() -> None:
    assert finalize("*a*") == r"\*a\*"
    assert finalize(Markdown("*a*")) == "*a*"
    assert finalize(Markdown("*a*") + "|") == r"\*a\*\|"
    assert [finalize(value) for value in (None, True, False, 3, 2.5)] == ["?", "true", "false", "3", "2.5"]
