"""What is refused before types matter: everything outside the whitelist, and everything that is too large."""

from __future__ import annotations

import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from specrules.errors import ExpressionError, Problem
from specrules.expressions import Type, compile_expression

SYMBOLS = {
    "x": Type.NUMBER,
    "y": Type.NUMBER,
    "c": Type.BOOL,
    "d": Type.BOOL,
    "größe.é": Type.NUMBER,
    "engine.id": Type.STRING,
    "v": Type.NUMBERS,
}


def refusals(source: str) -> tuple[Problem, ...]:
    with pytest.raises(ExpressionError) as caught:
        compile_expression(source, SYMBOLS)
    return caught.value.problems


def places(source: str) -> list[tuple[int, int]]:
    return [(problem.where.line, problem.where.column) for problem in refusals(source) if problem.where]


@pytest.mark.parametrize(
    ("source", "column", "words"),
    [
        ("1 + x ** 2", 5, "operators + - * /"),
        ("x % 2", 1, "operators + - * /"),
        ("x // 2", 1, "operators + - * /"),
        ("x @ y", 1, "operators + - * /"),
        ("x << 2", 1, "operators + - * /"),
        ("x | y", 1, "operators + - * /"),
        ("x ^ y", 1, "operators + - * /"),
        ("'%1000000000d' % 1", 1, "operators + - * /"),
        ("9**9**9", 1, "operators + - * /"),
        ("~x", 1, "only the minus"),
        ("1 + +x", 5, "only the minus"),
        ("x is y", 1, "`is`"),
        ("x is not y", 1, "`is`"),
        ("lambda: x", 1, "`lambda`"),
        ("min(1, lambda: x)", 8, "`lambda`"),
        ("x in [i for i in v]", 6, "comprehension"),
        ("x in {i for i in v}", 6, "comprehension"),
        ("abs(i for i in v)", 4, "comprehension"),
        ("{i: i for i in v}", 1, "comprehension"),
        ("f'{x}' == engine.id", 1, "f-string"),
        ("1 < (x := 2)", 6, "assignment"),
        ("min(1, *v)", 8, "unpacking"),
        ("x in [*v]", 7, "unpacking"),
        ("abs(**c)", 5, "by position"),
        ("abs(number=x)", 5, "by position"),
        ("v[0]", 1, "index"),
        ("v[0:1]", 1, "index"),
        ("x in (1, 2)", 6, "tuple"),
        ("x in {1, 2}", 6, "set"),
        ("{'a': 1}", 1, "mapping"),
        ("await x", 1, "`await`"),
        ("(yield)", 2, "`yield`"),
        ("(yield from v)", 2, "`yield`"),
        ("(x).__class__", 1, "unknown name"),
        ("x.__class__.__mro__", 1, "unknown name"),
        ("'a'.__class__", 1, "field"),
        ("abs(x).real", 1, "field"),
        ("(x + y).real", 1, "field"),
        ("engine.id.format(x)", 1, "cannot be called"),
        ("'{0.__class__}'.format(x)", 1, "cannot be called"),
        ("(lambda: 1)()", 1, "cannot be called"),
        ("__import__('os')", 1, "unknown function"),
        ("eval('1')", 1, "unknown function"),
        ("None", 1, "None"),
        ("c == True", 6, "True"),
        ("c or false", 6, "false"),
        ("...", 1, "literal"),
        ("b'a'", 1, "literal"),
        ("2j", 1, "literal"),
        ("-b'a'", 2, "literal"),
    ],
)
def test_everything_outside_the_language_is_refused_at_its_place(source: str, column: int, words: str):
    problems = refusals(source)
    assert words in problems[0].message
    assert places(source)[0] == (1, column)


@pytest.mark.parametrize("number", ["1e999", "-1e999", "9" * 400, "-" + "9" * 400, "9007199254740993"])
def test_numbers_that_no_float_holds_are_refused(number: str):
    assert places(f"x > {number}") == [(1, 5)]


def test_integers_up_to_the_exact_ones_are_taken():
    assert compile_expression("9007199254740992", SYMBOLS).evaluate({}) == 2.0**53
    assert compile_expression("1_000 + 1e3", SYMBOLS).evaluate({}) == 2000


