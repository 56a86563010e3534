from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from specrules.expressions import FUNCTIONS, Function, Type, Unknown, compile_expression


def run(source: str) -> Any:
    return compile_expression(source, {}).evaluate({})


@pytest.mark.parametrize(
    ("source", "result"),
    [
        ("min(3, 1, 2)", 1),
        ("max(3, 1, 2)", 3),
        ("abs(-3)", 3),
        ("tokens_per_round(0.5, 3)", 1.875),
        ("tokens_per_round(1, 3)", 4),
        ("accepted_ratio(0.5, 3)", 0.875 / 3),
        ("conditional_from_ratio(0.41, 7)", 0.7754),
        ("conditional_from_tokens(1.875, 3)", 0.5),
        ("tokens_from_ratio(0.41, 7)", 3.87),
        ("tokens_from_counts(30, 10)", 4),
        ("tokens_from_positions([0.8, 0.5])", 2.3),
        ("rejected_share(0.5, 3)", 0.875),
        ("extrapolation_half_width(3, 3)", 0),
        ("extrapolation_half_width(3, 7)", 0.08),
        ("break_even_tokens(25, 109.7)", 2.7425),
        ("break_even_conditional(2.7425, 3)", 0.7519),
        ("break_even_ratio(2.7425, 3)", 0.5808),
        ("break_even_conditional(0.9, 3)", 0),
    ],
)
def test_results(source: str, result: float):
    assert run(source) == pytest.approx(result, abs=5e-5)
    assert type(run(source)) is float


def test_every_function_is_covered_by_the_results_above():
    marks = test_results.pytestmark  # type: ignore[attr-defined]
    covered = {source.partition("(")[0] for source, _ in marks[0].args[1]}
    assert covered == set(FUNCTIONS)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("tokens_per_round(1.5, 3)", "between 0 and 1"),
        ("tokens_per_round(0.5, 0)", "above 0"),
        ("tokens_from_counts(3, 0)", "above 0"),
        ("tokens_from_positions([0.5, 0.8])", "increase"),
        ("conditional_from_tokens(5, 3)", "no result"),
        ("break_even_conditional(5, 3)", "no result"),
        ("break_even_ratio(5, 3)", "no result"),
        ("break_even_tokens(1e300, 1e300)", "range of a float"),
    ],
)
def test_arguments_without_an_answer_give_an_unknown_with_the_reason(source: str, words: str):
    result = run(source)
    assert isinstance(result, Unknown)
    assert result.missing == frozenset()
    [reason] = result.reasons
    assert reason.startswith(f"`{source}`")
    assert words in reason


def test_functions_are_listed_under_their_names_and_documented():
    assert all(name == function.name and function.doc for name, function in FUNCTIONS.items())
    with pytest.raises(TypeError):
        FUNCTIONS["extra"] = FUNCTIONS["min"]  # type: ignore[index]


def test_signature():
    assert FUNCTIONS["tokens_from_positions"].signature == "tokens_from_positions(numbers) -> number"
    assert FUNCTIONS["min"].signature == "min(number, number, ...) -> number"
    assert Function("f", (), Type.BOOL, bool, "").signature == "f() -> flag"


def test_compiling_imports_neither_numpy_nor_pydantic():
    code = (
        "import sys; from specrules.expressions import compile_expression\n"
        "e = compile_expression('tokens_per_round(0.5, 3) > 1', {})\n"
        "print(sorted({'numpy', 'pydantic', 'yaml'} & set(sys.modules)), e.evaluate({}), 'numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[] True True"
