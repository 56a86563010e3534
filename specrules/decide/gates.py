"""Rules over the values of a case: one gate per rule, which shows the very expression that decided."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass

from specrules.decide.rules import CompiledRule, RuleSet
from specrules.expressions import Expression, Unknown
from specrules.model.rule import RuleOutcome
from specrules.model.verdict import Gate

_NOTHING = Unknown()


@dataclass(frozen=True, slots=True)
class _Finding:
    outcome: RuleOutcome
    expression: str
    substituted: str
    unknown: Unknown = _NOTHING


def evaluate(rules: RuleSet, values: Mapping[str, object]) -> tuple[Gate, ...]:
    """Judge every rule. `values` holds inputs and `policy.NAME`; a name that is absent, None or Unknown is unknown.

    The outcome `error` means that a value is not of its declared type, or a bug. Nothing is raised.
    """
    return tuple(evaluate_rule(rule, values) for rule in rules)


def evaluate_rule(
    rule: CompiledRule, values: Mapping[str, object], silent: Container[RuleOutcome] = frozenset()
) -> Gate:
    """Judge one rule. With an outcome of `silent` the gate has the rule's title for a message: nobody will read it."""
    scope = dict(values)
    try:
        for name, expression in rule.lets.items():
            scope[name] = expression.evaluate(scope)
        finding = _decide(rule, scope)
    except Exception as error:  # a gate that cannot be judged must say so, and never pass
        message = f"{rule.rule.title}: could not be judged: {error}"
        return _gate(rule, _Finding("error", rule.require.source.strip(), ""), message)
    return _gate(rule, finding, rule.rule.title if finding.outcome in silent else _message(rule, scope, finding))


def _decide(rule: CompiledRule, scope: Mapping[str, object]) -> _Finding:
    if rule.applies is not None:
        applies = rule.applies.evaluate(scope)
        if isinstance(applies, Unknown):
            return _finding("unknown", rule.applies, rule, scope, applies)
        if not applies:
            return _finding("not-applicable", rule.applies, rule, scope)
    holds = rule.require.evaluate(scope)
    if isinstance(holds, Unknown):
        return _finding("unknown", rule.require, rule, scope, holds)
    return _finding("pass" if holds else "fail", rule.require, rule, scope)


def _finding(
    outcome: RuleOutcome,
    decided: Expression,
    rule: CompiledRule,
    scope: Mapping[str, object],
    unknown: Unknown = _NOTHING,
) -> _Finding:
    """Show the expression that decided, and behind it what the names of `let` in it stand for."""
    used = _used(decided.names, rule.lets)
    written = [decided.source.strip(), *(f"{name} = {rule.lets[name].source.strip()}" for name in used)]
    values = [decided.substitute(scope), *(f"{name} = {rule.lets[name].substitute(scope)}" for name in used)]
    return _Finding(outcome, _joined(written), _joined(values), unknown)


def _used(names: Iterable[str], lets: Mapping[str, Expression]) -> list[str]:
    wanted = set(names)
    for name in reversed(list(lets)):
        if name in wanted:
            wanted |= lets[name].names
    return [name for name in lets if name in wanted]


def _joined(parts: list[str]) -> str:
    first, *others = parts
    return f"{first} where {', '.join(others)}" if others else first


def _message(rule: CompiledRule, scope: Mapping[str, object], finding: _Finding) -> str:
    try:
        text = rule.message.render(scope, finding.outcome)
    except Exception:  # a message never changes an outcome
        text = ""
    text = text or rule.rule.title
    if finding.outcome == "unknown" and not finding.unknown.missing:
        text = f"{text} ({'; '.join(finding.unknown.reasons)})"
    return text


def _gate(rule: CompiledRule, finding: _Finding, message: str) -> Gate:
    return Gate(
        id=rule.rule.id,
        part=rule.part,
        severity=rule.rule.severity,
        outcome=finding.outcome,
        title=rule.rule.title,
        message=message,
        expression=finding.expression,
        substituted=finding.substituted,
        fix=rule.rule.fix,
        missing=tuple(sorted(finding.unknown.missing)),
        refs=rule.rule.refs,
    )