@pytest.mark.parametrize(
    ("source", "column"),
    [
        ("x\0", 2),
        ("x >\r 1", 4),
        ("x\u00a0> 1", 2),
        ("\ufeffx", 1),
        ("'\u202e' == engine.id", 2),
        ("'\ud800' == engine.id", 2),
        ("x > 1  # because", 8),
        ("x > \\\n1", 5),
        (r"'é\d' == engine.id", 3),
        (r"'\N{DIGIT ONE}' == engine.id", 2),
        (r"'\101' == engine.id", 2),
        ("engine.id == '''a'''", 14),
        ('engine.id == """a"b""" # "', 14),
        ("engine.id in ['a' 'b']", 15),
        ("engine.id in ['a'\n r'b']", 15),
    ],
)
def test_text_that_python_would_pass_over_is_refused(source: str, column: int):
    assert places(source) == [(1, column)]


def test_a_control_character_does_not_reach_the_terminal():
    assert "\x1b" not in str(refusals("x > \x1b[2J")[0].render())


def test_strings_take_the_escapes_that_repr_writes():
    expression = compile_expression(r"engine.id == 'a\\\'\n\x1f\u20ac\U0001f600'", SYMBOLS)
    assert expression.evaluate({"engine.id": "a\\'\n\x1f\u20ac\U0001f600"}) is True


def test_a_hash_within_a_string_is_not_a_comment():
    assert compile_expression("engine.id == 'a # b'", SYMBOLS).evaluate({"engine.id": "a # b"}) is True


@pytest.mark.parametrize(
    ("source", "place", "hint"),
    [
        ("x >", (1, 4), ""),
        ("", (1, 1), ""),
        ("  \n", (1, 1), ""),
        ("x = 1", (1, 3), "=="),
        ("c && d", (1, 4), "and"),
        ("größe.é > 1 || d", (1, 14), "or"),
        ("not c and !d", (1, 11), "not"),
        ("c ? x : y", (1, 3), "if"),
        ("x > 1\nand c", (2, 1), ""),
        ("c and\n not d", (1, 6), "brackets"),
        ("import os", (1, 1), ""),
        ("(x", (1, 1), ""),
        ("engine.id == 'a", (1, 14), ""),
        ("x; y", (1, 2), ""),
    ],
)
def test_text_that_does_not_parse_is_refused_at_its_place(source: str, place: tuple[int, int], hint: str):
    [problem] = refusals(source)
    assert places(source) == [place]
    assert hint in problem.hint


@pytest.mark.parametrize(
    ("source", "column"),
    [
        ("größe.é + nope", 11),
        ("'äöü€😀' == nope", 12),
        ("   nope", 4),
        ("\n  größe.é > nope", 13),
        ("(größe.é\n + 'ß' * nope)", 10),
    ],
)
def test_columns_count_code_points(source: str, column: int):
    assert places(source)[-1][1] == column


def test_lines_count_from_the_start_of_the_source():
    assert places("\n\n (x >\n  nope)") == [(4, 3)]
    assert places("(x >\n  'é' +\n  nope)") == [(2, 3), (3, 3)]


def test_an_excerpt_shows_the_line_of_the_problem():
    [problem] = refusals("(größe.é >\n  nope)")
    assert problem.render() == "<expression>:2:3: unknown name 'nope'\n      nope)\n      ^"


def test_all_problems_are_reported_in_order_of_place():
    assert places("nope > 1 and x ** 2 > lam(1) and not y and engine.id > 3") == [
        (1, 1),
        (1, 14),
        (1, 23),
        (1, 38),
        (1, 56),
    ]


def test_problems_inside_a_refused_operator_are_reported_too():
    assert places("nope ** (1 + 'a')") == [(1, 1), (1, 1), (1, 14)]
    assert places("nope is (x, 'a' + 1)") == [(1, 1), (1, 1), (1, 9), (1, 13)]
    assert places("x.y(nope, c=1)") == [(1, 1), (1, 5), (1, 11)]


