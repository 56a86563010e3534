"""Expressions inside engine files: tokenizer checks and the conditions of known issues."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache

from specrules.derive.methods import Finding, applies_to_version
from specrules.expressions import Expression, Type, Unknown, compile_expression
from specrules.model.case import Case
from specrules.model.engine import Engine, KnownIssue, Method, TokenizerCheck, TokenizerGate

Values = Mapping[str, object]
Symbols = Mapping[str, Type]


@lru_cache(maxsize=512)
def _compiled(source: str, symbols: tuple[tuple[str, Type], ...]) -> Expression:
    return compile_expression(source, dict(symbols), expect=Type.BOOL)


def holds(source: str, symbols: Symbols, values: Values) -> bool | None:
    """Evaluate a condition of an engine file; None where it is unknown. ExpressionError where it is refused."""
    result = _compiled(source, tuple(symbols.items())).evaluate(values)
    return None if isinstance(result, Unknown) else bool(result)


def tokenizer_gate(engine: Engine, method: Method | None) -> TokenizerGate | None:
    """The check that the engine makes for this method, or None where it makes none."""
    if method is None:
        return None
    for gate in engine.tokenizer_gates:
        if any(fnmatchcase(method.id, pattern) for pattern in gate.methods):
            return gate
    return None


@dataclass(frozen=True, slots=True)
class Checked:
    """What a gate says of a pair: the first check that it is known to fail, and what came before: passed or open."""

    failed: TokenizerCheck | None
    passed: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()


def checked(engine: Engine, gate: TokenizerGate, version: str | None, symbols: Symbols, values: Values) -> Checked:
    """Hold a pair of tokenizers against every check of a gate that this version of the engine makes."""
    passed: list[str] = []
    undecided: list[str] = []
    for check in gate.checks:
        applies = applies_to_version(engine, check, version)
        if applies is False:
            continue
        accepted = holds(check.accepts, symbols, values)
        if accepted is False and applies is None:
            undecided.append(f"{check.id}, which depends on the version")
        elif accepted is False:
            return Checked(check, tuple(passed), tuple(undecided))
        elif accepted is None:
            undecided.append(check.id)
        else:
            passed.append(check.id)
    return Checked(None, tuple(passed), tuple(undecided))


def tokenizers(case: Case, engine: Engine, gate: TokenizerGate, symbols: Symbols, values: Values) -> Finding:
    """Whether the engine accepts this pair, as it really compares tokenizers."""
    result = checked(engine, gate, case.engine.version, symbols, values)
    if result.failed is not None:
        return Finding(False, f"{result.failed.message} ({result.failed.otherwise.replace('-', ' ')})")
    if result.undecided:
        return Finding(None, f"not known: {', '.join(result.undecided)}")
    return Finding(True, f"passes every check of {engine.title}: {', '.join(check.id for check in gate.checks)}")


@dataclass(frozen=True, slots=True)
class Issues:
    """Known issues that hold for a case, and those that matter and of which that cannot be said."""

    matching: tuple[KnownIssue, ...]
    may_hold: tuple[KnownIssue, ...]

    @property
    def undecided(self) -> tuple[KnownIssue, ...]:
        """The fatal ones that may hold."""
        return tuple(issue for issue in self.may_hold if issue.fatal)

    @property
    def undermining(self) -> tuple[KnownIssue, ...]:
        """Those that may hold and would keep a counter from meaning what it says."""
        return tuple(issue for issue in self.may_hold if issue.undermines)

    @property
    def fatal(self) -> tuple[KnownIssue, ...]:
        """The matching ones where the candidate cannot draft."""
        return tuple(issue for issue in self.matching if issue.fatal)


def known_issues(case: Case, engine: Engine, symbols: Symbols, values: Values) -> Issues:
    """Hold versions and condition of every known issue against the case."""
    matching: list[KnownIssue] = []
    undecided: list[KnownIssue] = []
    for issue in engine.known_issues:
        if issue.condition is None:
            continue
        sides = (applies_to_version(engine, issue, case.engine.version), holds(issue.condition, symbols, values))
        if all(side is True for side in sides):
            matching.append(issue)
        elif (issue.fatal or issue.undermines) and False not in sides:
            undecided.append(issue)
    return Issues(tuple(matching), tuple(undecided))
