"""From a checked tree to closures with the three-valued meaning.

A closure takes the cells of the expression's inputs and returns a cell: a float, bool or string, a tuple whose entries
may be unknown, or an `Unknown`. The types were proven by `check`, so no closure looks at them again, and none raises.

Every part is monotone: replacing an unknown input by a value may turn an unknown result into a value and never one
value into another. `known` is the exception, and the only one.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from specrules.expressions import tree
from specrules.expressions.functions import Function
from specrules.expressions.source import Source
from specrules.expressions.types import Type
from specrules.expressions.unknown import Unknown, all_needed, any_settles, is_unknown, whole

# A cell is a value of any of the five types, which a static type cannot follow through the tree.
Cell: TypeAlias = Any
Evaluator: TypeAlias = Callable[[Sequence[Cell]], Cell]

_ARITHMETIC: dict[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}
_COMPARISONS: dict[str, Callable[[Cell, Cell], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


class Compiler:
    """Builds the closure of one expression. `slots` says at which index the cell of an input is found."""

    def __init__(self, source: Source, slots: Mapping[str, int], functions: Mapping[str, Function]) -> None:
        self.source = source
        self.slots = slots
        self.functions = functions

    def compile(self, node: tree.Node) -> Evaluator:
        """Return the closure of a node."""
        match node:
            case tree.Number() | tree.String():
                value = node.value
                return lambda _: value
            case tree.Name():
                return operator.itemgetter(self.slots[node.name])
            case tree.Known():
                slot = self.slots[node.name.name]
                return lambda cells: not is_unknown(whole(cells[slot]))
            case tree.Items():
                items = self._all(node.items)
                return lambda cells: tuple(item(cells) for item in items)
            case tree.Negation():
                return _negation(self.compile(node.operand))
            case tree.Minus():
                operand = self.compile(node.operand)
                return lambda cells: cell if is_unknown(cell := operand(cells)) else 0.0 - cell
            case tree.Arithmetic():
                return self._arithmetic(node)
            case tree.Comparison():
                return _comparison(self._all(node.operands), tuple(_link(name) for name in node.operators))
            case tree.Junction():
                return _junction(self._all(node.operands), absorbing=node.operator == "or")
            case tree.Conditional():
                return _conditional(*self._all((node.test, node.then, node.other)))
            case tree.Call():
                return self._call(node)
        raise AssertionError(f"{type(node).__name__} passed the check and cannot be compiled")

    def _all(self, nodes: tuple[tree.Node, ...]) -> tuple[Evaluator, ...]:
        return tuple(self.compile(node) for node in nodes)

    def _arithmetic(self, node: tree.Arithmetic) -> Evaluator:
        left, right = self._all((node.left, node.right))
        apply = _ARITHMETIC[node.operator]
        quoted = self.source.quote(node.start, node.end)
        by_zero = Unknown(reasons=(f"division by zero in {quoted}",))
        overflow = Unknown(reasons=(f"{quoted} is beyond the range of a float",))

        def evaluate(cells: Sequence[Cell]) -> Cell:
            first, second = left(cells), right(cells)
            if is_unknown(first) or is_unknown(second):
                return all_needed(cell for cell in (first, second) if is_unknown(cell))
            try:
                result = apply(first, second)
            except ZeroDivisionError:
                return by_zero
            # Adding zero turns negative zero into zero.
            return result + 0.0 if math.isfinite(result) else overflow

        return evaluate

    def _call(self, node: tree.Call) -> Evaluator:
        arguments = self._all(node.arguments)
        function = self.functions[node.function]
        quoted = self.source.quote(node.start, node.end)

        def evaluate(cells: Sequence[Cell]) -> Cell:
            values = [whole(argument(cells)) for argument in arguments]
            unknown = [value for value in values if is_unknown(value)]
            return all_needed(unknown) if unknown else _apply(function, values, quoted)

        return evaluate


def _apply(function: Function, values: list[Cell], quoted: str) -> Cell:
    """Call a function of the table; what it cannot answer becomes an unknown with the reason."""
    try:
        result = function.call(*values)
        if result is None:
            return Unknown(reasons=(f"{quoted} has no value",))
        return _to_result(function.result, result)
    except OverflowError:
        return Unknown(reasons=(f"{quoted} is beyond the range of a float",))
    except (ValueError, ArithmeticError) as error:
        return Unknown(reasons=(f"{quoted}: {error}",))


def _to_result(kind: Type, result: Cell) -> Cell:
    match kind:
        case Type.NUMBER:
            return _finite(result)
        case Type.NUMBERS:
            return tuple(_finite(entry) for entry in result)
        case Type.BOOL:
            return bool(result)
        case Type.STRING:
            return str(result)
        case Type.STRINGS:
            return tuple(str(entry) for entry in result)


def _finite(result: Cell) -> float:
    number = float(result)
    if math.isnan(number):
        raise ValueError("these arguments have no result")
    if math.isinf(number):
        raise OverflowError
    return number + 0.0


def _negation(operand: Evaluator) -> Evaluator:
    def evaluate(cells: Sequence[Cell]) -> Cell:
        cell = operand(cells)
        return cell if is_unknown(cell) else not cell

    return evaluate


def _junction(operands: tuple[Evaluator, ...], *, absorbing: bool) -> Evaluator:
    """`and` is settled by one false operand, `or` by one true operand, whatever the others are."""

    def evaluate(cells: Sequence[Cell]) -> Cell:
        unknown: list[Unknown] = []
        for operand in operands:
            cell = operand(cells)
            if is_unknown(cell):
                unknown.append(cell)
            elif cell is absorbing:
                return absorbing
        return any_settles(unknown) if unknown else not absorbing

    return evaluate


def _comparison(operands: tuple[Evaluator, ...], links: tuple[Callable[[Cell, Cell], Cell], ...]) -> Evaluator:
    """Return the `and` of the links; each operand is evaluated once."""

    def evaluate(cells: Sequence[Cell]) -> Cell:
        unknown: list[Unknown] = []
        left = operands[0](cells)
        for link, operand in zip(links, operands[1:], strict=True):
            right = operand(cells)
            held = link(left, right)
            if is_unknown(held):
                unknown.append(held)
            elif not held:
                return False
            left = right
        return any_settles(unknown) if unknown else True

    return evaluate


def _link(name: str) -> Callable[[Cell, Cell], Cell]:
    if name == "in":
        return _contains
    if name == "not in":
        return lambda needle, entries: held if is_unknown(held := _contains(needle, entries)) else not held
    compare = _COMPARISONS[name]

    def link(left: Cell, right: Cell) -> Cell:
        if is_unknown(left) or is_unknown(right):
            return all_needed(cell for cell in (left, right) if is_unknown(cell))
        return compare(left, right)

    return link


def _contains(needle: Cell, entries: Cell) -> Cell:
    """Look for an entry as an `or` of equalities: one that matches settles it, also among unknown ones."""
    if is_unknown(entries):
        return all_needed([needle, entries]) if is_unknown(needle) else entries
    unknown = [entry for entry in entries if is_unknown(entry)]
    if is_unknown(needle):
        return any_settles([needle, *unknown]) if needle.missing else needle
    if any(entry == needle for entry in entries if not is_unknown(entry)):
        return True
    return any_settles(unknown) if unknown else False


def _conditional(test: Evaluator, then: Evaluator, other: Evaluator) -> Evaluator:
    """Take a branch. While the test is unknown, only a value that both branches share can be the result."""

    def evaluate(cells: Sequence[Cell]) -> Cell:
        chosen = test(cells)
        if not is_unknown(chosen):
            return then(cells) if chosen else other(cells)
        branches = [whole(then(cells)), whole(other(cells))]
        unknown = [branch for branch in branches if is_unknown(branch)]
        if not unknown and branches[0] == branches[1]:
            return branches[0]
        if not chosen.missing:
            # The test will never be settled: what is left are branches that turn out equal, and that takes both.
            needed = all_needed(unknown)
            return Unknown(needed.missing, any_settles([chosen, needed]).reasons)
        if len(unknown) == 2 and not any(branch.missing for branch in unknown):
            return all_needed([chosen, *unknown])
        return any_settles([chosen, *unknown])

    return evaluate
