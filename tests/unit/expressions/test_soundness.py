"""Random expressions against random completions of their unknown inputs.

What must hold for every expression without `known`, whatever it is made of:

* no exception escapes from an evaluation;
* a settled result never changes when unknown inputs are filled in;
* what an unknown result asks for is open, and once all of it is filled in nothing more is asked for;
* an unknown result that asks for nothing stays unknown whatever is filled in.
"""

from __future__ import annotations

import math
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from specrules.errors import ExpressionError
from specrules.expressions import Function, Type, Unknown, compile_expression, is_unknown

NAMES = {
    Type.NUMBER: ("x", "group.y", "größe"),
    Type.BOOL: ("p", "group.q"),
    Type.STRING: ("s", "group.t"),
    Type.NUMBERS: ("ns",),
    Type.STRINGS: ("ss",),
}
SYMBOLS = {name: kind for kind, names in NAMES.items() for name in names}
LITERALS = {
    Type.NUMBER: ("0", "1", "2", "-1", "0.5", "1e308"),
    Type.STRING: ("'a'", '"b"', "'ü'"),
}

_N, _S, _NS = Type.NUMBER, Type.STRING, Type.NUMBERS
FUNCTIONS = {
    function.name: function
    for function in (
        Function("min", (_N, _N), _N, min, "", variadic=True),
        Function("max", (_N, _N), _N, max, "", variadic=True),
        Function("share", (_N, _N, _NS), _N, lambda part, rest, _: part / (part + rest), ""),
        Function("abs", (_N,), _N, abs, ""),
        Function("root", (_N,), _N, math.sqrt, ""),
        Function("inverse", (_N,), _N, lambda value: 1 / value, ""),
        Function("power", (_N,), _N, math.exp, ""),
        Function("nan", (_N,), _N, lambda _: math.nan, ""),
        Function("mean", (_NS,), _N, lambda vector: sum(vector) / len(vector), ""),
        Function("halves", (_NS,), _NS, lambda vector: [entry / 2 for entry in vector], ""),
        Function("count", (Type.STRINGS,), _N, len, ""),
        Function("short", (_S,), Type.BOOL, lambda text: len(text) < 2, ""),
        Function("first", (Type.STRINGS,), _S, lambda texts: texts[0] if texts else None, ""),
        Function("letters", (_S,), Type.STRINGS, list, ""),
    )
}


@st.composite
def expressions(draw: st.DrawFn, kind: Type, depth: int) -> str:
    """Draw the source of a well-typed expression. Whatever binds weaker than `+` stands in brackets."""
    if depth == 0 or draw(st.integers(0, 4)) == 0:
        return draw(st.sampled_from(NAMES[kind] + LITERALS.get(kind, ())))
    # A function call or a conditional exists for every type, the other forms for some.
    form = draw(st.sampled_from(FORMS[kind]))

    def part(kind: Type) -> str:
        return draw(expressions(kind, depth - 1))

    match form:
        case "call":
            function = draw(st.sampled_from([one for one in FUNCTIONS.values() if one.result is kind]))
            extra = draw(st.integers(0, 1)) if function.variadic else 0
            arguments = [*function.parameters, *function.parameters[-1:] * extra]
            return f"{function.name}({', '.join(part(argument) for argument in arguments)})"
        case "if":
            return f"({part(kind)} if {part(Type.BOOL)} else {part(kind)})"
        case "arithmetic":
            text = f"{part(_N)} {draw(st.sampled_from('+-*/'))} {part(_N)}"
            return f"({text})" if draw(st.booleans()) else text
        case "minus":
            return f"-({part(_N)})"
        case "list":
            element = kind.element
            assert element is not None
            return f"[{', '.join(part(element) for _ in range(draw(st.integers(1, 3))))}]"
        case "not":
            return f"(not {part(Type.BOOL)})"
        case "junction":
            operator = draw(st.sampled_from([" and ", " or "]))
            return f"({operator.join(part(Type.BOOL) for _ in range(draw(st.integers(2, 3))))})"
        case "order":
            count = draw(st.integers(1, 2))
            links = [f" {draw(st.sampled_from(['<', '<=', '>', '>=', '==', '!=']))} {part(_N)}" for _ in range(count)]
            return f"({part(_N)}{''.join(links)})"
        case "equal":
            scalar = draw(st.sampled_from([Type.BOOL, Type.STRING]))
            return f"({part(scalar)} {draw(st.sampled_from(['==', '!=']))} {part(scalar)})"
    scalar, listed = draw(st.sampled_from([(_N, _NS), (_S, Type.STRINGS)]))
    entries = draw(
        st.one_of(st.just(NAMES[listed][0]), st.lists(expressions(scalar, depth - 1), min_size=1, max_size=3))
    )
    shown = entries if isinstance(entries, str) else f"[{', '.join(entries)}]"
    return f"({part(scalar)} {draw(st.sampled_from(['in', 'not in']))} {shown})"


