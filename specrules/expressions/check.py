"""Typing of a parsed expression against the declared names and the function table."""

from __future__ import annotations

from collections.abc import Mapping

from specrules.errors import Problem, did_you_mean
from specrules.expressions import tree
from specrules.expressions.functions import Function
from specrules.expressions.source import Source, shorten
from specrules.expressions.syntax import KNOWN, no_truth_literal
from specrules.expressions.types import Type

_EQUALITY = ("==", "!=")
_MEMBERSHIP = ("in", "not in")
_SCALARS = (Type.NUMBER, Type.BOOL, Type.STRING)


class Checker:
    """Finds the type of every part of one expression and collects what does not fit.

    A part whose type cannot be told has type None; nothing is said about it twice.
    """

    def __init__(
        self, source: Source, symbols: Mapping[str, Type], functions: Mapping[str, Function], *, allow_known: bool
    ) -> None:
        self.source = source
        self.symbols = symbols
        self.functions = functions
        self.allow_known = allow_known
        self.problems: list[Problem] = []

    def check(self, node: tree.Node) -> Type | None:
        """Return the type of a node."""
        match node:
            case tree.Broken():
                for part in node.parts:
                    self.check(part)
            case tree.Number():
                return Type.NUMBER
            case tree.String():
                return Type.STRING
            case tree.Name():
                return self._name(node)
            case tree.Items():
                return self._items(node)
            case tree.Known():
                return self._known(node)
            case tree.Negation():
                self.require(node.operand, Type.BOOL, "`not`")
                return Type.BOOL
            case tree.Minus():
                self.require(node.operand, Type.NUMBER, "`-`")
                return Type.NUMBER
            case tree.Arithmetic():
                self.require(node.left, Type.NUMBER, f"`{node.operator}`")
                self.require(node.right, Type.NUMBER, f"`{node.operator}`")
                return Type.NUMBER
            case tree.Junction():
                for operand in node.operands:
                    self.require(operand, Type.BOOL, f"`{node.operator}`")
                return Type.BOOL
            case tree.Comparison():
                return self._comparison(node)
            case tree.Conditional():
                return self._conditional(node)
            case tree.Call():
                return self._call(node)
        return None

    def require(self, node: tree.Node, wanted: Type, user: str) -> None:
        """Record a problem where a node is not of the wanted type. `user` is what wants it."""
        found = self.check(node)
        if found is not None and found is not wanted:
            self.report(node, f"{user} takes {wanted.label}, and {self._quote(node)} is {found.label}")

    def report(self, node: tree.Node, message: str, hint: str = "") -> None:
        """Record a problem at the start of a node."""
        self.problems.append(self.source.problem(node.start, message, hint))

    def _quote(self, node: tree.Node) -> str:
        return self.source.quote(node.start, node.end)

    def _name(self, node: tree.Name) -> Type | None:
        kind = self.symbols.get(node.name)
        if kind is not None:
            return kind
        if node.name in {"true", "false"}:
            self.report(node, *no_truth_literal(node.name))
        elif node.name in self.functions or node.name == KNOWN:
            self.report(node, f"{node.name} is a function", f"write {node.name}(...)")
        else:
            self.report(node, f"unknown name {shorten(node.name)!r}", self._name_hint(node.name))
        return None

    def _name_hint(self, name: str) -> str:
        inside = sorted(symbol for symbol in self.symbols if symbol.startswith(f"{name}."))
        if len(inside) > 1:
            return f"did you mean one of {', '.join(inside[:5])}{', ...' if len(inside) > 5 else ''}?"
        return did_you_mean(name, self.symbols) or (f"did you mean {inside[0]!r}?" if inside else "")

    def _known(self, node: tree.Known) -> Type:
        self._name(node.name)
        if not self.allow_known:
            message = "known() is not allowed here: its answer changes when an input becomes known"
            self.report(node, message)
        return Type.BOOL

    def _items(self, node: tree.Items) -> Type | None:
        if not node.items:
            self.report(node, "an empty list has no type")
            return None
        first: Type | None = None
        for item in node.items:
            kind = self.check(item)
            if kind is None:
                continue
            if kind.list_of is None:
                self.report(item, f"a list holds numbers or texts, and {self._quote(item)} is {kind.label}")
            elif first is None:
                first = kind
            elif kind is not first:
                self.report(item, f"a list holds one type: {self._quote(item)} is {kind.label}, not {first.label}")
        return first.list_of if first else None

    def _comparison(self, node: tree.Comparison) -> Type:
        kinds = [self.check(operand) for operand in node.operands]
        for position, operator in enumerate(node.operators):
            left, right = kinds[position], kinds[position + 1]
            if left is not None and right is not None:
                self._link(operator, (node.operands[position], left), (node.operands[position + 1], right))
        return Type.BOOL

    def _link(self, operator: str, left: tuple[tree.Node, Type], right: tuple[tree.Node, Type]) -> None:
        (first, first_type), (second, second_type) = left, right
        if operator in _MEMBERSHIP:
            if isinstance(second, tree.Conditional):
                self.report(second, f"`{operator}` takes a list in square brackets or a declared name")
            elif second_type.element is None:
                self.report(second, f"`{operator}` takes a list, and {self._quote(second)} is {second_type.label}")
            elif second_type.element is not first_type:
                found = f"{self._quote(first)} is {first_type.label}, {self._quote(second)} {second_type.label}"
                self.report(second, f"`{operator}` can never hold: {found}")
        elif first_type is not second_type:
            found = f"{self._quote(first)} is {first_type.label}, {self._quote(second)} {second_type.label}"
            self.report(second, f"`{operator}` compares different types: {found}")
        elif first_type not in _SCALARS:
            self.report(second, f"lists are not compared with `{operator}`", "look for an entry with `in`")
        elif operator not in _EQUALITY and first_type is not Type.NUMBER:
            self.report(second, f"`{operator}` compares numbers, and {self._quote(second)} is {second_type.label}")

    def _conditional(self, node: tree.Conditional) -> Type | None:
        then = self.check(node.then)
        self.require(node.test, Type.BOOL, "`if`")
        other = self.check(node.other)
        if then is not None and other is not None and then is not other:
            found = f"{self._quote(node.then)} is {then.label}, {self._quote(node.other)} {other.label}"
            self.report(node.other, f"both branches of `if` need the same type: {found}")
            return None
        return then or other

    def _call(self, node: tree.Call) -> Type | None:
        function = self.functions.get(node.function)
        if function is None:
            for argument in node.arguments:
                self.check(argument)
            hint = did_you_mean(node.function, [*self.functions, KNOWN] if self.allow_known else self.functions)
            self.report(node, f"unknown function {shorten(node.function)!r}", hint)
            return None
        wanted = len(function.parameters)
        given = len(node.arguments)
        if given < wanted or (given > wanted and not function.variadic):
            count = f"{'at least ' if function.variadic else ''}{wanted} argument{'' if wanted == 1 else 's'}"
            self.report(node, f"{node.function}() takes {count}, not {given}", function.signature)
        for position, argument in enumerate(node.arguments):
            if position < wanted or function.variadic:
                self.require(argument, function.parameters[min(position, wanted - 1)], f"{node.function}()")
            else:
                self.check(argument)
        return function.result
