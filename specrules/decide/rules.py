"""From rule files to compiled rules: every expression and message is checked before the first case is judged."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from specrules.catalog.places import Locate, Route, relocated
from specrules.catalog.symbols import ITEM_SPACES
from specrules.decide.messages import OUTCOME, LazyMessage, Message, compile_message
from specrules.errors import ExpressionError, LoadError, Location, Problem
from specrules.expressions import FUNCTIONS, Expression, Type, compile_expression
from specrules.model.base import PARTS, Part
from specrules.model.rule import Rule, RuleFile, Scope

__all__ = ["CompiledRule", "Locate", "RuleSet", "compile_rules"]

_PLAIN_NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True, eq=False)
class CompiledRule:
    """A rule that is ready to be evaluated, with the place of its id."""

    rule: Rule
    part: Part
    scope: Scope
    where: Location
    lets: Mapping[str, Expression]
    applies: Expression | None
    require: Expression
    message: Message | LazyMessage


class RuleSet:
    """Compiled rules in the order of the report parts, and the names that they were compiled against."""

    def __init__(self, rules: Iterable[CompiledRule], symbols: Mapping[str, Type]) -> None:
        self.rules = tuple(sorted(rules, key=lambda one: PARTS.index(one.part)))
        self.symbols = dict(symbols)
        self._by_id = {one.rule.id: one for one in self.rules}

    def __iter__(self) -> Iterator[CompiledRule]:
        return iter(self.rules)

    def __len__(self) -> int:
        return len(self.rules)

    def get(self, rule_id: str) -> CompiledRule | None:
        """The rule with this id, or None."""
        return self._by_id.get(rule_id)

    @property
    def ids(self) -> tuple[str, ...]:
        """Every rule id, in order."""
        return tuple(self._by_id)


def compile_rules(
    files: Iterable[tuple[RuleFile, Locate]], symbols: Mapping[str, Type], *, lazy: bool = False
) -> RuleSet:
    """Compile the rules of all files against the declared names. `lazy` leaves messages to their first rendering.

    LoadError with every problem: expressions and messages that are refused, names under `let` that hide something,
    ids that are used twice, and no rules at all, since a gate without rules would pass everything.
    """
    problems: list[Problem] = []
    compiled: list[CompiledRule] = []
    places: dict[str, Location] = {}
    for file, locate in files:
        for index, rule in enumerate(file.rules):
            where = locate(("rules", index, "id"), 0)
            if rule.id in places:
                problems.append(Problem(f"the rule id {rule.id!r} is used twice", where, f"first at {places[rule.id]}"))
            places.setdefault(rule.id, where)
            compiler = _RuleCompiler(rule, ("rules", index), locate, symbols, lazy=lazy)
            one = compiler.compile(file.part, file.scope)
            problems += compiler.problems
            if one is not None:
                compiled.append(one)
    if not places:
        problems.append(Problem("there are no rules: nothing would be checked, and everything would pass"))
    if problems:
        raise LoadError(problems)
    return RuleSet(compiled, symbols)


class _RuleCompiler:
    """Compiles one rule and collects what is wrong with it."""

    def __init__(
        self, rule: Rule, route: Route, locate: Locate, symbols: Mapping[str, Type], *, lazy: bool = False
    ) -> None:
        self.rule = rule
        self.lazy = lazy
        self.route = route
        self.locate = locate
        own = None if rule.each is None else ITEM_SPACES[rule.each]
        foreign = {space for space in ITEM_SPACES.values() if space != own}
        self.symbols = {name: kind for name, kind in symbols.items() if name.partition(".")[0] not in foreign}
        self.problems: list[Problem] = []
        self._spaces = {name.partition(".")[0] for name in symbols}
        self._broken: set[str] = set()

    def compile(self, part: Part, scope: Scope) -> CompiledRule | None:
        """Return the compiled rule; None where there are problems."""
        rule = self.rule
        self._clean()
        lets: dict[str, Expression] = {}
        for name, text in rule.let.items():
            expression = self._let(name, text)
            if expression is None:
                self._broken.add(name)
            else:
                lets[name] = expression
                self.symbols[name] = expression.type
        applies = None if rule.applies is None else self._expression(rule.applies, ("applies",), Type.BOOL)
        require = self._expression(rule.require, ("require",), Type.BOOL)
        message = self._message(rule.message)
        if self.problems or require is None or message is None:
            return None
        where = self.locate((*self.route, "id"), 0)
        return CompiledRule(rule, part, scope, where, lets, applies, require, message)

    def _message(self, text: str) -> Message | LazyMessage | None:
        names = frozenset({*self.symbols, *self._broken})
        if self.lazy:
            return LazyMessage(text, names)
        message, found = compile_message(text, names)
        self.problems += relocated(found, text, (*self.route, "message"), self.locate)
        return message

    def _clean(self) -> None:
        """A rule that is asked per item says once what it checked; without items there is nothing to say once."""
        if (self.rule.each is None) is bool(self.rule.clean):
            needs = "needs `clean`: what was checked, said where nothing was found"
            message = (
                "`clean` belongs to rules with `each`" if self.rule.each is None else f"a rule with `each` {needs}"
            )
            key = "clean" if self.rule.clean else "each"
            self.problems.append(Problem(message, self.locate((*self.route, key), 0)))

    def _let(self, name: str, text: str) -> Expression | None:
        """Compile one name of `let`, which may read the inputs and the names before it."""
        reason = self._refused_name(name)
        if reason:
            place = self.locate((*self.route, "let", name), 0)
            self.problems.append(Problem(f"{name!r} cannot be a name under `let`: {reason}", place))
        expression = self._expression(text, ("let", name), None)
        return None if reason else expression

    def _refused_name(self, name: str) -> str:
        if not _PLAIN_NAME.fullmatch(name):
            return "it has to be one word of lower-case letters, digits and underscores"
        if name in self._spaces:
            return "it would hide inputs"
        if name in FUNCTIONS or name == "known" or keyword.iskeyword(name):
            return "it is a word of the expression language"
        return "messages read the outcome of the rule by it" if name == OUTCOME else ""

    def _expression(self, text: str, route: Route, expect: Type | None) -> Expression | None:
        try:
            allow_known = self.rule.severity != "block"
            return compile_expression(text, self.symbols, expect=expect, allow_known=allow_known)
        except ExpressionError as error:
            found = [self._with_hint(problem) for problem in error.problems if not self._said(problem)]
            self.problems += relocated(found, text, (*self.route, *route), self.locate)
            return None

    def _said(self, problem: Problem) -> bool:
        """Whether a problem only follows from a name under `let` that did not compile."""
        return problem.message in {_unknown_name(name) for name in self._broken}

    def _with_hint(self, problem: Problem) -> Problem:
        if problem.message in {_unknown_name(name) for name in self.rule.let}:
            return replace(problem, hint="a name under `let` may read the inputs and the names before it")
        return problem


def _unknown_name(name: str) -> str:
    return f"unknown name {name!r}"
