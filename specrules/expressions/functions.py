"""The closed table of functions that expressions may call.

The arithmetic of speculative decoding comes from `specrules.economics` and is imported by the first call, so that
loading rules does not import numpy.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from specrules.expressions.types import Type


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the table. It must be pure: the same arguments give the same result.

    `call` gets floats, strings, booleans and tuples, as declared in `parameters`, and never an unknown. With `variadic`
    the last parameter may be given any number of further times. A ValueError or ArithmeticError from `call`, None,
    NaN or infinity as its result make the result unknown, with the reason.
    """

    name: str
    parameters: tuple[Type, ...]
    result: Type
    call: Callable[..., object]
    doc: str
    variadic: bool = False

    @property
    def signature(self) -> str:
        """Name, parameter types and result type, as in `abs(number) -> number`."""
        parameters = ", ".join(parameter.value for parameter in self.parameters)
        return f"{self.name}({parameters}{', ...' if self.variadic else ''}) -> {self.result.value}"


def _economics(module: str, name: str) -> Callable[..., object]:
    def call(*arguments: object) -> object:
        function: Callable[..., object] = getattr(importlib.import_module(f"specrules.economics.{module}"), name)
        numpy = importlib.import_module("numpy")
        # Overflow shows in the result, which is checked; a warning would go to the user's terminal.
        with numpy.errstate(all="ignore"):
            return function(*arguments)

    return call


_NUMBER, _TWO, _NUMBERS = (Type.NUMBER,), (Type.NUMBER, Type.NUMBER), (Type.NUMBERS,)


def _table() -> tuple[Function, ...]:
    def number(module: str, name: str, parameters: tuple[Type, ...], doc: str) -> Function:
        return Function(name, parameters, Type.NUMBER, _economics(module, name), doc)

    return (
        Function("min", _TWO, Type.NUMBER, min, "Smallest of two or more numbers.", variadic=True),
        Function("max", _TWO, Type.NUMBER, max, "Largest of two or more numbers.", variadic=True),
        Function("abs", _NUMBER, Type.NUMBER, abs, "Distance from zero."),
        number("acceptance", "tokens_per_round", _TWO, "(p, K): tokens per round at conditional acceptance p."),
        number("acceptance", "accepted_ratio", _TWO, "(p, K): accepted / drafted at conditional acceptance p."),
        number("acceptance", "conditional_from_ratio", _TWO, "(r, K): conditional acceptance from accepted / drafted."),
        number("acceptance", "conditional_from_tokens", _TWO, "(A, K): conditional acceptance from tokens per round."),
        number("acceptance", "tokens_from_ratio", _TWO, "(r, K): tokens per round from accepted / drafted."),
        number("acceptance", "tokens_from_counts", _TWO, "(accepted, rounds): tokens per round from two counters."),
        number("acceptance", "tokens_from_positions", _NUMBERS, "(vector): tokens per round from position vector."),
        number("rounds", "rejected_share", _TWO, "(p, K): share of rounds that end in a rejection."),
        number("acceptance", "extrapolation_half_width", _TWO, "(measured K, K): relative 90 % half-width at K."),
        number("break_even", "break_even_tokens", _TWO, "(rate tok/s, round ms): tokens per round that match it."),
        number("break_even", "break_even_conditional", _TWO, "(A, K): conditional acceptance that reaches A."),
        number("break_even", "break_even_ratio", _TWO, "(A, K): accepted / drafted that reaches A."),
    )


FUNCTIONS: Mapping[str, Function] = MappingProxyType({function.name: function for function in _table()})