FORMS = {
    Type.NUMBER: ("arithmetic", "arithmetic", "arithmetic", "minus", "call", "if"),
    Type.BOOL: ("not", "junction", "junction", "order", "order", "equal", "member", "member", "call", "if"),
    Type.STRING: ("call", "if"),
    Type.NUMBERS: ("list", "list", "call", "if"),
    Type.STRINGS: ("list", "list", "call", "if"),
}

SCALARS = {
    Type.NUMBER: st.sampled_from([0.0, -0.0, 1.0, 2.0, -1.0, 0.5, 3, 1e308, -1e308, 1e-300]),
    Type.BOOL: st.booleans(),
    Type.STRING: st.sampled_from(["a", "b", "ü", ""]),
}
DEAD = Unknown(reasons=("no such thing",))


def open_value(kind: Type) -> st.SearchStrategy[object]:
    """Draw a value, an open input (None), one that nothing settles, or a list in which such entries occur."""
    nothing = st.sampled_from([None, None, None, DEAD])
    if kind.element is None:
        return st.one_of(nothing, SCALARS[kind])
    return st.one_of(nothing, st.lists(st.one_of(SCALARS[kind.element], nothing), max_size=3))


def completion(kind: Type, value: object) -> st.SearchStrategy[object]:
    """Draw a value in which everything open is filled in, and nothing else is changed."""
    if isinstance(value, list):
        assert kind.element is not None
        return st.tuples(*(completion(kind.element, entry) for entry in value)).map(list)
    if value is not None:
        return st.just(value)
    return SCALARS[kind] if kind.element is None else st.lists(SCALARS[kind.element], max_size=3)


def is_open(value: object) -> bool:
    return value is None or (isinstance(value, list) and None in value)


TYPES = {Type.NUMBER: float, Type.BOOL: bool, Type.STRING: str, Type.NUMBERS: tuple, Type.STRINGS: tuple}


@settings(deadline=None, max_examples=300)
@given(st.data(), st.sampled_from([Type.BOOL, Type.BOOL, Type.BOOL, *Type]), st.integers(1, 4))
def test_filling_in_unknowns_never_changes_what_was_settled(data: st.DataObject, kind: Type, depth: int):
    source = data.draw(expressions(kind, depth))
    assume(len(source) <= 1000)
    expression = compile_expression(source, SYMBOLS, expect=kind, functions=FUNCTIONS)
    values = {name: data.draw(open_value(SYMBOLS[name]), label=name) for name in sorted(expression.names)}
    before = expression.evaluate(values)
    unsettled = {name for name, value in values.items() if is_open(value)}
    assert is_unknown(before) or type(before) is TYPES[kind]
    if is_unknown(before):
        assert before.missing <= unsettled
        assert before.missing or before.reasons
    for _ in range(4):
        full = {name: data.draw(completion(SYMBOLS[name], value)) for name, value in values.items()}
        some = data.draw(st.sets(st.sampled_from(sorted(unsettled)))) if unsettled else set()
        halfway = expression.evaluate({name: (full if name in some else values)[name] for name in values})
        after = expression.evaluate(full)
        for earlier, later in ((before, halfway), (halfway, after), (before, after)):
            check_step(earlier, later)
        assert not is_unknown(after) or not after.missing
        if is_unknown(before):
            asked = expression.evaluate({name: (full if name in before.missing else values)[name] for name in values})
            assert not is_unknown(asked) or not asked.missing


def check_step(earlier: Any, later: Any) -> None:
    """Compare the results before and after something was filled in."""
    if not is_unknown(earlier):
        assert later == earlier
        assert type(later) is type(earlier)
    elif not earlier.missing:
        assert is_unknown(later)
        assert not later.missing


PLAIN = {
    # Whole and quarter numbers print exactly, so the text that is read back holds the very same values.
    Type.NUMBER: st.one_of(SCALARS[Type.NUMBER], st.integers(-4000, 4000).map(lambda quarters: quarters / 4)),
    Type.BOOL: st.booleans(),
    Type.STRING: st.text(max_size=8),
}


def plain_value(kind: Type) -> st.SearchStrategy[object]:
    return PLAIN[kind] if kind.element is None else st.lists(PLAIN[kind.element], min_size=1, max_size=3)


@settings(deadline=None, max_examples=200)
@given(st.data(), st.sampled_from(list(Type)), st.integers(1, 3))
def test_a_substituted_expression_reads_back_and_gives_the_same_result(data: st.DataObject, kind: Type, depth: int):
    source = data.draw(expressions(kind, depth))
    assume(len(source) <= 1000)
    expression = compile_expression(source, SYMBOLS, functions=FUNCTIONS)
    values = {name: data.draw(plain_value(SYMBOLS[name]), label=name) for name in sorted(expression.names)}
    explanation = expression.explain(values)
    truths = {"true": Type.BOOL, "false": Type.BOOL}
    try:
        again = compile_expression(explanation.substituted, truths, functions=FUNCTIONS)
    except ExpressionError as error:
        # The values may take more room than their names did.
        assume("more than the" not in str(error))
        raise
    result = again.evaluate({"true": True, "false": False})
    assert explanation.result == expression.evaluate(values)
    if is_unknown(explanation.result):
        assert is_unknown(result)
    else:
        assert result == explanation.result
