"""Change every comparison, threshold, word and connective of every shipped rule, one at a time: a case must fail.

The same for the conditions of engine files, whose examples must fail. Survivors are printed with their place; leaves
with 1 where there are any. A change that the language refuses, or that gives the same text, is no mutant.
"""

from __future__ import annotations

import ast
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from specrules.catalog.catalogue import Catalog
from specrules.catalog.condition_checks import CONDITIONAL
from specrules.catalog.loaded import Loaded
from specrules.catalog.symbols import policy_values
from specrules.decide import compile_rules, run_cases
from specrules.derive.condition_examples import claim_failures, said_failures
from specrules.errors import Location, UserError
from specrules.model.engine import Engine
from specrules.model.rule import Rule, RuleCaseFile, RuleFile

_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
"""Each comparison by its neighbour at the limit and by its opposite."""

_THRESHOLD = "policy"
_NUDGE = 0.1


@dataclass(frozen=True)
class Mutant:
    """One change: where it is, what stood there, and what the text reads afterwards."""

    where: Location
    what: str
    source: str


def mutated(source: str) -> Iterator[tuple[str, str]]:
    """Yield what was changed in an expression, and the changed expression."""
    text = " ".join(source.split())
    for index, node in enumerate(ast.walk(ast.parse(text, mode="eval"))):
        for what, change in _changes(node):
            tree = ast.parse(text, mode="eval")
            changed = change(list(ast.walk(tree))[index])
            result = ast.unparse(_replaced(tree, list(ast.walk(tree))[index], changed))
            if result != ast.unparse(ast.parse(text, mode="eval")):
                yield what, result


Change = Callable[[Any], ast.AST]
"""Makes a node out of one of the kind that it was made for."""


def _changes(node: ast.AST) -> Iterator[tuple[str, Change]]:
    match node:
        case ast.Compare():
            for position, operator in enumerate(node.ops):
                for other in _COMPARISONS.get(type(operator), ()):
                    yield f"{type(operator).__name__} to {other.__name__}", _compared(position, other)
        case ast.BoolOp():
            other_connective = ast.Or if isinstance(node.op, ast.And) else ast.And
            yield f"{type(node.op).__name__} to {other_connective.__name__}", _connected(other_connective)
        case ast.UnaryOp(op=ast.Not()):
            yield "without not", lambda found: found.operand
        case ast.Constant(value=bool()):
            return
        case ast.Constant(value=int() | float() as number):
            for nudged in (_nudged(number, 1), _nudged(number, -1)):
                yield f"{number:g} to {nudged:g}", _constant(nudged)
        case ast.Constant(value=str() as word):
            yield f"{word!r} to another word", _constant(f"{word} no more")
        case ast.Attribute(value=ast.Name(id=space), attr=name) if space == _THRESHOLD:
            for factor in (1 + _NUDGE, 1 - _NUDGE):
                yield f"policy.{name} times {factor:g}", _scaled(factor)


def _nudged(number: float, sign: int) -> float:
    """A whole number by one, every other by a tenth of itself."""
    return number + sign if float(number).is_integer() else number * (1 + sign * _NUDGE)


def _compared(position: int, operator: type[ast.cmpop]) -> Change:
    def change(node: ast.Compare) -> ast.AST:
        operators = [*node.ops[:position], operator(), *node.ops[position + 1 :]]
        return ast.Compare(node.left, operators, node.comparators)

    return change


def _connected(operator: type[ast.boolop]) -> Change:
    return lambda node: ast.BoolOp(operator(), node.values)


def _constant(value: float | str) -> Change:
    return lambda _: ast.Constant(int(value) if isinstance(value, float) and value.is_integer() else value)


def _scaled(factor: float) -> Change:
    return lambda node: ast.BinOp(node, ast.Mult(), ast.Constant(factor))


