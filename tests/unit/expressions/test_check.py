from __future__ import annotations

import pytest

from specrules.errors import ExpressionError, Problem
from specrules.expressions import Function, Type, compile_expression

SYMBOLS = {
    "incumbent.rate_tok_s": Type.NUMBER,
    "incumbent.drafting": Type.BOOL,
    "engine.id": Type.STRING,
    "n": Type.NUMBER,
    "c": Type.BOOL,
    "s": Type.STRING,
    "numbers": Type.NUMBERS,
    "strings": Type.STRINGS,
}
FUNCTIONS = {
    "pick": Function("pick", (Type.STRING, Type.NUMBERS), Type.NUMBERS, lambda _, vector: vector, ""),
    "count": Function("count", (Type.STRING, Type.NUMBER), Type.NUMBER, lambda *_: 0.0, "", variadic=True),
}


def refusals(source: str, **options: object) -> tuple[Problem, ...]:
    with pytest.raises(ExpressionError) as caught:
        compile_expression(source, SYMBOLS, **{"functions": FUNCTIONS, **options})  # type: ignore[arg-type]
    return caught.value.problems


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("1", Type.NUMBER),
        ("'a'", Type.STRING),
        ("[1, n]", Type.NUMBERS),
        ("['a', s]", Type.STRINGS),
        ("n + 1 * 2 / 3 - -n", Type.NUMBER),
        ("not c", Type.BOOL),
        ("1 < n <= 2 == n != 4", Type.BOOL),
        ("s == 'a' != engine.id", Type.BOOL),
        ("c == incumbent.drafting", Type.BOOL),
        ("n in [1, 2] and s not in strings", Type.BOOL),
        ("n in pick(s, numbers)", Type.BOOL),
        ("s if c else 'a'", Type.STRING),
        ("numbers if c else [1]", Type.NUMBERS),
        ("pick('a', numbers)", Type.NUMBERS),
        ("count('a', 1)", Type.NUMBER),
        ("count('a', 1, 2, n)", Type.NUMBER),
    ],
)
def test_types_of_expressions(source: str, kind: Type):
    expression = compile_expression(source, SYMBOLS, expect=kind, functions=FUNCTIONS)
    assert expression.type is kind
    assert compile_expression(source, SYMBOLS, functions=FUNCTIONS).type is kind


@pytest.mark.parametrize(
    ("source", "column", "words"),
    [
        ("n == 'a'", 6, "`==` compares different types: `n` is a number, `'a'` a text"),
        ("n != c", 6, "different types"),
        ("c == 1", 6, "different types"),
        ("n < s", 5, "different types"),
        ("1 < n < s", 9, "different types"),
        ("s < 'a'", 5, "compares numbers"),
        ("c >= c", 6, "compares numbers"),
        ("numbers == numbers", 12, "lists are not compared"),
        ("numbers < [1]", 11, "lists are not compared"),
        ("numbers == n", 12, "different types"),
        ("n in s", 6, "takes a list"),
        ("s in 'abc'", 6, "takes a list"),
        ("s in numbers", 6, "can never hold"),
        ("n not in ['a']", 10, "can never hold"),
        ("c in numbers", 6, "can never hold"),
        ("n in (numbers if c else [1])", 7, "square brackets or a declared name"),
        ("n in []", 6, "empty list"),
        ("[1, 'a']", 5, "one type"),
        ("[c]", 2, "numbers or texts"),
        ("[[1]]", 2, "numbers or texts"),
        ("not n", 5, "`not` takes true or false"),
        ("-c", 2, "`-` takes a number"),
        ("-s", 2, "`-` takes a number"),
        ("c + 1", 1, "`+` takes a number"),
        ("1 + s", 5, "`+` takes a number"),
        ("n * numbers", 5, "`*` takes a number"),
        ("c and n", 7, "`and` takes true or false"),
        ("s or c", 1, "`or` takes true or false"),
        ("1 if n else 2", 6, "`if` takes true or false"),
        ("1 if c else 'a'", 13, "same type"),
        ("pick('a')", 1, "pick() takes 2 arguments, not 1"),
        ("pick('a', numbers, 1)", 1, "pick() takes 2 arguments, not 3"),
        ("pick(1, numbers)", 6, "pick() takes a text"),
        ("pick('a', n)", 11, "takes a list of numbers"),
        ("count('a')", 1, "at least 2 arguments, not 1"),
        ("count('a', 1, 's')", 15, "takes a number"),
        ("n(1)", 1, "unknown function 'n'"),
        ("count", 1, "is a function"),
        ("known", 1, "is a function"),
        ("true", 1, "true cannot be written"),
    ],
)
def test_what_does_not_fit_is_refused_at_its_place(source: str, column: int, words: str):
    [problem] = refusals(source)
    assert words in problem.message
    assert problem.where is not None
    assert (problem.where.path, problem.where.line, problem.where.column) == ("<expression>", 1, column)


@pytest.mark.parametrize(
    ("source", "hint"),
    [
        ("incumbant.rate_tok_s > 1", "did you mean 'incumbent.rate_tok_s'?"),
        ("engine.ids == 'a'", "did you mean 'engine.id'?"),
        ("incumbent > 1", "did you mean one of incumbent.drafting, incumbent.rate_tok_s?"),
        ("engine == 'a'", "did you mean 'engine.id'?"),
        ("zzzzzzz > 1", ""),
        ("pik('a', numbers)", "did you mean 'pick'?"),
        ("pick('a')", "pick(text, numbers) -> numbers"),
        ("count('a')", "count(text, number, ...) -> number"),
    ],
)
def test_hints(source: str, hint: str):
    [problem] = refusals(source)
    assert problem.hint == hint


def test_an_unknown_name_makes_no_second_problem_of_its_type():
    assert [problem.message for problem in refusals("not (nope + 1 > 2) and nope")] == ["unknown name 'nope'"] * 2


def test_every_problem_is_found_at_once():
    problems = refusals("nope + 'a' > 1 and n and pick(1) and not s")
    assert [problem.where.column for problem in problems if problem.where] == [1, 8, 20, 26, 26, 31, 42]


def test_the_expected_type_is_required():
    [problem] = refusals(" n + 1", expect=Type.BOOL)
    assert problem.message == "the expression has to be true or false, and it is a number"
    assert problem.where is not None
    assert problem.where.column == 2


def test_known_is_refused_unless_it_is_allowed():
    [problem] = refusals("c or known(n)")
    assert "not allowed here" in problem.message
    assert problem.where is not None
    assert problem.where.column == 6
    assert compile_expression("c or known(n)", SYMBOLS, allow_known=True).names == {"c", "n"}


@pytest.mark.parametrize("source", ["known(1)", "known()", "known(n, c)", "known(n + 1)", "known(nope)", "known(x=n)"])
def test_known_takes_one_declared_name(source: str):
    assert len(refusals(source, allow_known=True)) == 1
