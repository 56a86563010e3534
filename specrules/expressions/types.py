"""The five types of the expression language, and how a Python value becomes a value of one of them."""

from __future__ import annotations

import enum
import math
import numbers
from typing import TypeAlias

from specrules.expressions.unknown import Unknown

Value: TypeAlias = float | bool | str | tuple[float, ...] | tuple[str, ...]


class Type(enum.Enum):
    """Type of an expression or of a declared name. A bool is not a number, and every number is a float.

    The values are the words by which YAML files declare the type of an input or a field.
    """

    NUMBER = "number"
    BOOL = "flag"
    STRING = "text"
    NUMBERS = "numbers"
    STRINGS = "texts"

    @property
    def label(self) -> str:
        """Name of the type as it stands in a sentence."""
        return _LABELS[self]

    @property
    def element(self) -> Type | None:
        """Type of the entries of a list type, None for the other types."""
        return _ELEMENTS.get(self)

    @property
    def list_of(self) -> Type | None:
        """List type with entries of this type, None where there is none."""
        return next((listed for listed, element in _ELEMENTS.items() if element is self), None)


_LABELS = {
    Type.NUMBER: "a number",
    Type.BOOL: "true or false",
    Type.STRING: "a text",
    Type.NUMBERS: "a list of numbers",
    Type.STRINGS: "a list of texts",
}
_ELEMENTS = {Type.NUMBERS: Type.NUMBER, Type.STRINGS: Type.STRING}


def to_cell(name: str, kind: Type, value: object) -> object:
    """Bring the value of input `name` into the form that compiled expressions work on.

    None is an `Unknown` that misses `name`; an `Unknown` keeps the names and reasons it came with, so that a chain of
    expressions names the inputs at its beginning. Numbers become floats, lists become tuples whose entries may be
    unknown. TypeError for a value of another type, ValueError for NaN, infinity and integers beyond the float range:
    both mean that whoever filled in the inputs let through what should have been refused before.
    """
    element = kind.element
    if element is not None and isinstance(value, list | tuple):
        return tuple(_scalar(name, element, entry) for entry in value)
    return _scalar(name, kind, value)


def _scalar(name: str, kind: Type, value: object) -> object:
    if value is None:
        return Unknown(frozenset({name}))
    if isinstance(value, Unknown):
        return value if value.missing or value.reasons else Unknown(frozenset({name}))
    if kind is Type.NUMBER and isinstance(value, numbers.Real) and not isinstance(value, bool):
        return to_number(name, value)
    if kind is Type.BOOL and isinstance(value, bool):
        return value
    if kind is Type.STRING and isinstance(value, str):
        # A member of a string enumeration compares like its text but does not print like it.
        return str.__str__(value)
    raise TypeError(f"{name} is declared as {kind.label}, not {type(value).__name__}")


def to_number(name: str, value: numbers.Real) -> float:
    """Return a finite float without negative zero; ValueError for anything that is not finite."""
    try:
        number = float(value)
    except OverflowError:
        raise ValueError(f"{name} is beyond the range of a float") from None
    if not math.isfinite(number):
        raise ValueError(f"{name} is {number}, not a finite number")
    return number + 0.0
