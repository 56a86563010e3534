"""Nodes of a parsed expression. Each knows its span in the source, in code points."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, eq=False)
class Node:
    """Any part of an expression: `source[start:end]`."""

    start: int
    end: int


@dataclass(frozen=True, eq=False)
class Broken(Node):
    """A part that was refused. Its problem is already recorded; those of its own parts are still to be found."""

    parts: tuple[Node, ...] = ()


@dataclass(frozen=True, eq=False)
class Number(Node):
    """A literal number, minus sign included."""

    value: float


@dataclass(frozen=True, eq=False)
class String(Node):
    """A literal string."""

    value: str


@dataclass(frozen=True, eq=False)
class Name(Node):
    """A declared input, dots included."""

    name: str


@dataclass(frozen=True, eq=False)
class Items(Node):
    """A list in square brackets."""

    items: tuple[Node, ...]


@dataclass(frozen=True, eq=False)
class Known(Node):
    """`known(name)`."""

    name: Name


@dataclass(frozen=True, eq=False)
class Negation(Node):
    """`not operand`."""

    operand: Node


@dataclass(frozen=True, eq=False)
class Minus(Node):
    """`-operand`."""

    operand: Node


@dataclass(frozen=True, eq=False)
class Arithmetic(Node):
    """`left operator right` with one of `+ - * /`."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True, eq=False)
class Comparison(Node):
    """A chain of comparisons: one operator fewer than operands."""

    operands: tuple[Node, ...]
    operators: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Junction(Node):
    """Two or more operands joined by the same `and` or `or`."""

    operator: str
    operands: tuple[Node, ...]


@dataclass(frozen=True, eq=False)
class Conditional(Node):
    """`then if test else other`."""

    test: Node
    then: Node
    other: Node


@dataclass(frozen=True, eq=False)
class Call(Node):
    """A call of a function of the table."""

    function: str
    arguments: tuple[Node, ...]


def names(node: Node) -> list[Name]:
    """Return every mention of an input, in order of place."""
    match node:
        case Name():
            return [node]
        case Known():
            return [node.name]
        case Items():
            parts = node.items
        case Negation() | Minus():
            parts = (node.operand,)
        case Arithmetic():
            parts = (node.left, node.right)
        case Comparison() | Junction():
            parts = node.operands
        case Conditional():
            parts = (node.then, node.test, node.other)
        case Call():
            parts = node.arguments
        case _:
            parts = ()
    return [name for part in parts for name in names(part)]
