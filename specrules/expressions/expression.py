"""Expressions as the rest of the program sees them: compiled once, evaluated often, able to show themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from specrules.errors import ExpressionError, Problem
from specrules.expressions import show, tree
from specrules.expressions.check import Checker
from specrules.expressions.compile import Compiler
from specrules.expressions.functions import FUNCTIONS, Function
from specrules.expressions.promql import promql
from specrules.expressions.source import Source
from specrules.expressions.syntax import parse
from specrules.expressions.types import Type, Value, to_cell
from specrules.expressions.unknown import Unknown, whole


@dataclass(frozen=True, slots=True)
class Explanation:
    """An evaluation in words: as written, with values in place of names, and what came out."""

    source: str
    substituted: str
    result: Value | Unknown
    result_text: str


class Expression:
    """A compiled expression. Make one with `compile_expression`.

    `source` is the text as written, `names` the inputs it reads, `type` the type of its result.
    """

    __slots__ = ("_evaluator", "_functions", "_kinds", "_mentions", "_root", "names", "source", "type")

    def __init__(
        self,
        source: str,
        kind: Type,
        symbols: Mapping[str, Type],
        root: tree.Node,
        functions: Mapping[str, Function],
    ) -> None:
        self._root = root
        self._mentions = tree.names(root)
        self._functions = functions
        self._kinds = {mention.name: symbols[mention.name] for mention in self._mentions}
        slots = {name: index for index, name in enumerate(self._kinds)}
        self._evaluator = Compiler(Source(source), slots, functions).compile(root)
        self.source = source
        self.type = kind
        self.names = frozenset(self._kinds)

    def __repr__(self) -> str:
        return f"<Expression {self.source!r}: {self.type.value}>"

    def evaluate(self, values: Mapping[str, object]) -> Value | Unknown:
        """Return the result for these inputs.

        An input that is absent, None or `Unknown` is unknown. Integers count as floats; entries of lists may be None.
        TypeError for a value that is not of the declared type, ValueError for NaN or infinity; both only for inputs
        that the expression reads, and always for these, whether or not they decide.
        """
        return self._evaluate(self._cells(values))

    def evaluate_samples(self, values: Mapping[str, object]) -> Any:
        """Return the result for many samples of the inputs at once, as an array, NaN where it is unknown.

        A number may be an array; all arrays have one length, which is that of the result. Absent and None are unknown.
        A truth value is 1, 0 or NaN. A number where no array was read.
        """
        from specrules.expressions.arrays import evaluate

        return evaluate(self._root, values, self._functions)

    def substitute(self, values: Mapping[str, object]) -> str:
        """Return the expression as written with values in place of names, `?` where one is unknown.

        Numbers are rounded to 6 significant digits unless they are whole. Raises what `evaluate` raises.
        """
        return show.substitute(self.source, self._mentions, self._cells(values).__getitem__)

    def promql(self, series: Callable[[str], str | None]) -> str | None:
        """Return the expression as a query of Prometheus, with what `series` says in the place of each name.

        None for one that is more than arithmetic, and where `series` has nothing to say of a name.
        """
        return promql(self._root, series)

    def explain(self, values: Mapping[str, object]) -> Explanation:
        """Evaluate and show the evaluation. Raises what `evaluate` raises."""
        cells = self._cells(values)
        result = self._evaluate(cells)
        substituted = show.substitute(self.source, self._mentions, cells.__getitem__)
        return Explanation(self.source.strip(), substituted, result, show.show_result(result))

    def _cells(self, values: Mapping[str, object]) -> dict[str, object]:
        return {name: to_cell(name, kind, values.get(name)) for name, kind in self._kinds.items()}

    def _evaluate(self, cells: Mapping[str, object]) -> Value | Unknown:
        return cast("Value | Unknown", whole(self._evaluator(tuple(cells.values()))))


def compile_expression(
    source: str,
    symbols: Mapping[str, Type],
    *,
    expect: Type | None = None,
    allow_known: bool = False,
    functions: Mapping[str, Function] = FUNCTIONS,
) -> Expression:
    """Parse, check and compile an expression over the declared names in `symbols`.

    `expect` is the type that the result must have. `allow_known` admits `known(name)`, whose answer changes when an
    unknown input is filled in. ExpressionError with every problem found, each with `<expression>`, line and column
    (1-based, in code points of `source`).
    """
    text = Source(source)
    root, problems = parse(text)
    checker = Checker(text, symbols, functions, allow_known=allow_known)
    kind = checker.check(root)
    if expect is not None and kind is not None and kind is not expect:
        checker.report(root, f"the expression has to be {expect.label}, and it is {kind.label}")
    found = [*problems, *checker.problems]
    if found or kind is None:
        raise ExpressionError(sorted(found, key=_place))
    return Expression(source, kind, symbols, root, functions)


def _place(problem: Problem) -> tuple[int, int]:
    return (problem.where.line, problem.where.column) if problem.where else (0, 0)