def test_the_length_limit_is_a_thousand_characters():
    assert compile_expression("x" + " " * 998 + "\n", SYMBOLS)
    [problem] = refusals("x" + " " * 1000)
    assert "1001 characters" in problem.message
    assert problem.excerpt == ""


def test_the_depth_limit_is_32():
    assert compile_expression("not " * 31 + "c", SYMBOLS)
    assert "32 levels" in refusals("not " * 32 + "c")[0].message


def test_the_size_limit_is_200_parts():
    # The list and its entries: a signed number counts once.
    assert compile_expression(f"[{','.join(['-1'] * 199)}]", SYMBOLS)
    assert "201 parts" in refusals(f"[{','.join(['-1'] * 200)}]")[0].message


def test_a_dotted_name_is_one_part():
    deep = ".".join("a" * 60)
    assert compile_expression(f"{deep} > 1", {deep: Type.NUMBER}).names == {deep}


@pytest.mark.parametrize(
    "source",
    [
        "(" * 5000 + "x" + ")" * 5000,
        "(" * 450 + "x" + ")" * 450,
        "[" * 400 + "x" + "]" * 400,
        "+".join(["x"] * 20_000),
        "+".join(["x"] * 499),
        "-" * 999 + "x",
        "not " * 240 + "c",
        "x if c else " * 80 + "x",
        "abs(" * 190 + "x" + ")" * 190,
        "x" * 1000,
        "z." * 450 + "z",
        "9" * 5000,
        "9**9**9**9",
        "'a' * 10 ** 10",
        "'%1000000000d' % 1",
        "\0" * 900,
        "'" * 999,
        '"' * 3 + "\\" * 900,
        "{" * 90,
        "f'{" * 90,
    ],
)
def test_hostile_sources_are_refused_fast(source: str):
    started = time.process_time()
    assert refusals(source)
    # Measured at a few milliseconds; the rest is room for a busy machine.
    assert time.process_time() - started < 0.25


def test_no_warning_escapes_from_the_parser():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compile_expression("1if c else 2", SYMBOLS).evaluate({"c": True}) == 1


TOKENS = [
    *("x", "y", "c", "engine.id", "v", "größe.é", "nope", "1", "0", "1e400", "'a'", '"', "'", "[", "]", "(", ")", ","),
    *("and", "or", "not", "in", "is", "if", "else", "lambda", ":", ":=", "for", "await", "yield", "f'{x}'", "b'a'"),
    *(
        "+",
        "-",
        "*",
        "**",
        "/",
        "//",
        "%",
        "@",
        "~",
        "<",
        "<=",
        "==",
        "!=",
        "=",
        "->",
        "min",
        "abs",
        "known",
        ".",
        "...",
    ),
    *("None", "True", "{", "}", "\n", "\\", "#", "\0", "\t", "ä", "😀", "\ud800", "1j", "0x", "`", "$", "?", "!"),
]


@settings(deadline=None, max_examples=300)
@given(st.one_of(st.lists(st.sampled_from(TOKENS), max_size=14).map(" ".join), st.text(max_size=30)))
@example("f'{x!r:{y}}'")
@example("x\f")
def test_any_text_compiles_or_is_refused_with_places_inside_it(source: str):
    lines = source.split("\n")
    try:
        compile_expression(source, SYMBOLS, allow_known=True)
    except ExpressionError as error:
        places = [problem.where for problem in error.problems if problem.where]
    else:
        return
    assert places
    for where in places:
        assert 1 <= where.line <= len(lines)
        assert 1 <= where.column <= len(lines[where.line - 1]) + 1


def test_threads_parse_one_after_the_other() -> None:
    """On Python 3.11 two threads that build trees at once can end in a SystemError."""
    before, filters = sys.getswitchinterval(), list(warnings.filters)
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            found = list(
                pool.map(lambda extra: compile_expression(" + ".join(["x"] * (20 + extra % 5)), SYMBOLS), range(2000))
            )
    finally:
        sys.setswitchinterval(before)
    assert len(found) == 2000
    assert warnings.filters == filters
