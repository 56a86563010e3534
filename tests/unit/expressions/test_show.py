from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specrules.expressions import Type, Unknown, compile_expression
from specrules.expressions.show import show, show_number, show_result

SYMBOLS = {
    **dict.fromkeys(("x", "y", "incumbent.rate_tok_s", "größe"), Type.NUMBER),
    "c": Type.BOOL,
    "s": Type.STRING,
    "ns": Type.NUMBERS,
    "ss": Type.STRINGS,
}


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (-1e-9, "-1e-9"),
        (3.0, "3"),
        (-2.5, "-2.5"),
        (0.1 + 0.2, "0.3"),
        (0.7753981, "0.775398"),
        (66.80000001, "66.8"),
        (1234567.8, "1.23457e6"),
        (1048576.0, "1048576"),
        (17179869184.0, "17179869184"),
        (1e15, "1e15"),
        (1.5e300, "1.5e300"),
        (0.0001, "0.0001"),
        (0.00001234567, "1.23457e-5"),
        (100.0, "100"),
        (99999.96, "100000"),
        (999999.6, "1e6"),
    ],
)
def test_numbers(number: float, text: str):
    assert show_number(number) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_shown_number_reads_back_to_six_digits(number: float):
    assert float(show_number(number)) == pytest.approx(number, rel=5.1e-6)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (False, "false"),
        ("llama.cpp", '"llama.cpp"'),
        ('say "a"', "'say \"a\"'"),
        ("it's", '"it\'s"'),
        ("a\\b\n\x1b", '"a\\\\b\\n\\x1b"'),
        ((1.0, 0.5), "[1, 0.5]"),
        (("a", "b"), '["a", "b"]'),
        ((1.0, Unknown(frozenset({"v"}))), "[1, ?]"),
        (Unknown(), "?"),
    ],
)
def test_values(value: object, text: str):
    assert show(value) == text


def test_results():
    assert show_result(True) == "true"
    assert show_result(Unknown(frozenset({"b", "a"}))) == "unknown: needs a, b"
    assert show_result(Unknown(reasons=("no baseline", "no round"))) == "unknown: no baseline; no round"
    assert show_result(Unknown(frozenset({"a"}), ("no round",))) == "unknown: needs a; no round"


@pytest.mark.parametrize(
    ("source", "values", "text"),
    [
        ("x / y > 1.50", {"x": 3, "y": 2}, "3 / 2 > 1.50"),
        ("x / y > 1", {"x": 3}, "3 / ? > 1"),
        ("incumbent.rate_tok_s>=x", {"incumbent.rate_tok_s": 25.04}, "25.04>=?"),
        ("(x + y) * x", {"x": 2, "y": 0.25}, "(2 + 0.25) * 2"),
        ("x - y", {"x": -1, "y": -2}, "-1 - (-2)"),
        ("-x * y", {"x": -1, "y": -2}, "-(-1) * (-2)"),
        ("x < y", {"x": -1, "y": -2}, "-1 < -2"),
        ("not c and s == 'a'", {"c": False, "s": "a"}, "not false and \"a\" == 'a'"),
        ("x in ns and s in ss", {"x": 1, "ns": [1, None], "ss": ["a"]}, '1 in [1, ?] and ? in ["a"]'),
        ("'größe' == s and größe > x", {"s": "ö", "größe": 1, "x": 2}, "'größe' == \"ö\" and 1 > 2"),
        ("known(x) and x > 1", {"x": 2}, "known(2) and 2 > 1"),
        ("x if c else y", {"c": True, "y": 7}, "? if true else 7"),
        ("min(x, y, -x)", {"x": 1, "y": 2}, "min(1, 2, -1)"),
        ("  x +\ty \n", {"x": 1, "y": 2}, "1 +\t2"),
        ("\n(x\n + y)", {"x": 1, "y": 2}, "(1\n + 2)"),
        ("x + (incumbent) . rate_tok_s", {"x": 1, "incumbent.rate_tok_s": 2}, "1 + 2"),
    ],
)
def test_substitution(source: str, values: dict[str, object], text: str):
    assert compile_expression(source, SYMBOLS, allow_known=True).substitute(values) == text
