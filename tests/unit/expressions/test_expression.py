from __future__ import annotations

import pytest

import specrules.expressions
from specrules.expressions import Explanation, Type, Unknown, compile_expression

SYMBOLS = {"incumbent.rate_tok_s": Type.NUMBER, "round_ms": Type.NUMBER, "drafting": Type.BOOL, "unused": Type.STRING}
SOURCE = "incumbent.rate_tok_s * round_ms / 1000 <= 4 or drafting"


def test_an_expression_says_what_it_is_and_what_it_reads():
    expression = compile_expression(f"  {SOURCE}\n", SYMBOLS)
    assert expression.source == f"  {SOURCE}\n"
    assert expression.names == {"incumbent.rate_tok_s", "round_ms", "drafting"}
    assert expression.type is Type.BOOL
    assert repr(compile_expression("1", {})) == "<Expression '1': number>"


def test_an_explanation_shows_the_expression_three_ways():
    explanation = compile_expression(f"  {SOURCE}\n", SYMBOLS).explain({"incumbent.rate_tok_s": 25, "round_ms": 109.7})
    assert explanation == Explanation(
        source=SOURCE, substituted="25 * 109.7 / 1000 <= 4 or ?", result=True, result_text="true"
    )


def test_an_explanation_of_an_unknown_names_what_would_settle_it():
    explanation = compile_expression(SOURCE, SYMBOLS).explain({"incumbent.rate_tok_s": 25})
    assert explanation.substituted == "25 * ? / 1000 <= 4 or ?"
    assert explanation.result == Unknown(frozenset({"round_ms", "drafting"}))
    assert explanation.result_text == "unknown: needs drafting, round_ms"


@pytest.mark.parametrize("absent", [{}, {"round_ms": None}, {"round_ms": Unknown()}])
def test_absent_none_and_unknown_inputs_are_the_same(absent: dict[str, object]):
    assert compile_expression("round_ms > 1", SYMBOLS).evaluate(absent) == Unknown(frozenset({"round_ms"}))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 10**400])
def test_inputs_that_are_not_finite_are_refused_even_where_they_do_not_decide(value: float):
    expression = compile_expression("drafting or round_ms > 1", SYMBOLS)
    for ask in (expression.evaluate, expression.substitute, expression.explain):
        with pytest.raises(ValueError, match="round_ms"):
            ask({"drafting": True, "round_ms": value})


def test_inputs_of_another_type_are_refused():
    expression = compile_expression("drafting or round_ms > 1", SYMBOLS)
    with pytest.raises(TypeError, match="round_ms is declared as a number, not bool"):
        expression.evaluate({"drafting": True, "round_ms": True})


def test_inputs_that_the_expression_does_not_read_are_not_looked_at():
    assert compile_expression("round_ms > 1", SYMBOLS).evaluate({"round_ms": 2, "drafting": "x"}) is True


def test_an_expression_can_be_evaluated_again_with_other_inputs():
    expression = compile_expression("round_ms > 1", SYMBOLS)
    assert [expression.evaluate({"round_ms": value}) for value in (2, 0, 2)] == [True, False, True]


def test_an_expression_without_names_is_a_constant():
    assert compile_expression("(1 + 2) * 3", {}).evaluate({"x": 1}) == 9.0


def test_public_names_exist():
    assert all(hasattr(specrules.expressions, name) for name in specrules.expressions.__all__)
