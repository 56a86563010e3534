"""Evaluating samples at once gives, sample by sample, what evaluating each of them alone gives."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specrules.expressions import Function, Type, Unknown, compile_expression

SYMBOLS = {"x": Type.NUMBER, "y": Type.NUMBER, "p": Type.BOOL, "s": Type.STRING, "v": Type.NUMBERS}
FUNCTIONS = {
    function.name: function
    for function in (
        Function("min", (Type.NUMBER, Type.NUMBER), Type.NUMBER, min, "", variadic=True),
        Function("max", (Type.NUMBER, Type.NUMBER), Type.NUMBER, max, "", variadic=True),
        Function("root", (Type.NUMBER,), Type.NUMBER, math.sqrt, ""),
        Function("total", (Type.NUMBERS, Type.NUMBER), Type.NUMBER, lambda vector, extra: sum(vector) + extra, ""),
    )
}
NUMBERS = st.one_of(st.none(), st.sampled_from([-2.0, -1.0, 0.0, 0.5, 1.0, 3.0]))


@st.composite
def numbers(draw: st.DrawFn, depth: int = 3) -> str:
    form = draw(st.integers(0, 6)) if depth else 0
    if form <= 1:
        return draw(st.sampled_from(["x", "y", "0", "1", "2.5"]))
    if form == 2:
        return f"({draw(numbers(depth - 1))} {draw(st.sampled_from('+-*/'))} {draw(numbers(depth - 1))})"
    if form == 3:
        return f"({draw(numbers(depth - 1))} if {draw(truths(depth - 1))} else {draw(numbers(depth - 1))})"
    if form == 4:
        return f"{draw(st.sampled_from(['min', 'max']))}({draw(numbers(depth - 1))}, {draw(numbers(depth - 1))})"
    return f"root({draw(numbers(depth - 1))})" if form == 5 else f"total(v, {draw(numbers(depth - 1))})"


@st.composite
def truths(draw: st.DrawFn, depth: int) -> str:
    form = draw(st.integers(0, 4)) if depth else 0
    if form == 0:
        return draw(st.sampled_from(["p", "s == 'a'", "s in ['b', 'c']", "not p"]))
    if form == 1:
        return f"({draw(truths(depth - 1))} {draw(st.sampled_from(['and', 'or']))} {draw(truths(depth - 1))})"
    if form == 2:
        return f"(x in [{draw(numbers(depth - 1))}, y])"
    comparison = draw(st.sampled_from(["<", "<=", ">", ">=", "==", "!="]))
    return f"({draw(numbers(depth - 1))} {comparison} {draw(numbers(depth - 1))} < 2)"


@given(
    numbers(),
    st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=6),
    st.sampled_from([None, True, False]),
    st.sampled_from([None, "a", "b"]),
)
def test_each_sample_is_evaluated_as_alone(
    source: str, pairs: list[tuple[float | None, float | None]], flag: bool | None, text: str | None
) -> None:
    expression = compile_expression(source, SYMBOLS, functions=FUNCTIONS)
    fixed = {"p": flag, "s": text, "v": (1.0, 2.0)}
    columns = {
        name: np.array([np.nan if pair[index] is None else pair[index] for pair in pairs])
        for index, name in enumerate("xy")
    }
    found = np.broadcast_to(expression.evaluate_samples({**fixed, **columns}), len(pairs))
    for sample, (x, y) in zip(found, pairs, strict=True):
        alone = expression.evaluate({**fixed, "x": x, "y": y})
        if isinstance(alone, Unknown):
            assert math.isnan(sample)
        else:
            assert sample == pytest.approx(alone, nan_ok=False)


def test_a_function_of_the_table_takes_all_samples_in_one_call() -> None:
    expression = compile_expression("tokens_per_round(x, 3)", {"x": Type.NUMBER})
    found = expression.evaluate_samples({"x": np.array([0.0, 0.5, 1.0, np.nan, 2.0])})
    assert found[:3].tolist() == [1.0, 1.875, 4.0]
    assert np.isnan(found[3:]).all()
