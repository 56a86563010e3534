"""Expressions over series as queries of Prometheus."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specrules.expressions import Type, compile_expression, is_unknown

NAMES = ("a", "b", "c")
SYMBOLS = {**dict.fromkeys(NAMES, Type.NUMBER), "f": Type.BOOL, "s": Type.STRING}


def query(text, known=NAMES):
    return compile_expression(text, SYMBOLS).promql(lambda name: name.upper() if name in known else None)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a", "A"),
        ("1 + a / b", "1 + A / B"),
        ("(a - b) / c", "(A - B) / C"),
        ("a - (b - c)", "A - (B - C)"),
        ("a - b - c", "A - B - C"),
        ("a / (b * c)", "A / (B * C)"),
        ("a * 1000.5", "A * 1000.5"),
        ("-a * -2", "(-A) * (-2)"),
        ("-(a + b)", "-(A + B)"),
        ("abs(a - b) / c", "abs(A - B) / C"),
    ],
)
def test_arithmetic(text, wanted):
    assert query(text) == wanted


@pytest.mark.parametrize("text", ["max(a, b)", "a if f else b", "a > b", "f", "s", "1 if f else 2", "a + max(a, b)"])
def test_what_is_more_than_arithmetic_is_no_query(text):
    assert query(text) is None


def test_a_name_that_no_series_stands_for():
    assert query("a + b", known=("a",)) is None


numbers = st.integers(1, 50).map(float)
terms = st.recursive(
    st.sampled_from(NAMES) | st.integers(0, 9).map(str),
    lambda inner: st.builds("({} {} {})".format, inner, st.sampled_from("+-*/"), inner) | inner.map("(-{})".format),
    max_leaves=8,
)


@given(terms, st.fixed_dictionaries(dict.fromkeys(NAMES, numbers)))
def test_a_query_means_what_the_expression_means(text, values):
    # PromQL reads + - * / and brackets as Python does, so that Python can say what a query means.
    expression = compile_expression(text, SYMBOLS)
    found = expression.promql(lambda name: repr(values[name]))
    wanted = expression.evaluate(values)
    if is_unknown(wanted):
        return
    assert eval(found) == pytest.approx(wanted)  # noqa: S307
