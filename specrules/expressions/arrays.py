"""The same expressions over many samples at once: numbers become arrays, unknown becomes NaN.

A truth value is 1, 0 or NaN. Texts, flags and lists of numbers do not vary between samples and stay as they are. For
each sample the result is the one that the closure of `compile` gives for it, NaN where that is unknown.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from specrules.expressions import tree
from specrules.expressions.unknown import Unknown

if TYPE_CHECKING:
    from specrules.expressions.functions import Function

Samples: TypeAlias = Any
"""A float array, a float, a bool, a text, a tuple, or None where nothing is known."""
Environment: TypeAlias = Mapping[str, Samples]

_ARITHMETIC: Mapping[str, Callable[[Samples, Samples], Samples]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
}
_COMPARISONS: Mapping[str, Callable[[Samples, Samples], Samples]] = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": np.equal,
    "!=": np.not_equal,
}
_FOLDS: Mapping[str, Callable[[Samples, Samples], Samples]] = {"min": np.minimum, "max": np.maximum}


def evaluate(node: tree.Node, values: Environment, functions: Mapping[str, Function]) -> Samples:
    """The result of a checked node for every sample. The arrays in `values` have one length."""
    with np.errstate(all="ignore"):
        return _Evaluation(values, functions).of(node)


class _Evaluation:
    def __init__(self, values: Environment, functions: Mapping[str, Function]) -> None:
        self.values = values
        self.functions = functions

    def of(self, node: tree.Node) -> Samples:
        match node:
            case tree.Number() | tree.String():
                return node.value
            case tree.Name():
                return _cell(self.values.get(node.name))
            case tree.Known():
                return float(self.values.get(node.name.name) is not None)
            case tree.Items():
                return tuple(self.of(item) for item in node.items)
            case tree.Negation():
                return 1.0 - _truth(self.of(node.operand))
            case tree.Minus():
                return 0.0 - self.of(node.operand)
            case tree.Arithmetic():
                return _finite(_ARITHMETIC[node.operator](self.of(node.left), self.of(node.right)))
            case tree.Comparison():
                return self._comparison(node)
            case tree.Junction():
                operands = [_truth(self.of(operand)) for operand in node.operands]
                return functools.reduce(_and if node.operator == "and" else _or, operands)
            case tree.Conditional():
                test = _truth(self.of(node.test))
                then, other = self.of(node.then), self.of(node.other)
                chosen = np.where(test == 1, then, other)
                return np.where(np.isnan(test) & ~np.equal(then, other), np.nan, chosen)
            case tree.Call():
                return self._call(node)
        raise AssertionError(f"{type(node).__name__} passed the check and cannot be evaluated")

    def _comparison(self, node: tree.Comparison) -> Samples:
        operands = [self.of(operand) for operand in node.operands]
        links = [
            _link(operator, left, right)
            for operator, left, right in zip(node.operators, operands[:-1], operands[1:], strict=True)
        ]
        return functools.reduce(_and, links)

    def _call(self, node: tree.Call) -> Samples:
        arguments = [self.of(argument) for argument in node.arguments]
        if node.function in _FOLDS:
            return functools.reduce(_FOLDS[node.function], arguments)
        return _applied(self.functions[node.function], arguments)


def _cell(value: Samples) -> Samples:
    return np.nan if value is None or isinstance(value, Unknown) else value


def _truth(value: Samples) -> Samples:
    return float(value) if isinstance(value, bool) else value


def _finite(value: Samples) -> Samples:
    return np.where(np.isfinite(value), value, np.nan)


def _and(left: Samples, right: Samples) -> Samples:
    """Kleene: one false operand settles it."""
    return np.where((left == 0) | (right == 0), 0.0, left * right)


def _or(left: Samples, right: Samples) -> Samples:
    return 1.0 - _and(1.0 - left, 1.0 - right)


def _link(operator: str, left: Samples, right: Samples) -> Samples:
    if operator in {"in", "not in"}:
        found = functools.reduce(_or, (_link("==", left, entry) for entry in right), 0.0)
        return found if operator == "in" else 1.0 - found
    if isinstance(left, str | bool | tuple) or isinstance(right, str | bool | tuple):
        return _plain(operator, left, right)
    held = _COMPARISONS[operator](left, right)
    return np.where(np.isnan(left) | np.isnan(right), np.nan, held)


def _plain(operator: str, left: Samples, right: Samples) -> float:
    """Texts, flags and lists, which are the same in every sample."""
    if any(isinstance(value, float) for value in (left, right)):
        return np.nan
    return float((left == right) is (operator == "=="))


def _applied(function: Function, arguments: list[Samples]) -> Samples:
    """A function of the table, where all of its arguments are known. What it refuses for one sample is NaN there."""
    numbers = [argument for argument in arguments if not isinstance(argument, tuple)]
    if not numbers:
        return _guarded(function, arguments)
    shape = np.broadcast_shapes(*(np.shape(number) for number in numbers))
    known = np.ones(shape, dtype=bool)
    for number in numbers:
        known &= np.isfinite(number)
    if not known.any():
        return np.full(shape, np.nan)
    chosen = [
        argument if isinstance(argument, tuple) else np.broadcast_to(argument, shape)[known] for argument in arguments
    ]
    result = np.full(shape, np.nan)
    try:
        result[known] = function.call(*chosen)
    except (ValueError, ArithmeticError, TypeError):
        result[known] = [
            _guarded(function, [item if isinstance(item, tuple) else float(item[index]) for item in chosen])
            for index in range(int(known.sum()))
        ]
    return _finite(result)


def _guarded(function: Function, arguments: list[Samples]) -> float:
    try:
        result: Samples = function.call(*arguments)
    except (ValueError, ArithmeticError):
        return np.nan
    return np.nan if result is None else float(result)
