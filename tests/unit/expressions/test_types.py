from __future__ import annotations

import enum
from fractions import Fraction
from typing import Any

import pytest

from specrules.expressions import Type, Unknown
from specrules.expressions.types import to_cell

OTHER = Unknown(frozenset({"first.input"}), ("first.input was not read",))


class Engine(str, enum.Enum):  # noqa: UP042 - the kind whose members do not print like their text
    LLAMA = "llama.cpp"


def test_elements_and_lists_mirror_each_other():
    assert Type.NUMBERS.element is Type.NUMBER
    assert Type.STRINGS.element is Type.STRING
    assert Type.NUMBER.list_of is Type.NUMBERS
    assert Type.STRING.list_of is Type.STRINGS
    assert Type.BOOL.list_of is None
    assert Type.BOOL.element is None


@pytest.mark.parametrize(
    ("kind", "value", "cell"),
    [
        (Type.NUMBER, 3, 3.0),
        (Type.NUMBER, Fraction(1, 4), 0.25),
        (Type.BOOL, False, False),
        (Type.STRING, "vllm", "vllm"),
        (Type.NUMBERS, [1, 0.5], (1.0, 0.5)),
        (Type.NUMBERS, (), ()),
        (Type.STRINGS, ("a", "b"), ("a", "b")),
        (Type.NUMBERS, [1, None], (1.0, Unknown(frozenset({"x"})))),
        (Type.NUMBERS, None, Unknown(frozenset({"x"}))),
        (Type.NUMBER, None, Unknown(frozenset({"x"}))),
        (Type.NUMBER, Unknown(), Unknown(frozenset({"x"}))),
        (Type.NUMBER, OTHER, OTHER),
        (Type.STRINGS, [OTHER], (OTHER,)),
    ],
)
def test_values_become_cells(kind: Type, value: object, cell: object):
    found = to_cell("x", kind, value)
    assert found == cell
    assert type(found) is type(cell)


def test_numbers_become_floats_without_negative_zero():
    assert type(to_cell("x", Type.NUMBER, 3)) is float
    assert str(to_cell("x", Type.NUMBER, -0.0)) == "0.0"


def test_a_member_of_a_string_enumeration_becomes_its_text():
    found: Any = to_cell("x", Type.STRING, Engine.LLAMA)
    assert type(found) is str
    assert found == "llama.cpp"


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Type.NUMBER, True),
        (Type.NUMBER, "3"),
        (Type.NUMBER, 1j),
        (Type.NUMBER, [1.0]),
        (Type.BOOL, 1),
        (Type.BOOL, "true"),
        (Type.STRING, 1.0),
        (Type.NUMBERS, 1.0),
        (Type.NUMBERS, "12"),
        (Type.NUMBERS, [True]),
        (Type.NUMBERS, ["a"]),
        (Type.STRINGS, "ab"),
        (Type.STRINGS, [1.0]),
    ],
)
def test_a_value_of_another_type_is_refused(kind: Type, value: object):
    with pytest.raises(TypeError, match="x is declared as"):
        to_cell("x", kind, value)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf"), 10**400])
def test_a_number_that_is_not_finite_is_refused(value: float):
    with pytest.raises(ValueError, match=r"x is (not a finite|nan|-?inf|beyond)"):
        to_cell("x", Type.NUMBER, value)
    with pytest.raises(ValueError, match="x is"):
        to_cell("x", Type.NUMBERS, [0.5, value])
