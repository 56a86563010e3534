"""An expression over series as a query of Prometheus."""

from __future__ import annotations

from collections.abc import Callable

from specrules.expressions import tree
from specrules.expressions.show import show_number

_SAME_IN_PROMQL = frozenset({"abs"})
_STRENGTH = {"+": 1, "-": 1, "*": 2, "/": 2}
_ATOM = 3


def promql(root: tree.Node, series: Callable[[str], str | None]) -> str | None:
    """Return the query that an arithmetic expression is, with what `series` says in the place of each name.

    None for an expression that is more than arithmetic, and where `series` has nothing to say of a name.
    """
    found = _query(root, series)
    return None if found is None else found[0]


def _query(node: tree.Node, series: Callable[[str], str | None]) -> tuple[str, int] | None:
    """The query and how tightly its outermost operator binds."""
    match node:
        case tree.Number():
            return show_number(node.value), _ATOM if node.value >= 0 else 0
        case tree.Name():
            found = series(node.name)
            return None if found is None else (found, _ATOM)
        case tree.Minus():
            operand = _query(node.operand, series)
            return None if operand is None else (f"-{_bracketed(operand, _ATOM)}", 0)
        case tree.Arithmetic():
            left, right = _query(node.left, series), _query(node.right, series)
            if left is None or right is None:
                return None
            strength = _STRENGTH[node.operator]
            # On the right the same strength needs brackets: a - (b - c).
            text = f"{_bracketed(left, strength)} {node.operator} {_bracketed(right, strength + 1)}"
            return text, strength
        case tree.Call() if node.function in _SAME_IN_PROMQL:
            inside = _query(node.arguments[0], series)
            return None if inside is None else (f"{node.function}({inside[0]})", _ATOM)
    return None


def _bracketed(query: tuple[str, int], least: int) -> str:
    text, strength = query
    return text if strength >= least else f"({text})"
