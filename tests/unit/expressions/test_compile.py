"""The three-valued meaning of every operator."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from specrules.expressions import Function, Type, Unknown, compile_expression

SYMBOLS = {
    **dict.fromkeys(("x", "y", "z"), Type.NUMBER),
    **dict.fromkeys(("p", "q", "r"), Type.BOOL),
    **dict.fromkeys(("s", "t"), Type.STRING),
    "ns": Type.NUMBERS,
    "ss": Type.STRINGS,
}


def fail(error: Exception) -> Callable[..., object]:
    def call(*_: object) -> object:
        raise error

    return call


N = (Type.NUMBER,)
FUNCTIONS = {
    function.name: function
    for function in (
        Function("root", N, Type.NUMBER, math.sqrt, ""),
        Function("exp", N, Type.NUMBER, math.exp, ""),
        Function("nan", N, Type.NUMBER, lambda _: math.nan, ""),
        Function("inf", N, Type.NUMBER, lambda _: math.inf, ""),
        Function("nothing", N, Type.NUMBER, lambda _: None, ""),
        Function("zero", N, Type.NUMBER, lambda _: -0.0, ""),
        Function("divide", N, Type.NUMBER, lambda value: 1 / value, ""),
        Function("total", (Type.NUMBERS,), Type.NUMBER, sum, ""),
        Function("halves", (Type.NUMBERS,), Type.NUMBERS, lambda vector: [entry / 2 for entry in vector], ""),
        Function("hole", N, Type.NUMBERS, lambda value: [value, math.nan], ""),
        Function("positive", N, Type.BOOL, lambda value: value > 0, ""),
        Function("twice", (Type.STRING,), Type.STRING, lambda text: text * 2, ""),
        Function("letters", (Type.STRING,), Type.STRINGS, list, ""),
        Function("least", (Type.NUMBER, Type.NUMBER), Type.NUMBER, min, "", variadic=True),
        Function("broken", N, Type.NUMBER, fail(RuntimeError("a bug")), ""),
    )
}


def run(source: str, **values: object) -> Any:
    return compile_expression(source, SYMBOLS, allow_known=True, functions=FUNCTIONS).evaluate(values)


def missing(*names: str) -> Unknown:
    return Unknown(frozenset(names))


@pytest.mark.parametrize(
    ("source", "result"),
    [
        ("7 / 2", 3.5),
        ("2 + 3 * 4 - 6 / 3", 12.0),
        ("(2 + 3) * 4", 20.0),
        ("10 - 4 - 3", 3.0),
        ("-x * -2", 6.0),
        ("- -x", 3.0),
        ("1 < 2 < 3", True),
        ("1 < 3 < 2", False),
        ("3 > 2 >= 2 == 2 != 1", True),
        ("1 == 1 == 2", False),
        ("0.1 + 0.2 == 0.3", False),
        ("'a' == 'a' != 'b'", True),
        ("p == q", False),
        ("p != q", True),
        ("not p or q", False),
        ("p or q and q", True),
        ("not (p and q)", True),
        ("x in [1, 3]", True),
        ("x not in [1, 3]", False),
        ("-1 in [1, -1]", True),
        ("s in ['A', 'b']", False),
        ("s not in ss", False),
        ("x in [y, y - 1]", True),
        ("1 < x in [3]", True),
        ("x if p else y", 3.0),
        ("x if q else y", 4.0),
        ("1 if q else 2 if q else 3", 3.0),
        ("ns", (1.0, 2.0)),
        ("[x, 1]", (3.0, 1.0)),
        ("ns if q else [5]", (5.0,)),
        ("total(ns)", 3.0),
        ("total([x, y])", 7.0),
        ("x in halves([6])", True),
        ("halves(ns)", (0.5, 1.0)),
        ("positive(x)", True),
        ("twice(s)", "aa"),
        ("letters('ab')", ("a", "b")),
        ("least(x, y)", 3.0),
        ("least(x, y, 1, 2)", 1.0),
    ],
)
def test_settled_expressions(source: str, result: object):
    found = run(source, x=3, y=4, p=True, q=False, s="a", ss=["a"], ns=[1, 2])
    assert found == result
    assert type(found) is type(result)


@pytest.mark.parametrize("source", ["-x", "0 * -1", "0 / -1", "-0", "zero(1)", "0.0 - x", "-0.0", "-(0)"])
def test_zero_has_no_sign(source: str):
    assert str(run(source, x=0)) == "0.0"


# p is true, q is false, r is unknown.
@pytest.mark.parametrize(
    ("source", "result"),
    [
        ("q and r", False),
        ("r and q", False),
        ("p or r", True),
        ("r or p", True),
        ("p and r", missing("r")),
        ("r and p", missing("r")),
        ("q or r", missing("r")),
        ("r or q", missing("r")),
        ("not r", missing("r")),
        ("r == r", missing("r")),
        ("r and not r", missing("r")),
        ("r and x > 1 and q", False),
        ("r or x > 1 or p", True),
    ],
)
def test_kleene(source: str, result: object):
    assert run(source, p=True, q=False) == result


def test_unknown_junctions_miss_what_their_unknown_operands_miss():
    assert run("p and x > y and r and q", p=True, y=1) == missing("x", "r", "q")
    assert run("r or x > y or q", q=False, x=2) == missing("r", "y")


@pytest.mark.parametrize(
    "source",
    [
        "x + y",
        "x * 0 * y",
        "x / y > 1",
        "x - x + y",
        "x < y",
        "x == y",
        "x != y",
        "[x, y]",
        "total([x, 1, y])",
        "least(x, y)",
        "-x + y",
        "1 < x < y",
        "x in [1, y]",
    ],
)
def test_strict_operators_miss_every_unknown_operand(source: str):
    assert run(source) == missing("x", "y")


def test_a_chain_is_an_and_of_its_links():
    assert run("2 < 1 < x") is False
    assert run("x < 2 < 1") is False
    assert run("1 < x < 2") == missing("x")
    assert run("1 < 2 < x") == missing("x")
    assert run("x < 1 < y", y=0) is False
    assert run("3 > 2 > x > y", y=5) == missing("x")


def test_membership_is_an_or_of_equalities():
    assert run("x in [1, y]", x=1) is True
    assert run("x in [1, y]", x=2) == missing("y")
    assert run("x not in [1, y]", x=1) is False
    assert run("x not in [1, y]", x=2) == missing("y")
    assert run("x in [1, 2]") == missing("x")
    assert run("x in ns", x=1) == missing("ns")
    assert run("x in ns", x=1, ns=[1, None]) is True
    assert run("x in ns", x=1, ns=[2, None]) == missing("ns")
    assert run("x in ns", ns=[2, None]) == missing("x", "ns")
    assert run("x in ns", ns=[2]) == missing("x")
    assert run("x in ns", x=1, ns=[]) is False
    assert run("s in ss") == missing("s", "ss")


def test_a_list_with_an_unknown_entry_is_unknown_for_functions_and_as_a_result():
    assert run("total(ns)", ns=[1, None]) == missing("ns")
    assert run("ns", ns=[1, None]) == missing("ns")
    assert run("halves(ns)", ns=[None]) == missing("ns")


def test_a_conditional_with_an_unknown_test_needs_equal_branches():
    assert run("1 if r else 1") == 1.0
    assert run("x if r else y", x=2, y=2) == 2.0
    assert run("x if r else y", x=2, y=3) == missing("r")
    assert run("x if r else y", x=2) == missing("r", "y")
    assert run("x if r else y") == missing("r", "x", "y")
    assert run("x > 1 if r else x > 2", x=5) is True
    assert run("ns if r else [1, 2]", ns=[1, 2]) == (1.0, 2.0)
    assert run("ns if r else ns", ns=[1, None]) == missing("r", "ns")


def test_a_conditional_with_a_settled_test_ignores_the_other_branch():
    assert run("x if p else y", p=True, x=1) == 1.0
    assert run("x if p else y", p=False, x=1) == missing("y")
    assert run("x if p else 1 / 0", p=True, x=1) == 1.0


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("x / 0", "division by zero in `x / 0`"),
        ("x / (y - y)  >  1", "division by zero in `x / (y - y)`"),
        ("1e308 * 10", "`1e308 * 10` is beyond the range of a float"),
        ("-1e308 - 1e308", "`-1e308 - 1e308` is beyond the range of a float"),
        ("1e308 / 1e-10", "`1e308 / 1e-10` is beyond the range of a float"),
        ("exp(1000)", "`exp(1000)` is beyond the range of a float"),
        ("inf(1)", "`inf(1)` is beyond the range of a float"),
        ("nan(1)", "`nan(1)`: these arguments have no result"),
        ("hole(1)", "`hole(1)`: these arguments have no result"),
        ("nothing(1)", "`nothing(1)` has no value"),
        ("root(-x)", "`root(-x)`: math domain error"),
        ("divide(0)", "`divide(0)`: float division by zero"),
        ("not 1 / 0 > 1", "division by zero in `1 / 0`"),
        ("1 in [1 / 0]", "division by zero in `1 / 0`"),
        ("1 / 0 in [1]", "division by zero in `1 / 0`"),
        ("p and 1 / 0 > 1", "division by zero in `1 / 0`"),
        ("1 if 1 / 0 > 1 else 2", "division by zero in `1 / 0`"),
        ("1 / 0 if p else 2", "division by zero in `1 / 0`"),
    ],
)
def test_what_has_no_value_is_unknown_with_a_reason(source: str, reason: str):
    assert run(source, x=1, y=2, p=True) == Unknown(frozenset(), (reason,))


def test_a_division_by_zero_neither_passes_nor_fails_nor_absorbs():
    assert run("x / 0 > 1 or p", x=1, p=True) is True
    assert run("x / 0 > 1 and p", x=1, p=False) is False
    assert run("1 if 1 / 0 > 1 else 1") == 1.0


def test_an_operation_that_cannot_be_settled_asks_for_nothing():
    assert run("x + 1 / 0") == Unknown(frozenset(), ("division by zero in `1 / 0`",))
    assert run("least(x, 1 / 0)").missing == frozenset()
    assert run("x in [1 / 0, 2 / 0]", x=1).missing == frozenset()
    assert run("1 / 0 in [x]").missing == frozenset()
    assert run("1 / 0 if r else 2 / 0") == Unknown(
        frozenset(), ("division by zero in `1 / 0`", "division by zero in `2 / 0`")
    )
    assert run("x if 1 / 0 > 1 else 1 / 0").missing == frozenset()


def test_what_may_still_settle_is_asked_for_beside_a_reason():
    by_zero = ("division by zero in `1 / 0`",)
    assert run("r and 1 / 0 > 1") == Unknown(frozenset({"r"}), by_zero)
    assert run("x in [1, 1 / 0]") == Unknown(frozenset({"x"}), by_zero)
    assert run("1 in [x, 1 / 0]") == Unknown(frozenset({"x"}), by_zero)
    assert run("1 / 0 if r else 2") == Unknown(frozenset({"r"}), by_zero)
    assert run("x if 1 / 0 > 1 else 2") == Unknown(frozenset({"x"}), by_zero)


def test_an_unknown_input_keeps_its_own_names_and_reasons():
    rate = Unknown(frozenset({"drafter.step_ms"}), ("the log ends early",))
    assert run("x > y", x=rate) == Unknown(frozenset({"drafter.step_ms", "y"}), ("the log ends early",))
    assert run("x in ns", x=1, ns=[2, rate]) == rate
    assert run("x > y", x=Unknown(reasons=("no such round",))) == Unknown(frozenset(), ("no such round",))


def test_known_tells_whether_an_input_has_a_value():
    assert run("known(x)", x=0) is True
    assert run("known(x)") is False
    assert run("known(x)", x=Unknown(frozenset({"y"}))) is False
    assert run("known(q)", q=False) is True
    assert run("known(ns)", ns=[1, 2]) is True
    assert run("known(ns)", ns=[1, None]) is False
    assert run("not known(x) or x > 1", x=2) is True


def test_an_error_that_is_no_answer_is_not_swallowed():
    with pytest.raises(RuntimeError, match="a bug"):
        run("broken(1)")


def test_operands_are_evaluated_once():
    calls: list[float] = []
    functions = {"tick": Function("tick", N, Type.NUMBER, lambda value: calls.append(value) or value, "")}
    assert compile_expression("1 < tick(x) < 3", SYMBOLS, functions=functions).evaluate({"x": 2}) is True
    assert calls == [2.0]


def test_long_parts_are_shortened_in_reasons():
    inner = " + ".join(["x"] * 25)
    [reason] = run(f"1 / (({inner}) * 0)", x=1).reasons
    assert len(reason) < 90
    assert " ... " in reason