def _replaced(tree: ast.AST, old: ast.AST, new: ast.AST) -> ast.AST:
    class Put(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            return new if node is old else self.generic_visit(node)

    return ast.fix_missing_locations(Put().visit(tree))


def rule_mutants(catalog: Catalog) -> Iterator[tuple[Mutant, bool]]:
    """Yield every mutant of every rule, and whether a case fails with it."""
    cases = [(file, case) for file in catalog.rule_cases for case in file.model.cases]
    values = dict(policy_values(catalog.policy))
    for file in catalog.of_kind(RuleFile):
        symbols = catalog.symbols if file.model.scope == "case" else catalog.deployment_symbols
        for index, rule in enumerate(file.model.rules):
            mine = [case for _, case in cases if case.rule == rule.id]
            beside = RuleCaseFile(schema=1, now=catalog.rule_cases[0].model.now, cases=tuple(mine))
            for route, source, put in _expressions(rule):
                for what, changed in mutated(source):
                    alone = file.model.model_copy(update={"rules": (put(changed),)})
                    try:
                        compiled = compile_rules([(alone, file.locate)], symbols)
                    except UserError:
                        continue
                    killed = not all(result.ok for result in run_cases(beside, compiled, values=values))
                    where = file.locate(("rules", index, *route))
                    yield Mutant(where, f"{rule.id}: {what}", changed), killed


def _expressions(rule: Rule) -> Iterator[tuple[tuple[str, ...], str, Callable[[str], Rule]]]:
    for key in ("applies", "require"):
        source = getattr(rule, key)
        if source is not None:
            yield (key,), source, lambda changed, key=key: rule.model_copy(update={key: changed})
    for name, source in rule.let.items():
        yield (
            ("let", name),
            source,
            lambda changed, name=name: rule.model_copy(update={"let": {**rule.let, name: changed}}),
        )


def condition_mutants(loaded: Loaded[Engine], catalog: Catalog) -> Iterator[tuple[Mutant, bool]]:
    """Yield every mutant of every condition of an engine, and whether an example fails with it."""
    engine, inputs = loaded.model, catalog.condition_symbols
    for group in CONDITIONAL:
        for index, claim in enumerate(getattr(engine, group)):
            for what, changed in mutated(claim.condition) if claim.condition is not None else ():
                other = claim.model_copy(update={"condition": changed})
                name = getattr(claim, "id", None) or claim.feature
                yield from _judged(
                    loaded,
                    (group, index, "condition"),
                    f"{name}: {what}",
                    changed,
                    lambda other=other: any(claim_failures(engine, other, inputs)),
                )
    for index, said in enumerate(engine.deployed):
        for key in ("value", "when"):
            source = getattr(said, key)
            for what, changed in mutated(source) if isinstance(source, str) else ():
                other = said.model_copy(update={key: changed})
                yield from _judged(
                    loaded,
                    ("deployed", index, key),
                    f"{said.fact}: {what}",
                    changed,
                    lambda other=other: any(said_failures(engine, other, inputs)),
                )


def _judged(
    loaded: Loaded[Engine], route: tuple[str | int, ...], what: str, changed: str, fails: Callable[[], bool]
) -> Iterator[tuple[Mutant, bool]]:
    try:
        killed = fails()
    except UserError:
        return
    yield Mutant(loaded.locate(route), what, changed), killed


def main() -> int:
    """Run all mutants and print the survivors."""
    started = time.monotonic()
    catalog = Catalog.load(environ={})
    total, survivors = 0, []
    engines = [catalog.engine(name) for name in catalog.engine_ids]
    for mutant, killed in (
        *rule_mutants(catalog),
        *(found for engine in engines for found in condition_mutants(engine, catalog)),
    ):
        total += 1
        if not killed:
            survivors.append(mutant)
    for mutant in survivors:
        print(f"{mutant.where}: {mutant.what} and no case fails\n    {mutant.source}")
    print(f"{total} mutants, {len(survivors)} survived, {time.monotonic() - started:.0f} s")
    return 1 if survivors or not total else 0


if __name__ == "__main__":
    sys.exit(main())
