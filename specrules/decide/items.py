"""Rules of the scope `deployment`: asked of the whole, or of every setting, method, pair or claim by itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from specrules.decide.gates import evaluate_rule
from specrules.decide.rules import CompiledRule
from specrules.model.deployment import Place
from specrules.model.item import Item
from specrules.model.raw_finding import RawFinding
from specrules.model.rule import RuleOutcome
from specrules.model.verdict import Gate

_MOST_SHOWN = 3
_SAID_TOGETHER: frozenset[RuleOutcome] = frozenset({"pass", "not-applicable"})
"""Outcomes of items that are said once, in the words of the rule's `clean`."""


def judge(
    rule: CompiledRule,
    values: Mapping[str, object],
    items: Sequence[Item],
    places: Mapping[str, Place],
    whole: Place,
) -> tuple[RawFinding, ...]:
    """What one rule says of a deployment, one finding at least.

    A rule without `each` gives one. With `each`, every item that fails gives one at its own place, all that cannot be
    judged give one together, and a rule that finds nothing says so once. `places` says where the inputs were stated.
    """
    if rule.rule.each is None:
        gate = evaluate_rule(rule, values)
        place = next((places[name] for name in _in_order(rule) if name in places), whole)
        return (_finding(rule, gate, Item({}, "", place)),)
    judged = [(item, _asked(rule, values, item)) for item in items]
    found = [_finding(rule, gate, item) for item, gate in judged if gate.outcome in {"fail", "error"}]
    unknown = [(item, gate) for item, gate in judged if gate.outcome == "unknown"]
    if unknown:
        found.append(_together(rule, unknown))
    if found:
        return tuple(_distinct(found))
    clean = [gate for _, gate in judged if gate.outcome == "pass"]
    return (_clean(rule, clean, judged, whole),)


def _asked(rule: CompiledRule, values: Mapping[str, object], item: Item) -> Gate:
    return _with_conditions(rule, evaluate_rule(rule, {**values, **item.values}, _SAID_TOGETHER), item)


def _in_order(rule: CompiledRule) -> list[str]:
    """The inputs of a rule, those of its condition first, each list as written."""
    expressions = [rule.require, *rule.lets.values(), *([] if rule.applies is None else [rule.applies])]
    return [name for one in expressions for name in sorted(one.names, key=one.source.find)]


def _with_conditions(rule: CompiledRule, gate: Gate, item: Item) -> Gate:
    """Show behind the rule's condition the engine's own, and name what would settle it instead of the item's values."""
    read = {name for one in (rule.require, *rule.lets.values()) for name in one.names} & item.conditions.keys()
    expression, observed = gate.expression, gate.substituted
    for name in sorted(read):
        written, shown = item.conditions[name]
        joint = ", " if " where " in expression else " where "
        expression, observed = f"{expression}{joint}{name} = {written}", f"{observed}{joint}{name} = {shown}"
    missing = tuple(sorted((set(gate.missing) - item.values.keys()) | (item.missing if gate.missing else set())))
    return gate.model_copy(update={"expression": expression, "substituted": observed, "missing": missing})


def _together(rule: CompiledRule, unknown: Sequence[tuple[Item, Gate]]) -> RawFinding:
    """One finding for all items that cannot be judged: what is missing settles them together."""
    item, gate = unknown[0]
    texts = list(dict.fromkeys(one.message for _, one in unknown))
    more = f"; and {len(texts) - _MOST_SHOWN} more" if len(texts) > _MOST_SHOWN else ""
    missing = sorted({name for _, one in unknown for name in one.missing})
    joined = gate.model_copy(update={"message": "; ".join(texts[:_MOST_SHOWN]) + more, "missing": tuple(missing)})
    return _finding(rule, joined, item if len(unknown) == 1 else Item({}, "", item.place))


def _clean(rule: CompiledRule, clean: Sequence[Gate], judged: Sequence[object], whole: Place) -> RawFinding:
    """Nothing was found: a pass where something was checked, else not applicable."""
    outcome: RuleOutcome = "pass" if clean else "not-applicable"
    gate = Gate(
        id=rule.rule.id,
        part=rule.part,
        severity=rule.rule.severity,
        outcome=outcome,
        title=rule.rule.title,
        message=rule.rule.clean if clean else f"{rule.rule.title}: nothing to check",
        expression=rule.require.source.strip(),
        substituted=f"holds for {len(clean)} of {len(judged)}" if clean else "",
        fix="",
        refs=rule.rule.refs,
    )
    return _finding(rule, gate, Item({}, "", whole))


def _distinct(found: Iterable[RawFinding]) -> Iterable[RawFinding]:
    """The same thing said of the same place is said once; of several places each is kept, under a key of its own."""
    seen: dict[tuple[str, str], int] = {}
    kept: set[tuple[str, str, Place]] = set()
    for finding in found:
        same = (finding.key, finding.message, finding.place)
        if same in kept:
            continue
        kept.add(same)
        count = seen.get((finding.rule, finding.key), 0)
        seen[finding.rule, finding.key] = count + 1
        yield finding if not count else finding.model_copy(update={"key": f"{finding.key}#{count + 1}"})


def _finding(rule: CompiledRule, gate: Gate, item: Item) -> RawFinding:
    weighs = rule.rule.unknown if gate.outcome == "unknown" and rule.rule.unknown is not None else rule.rule.severity
    return RawFinding(
        rule=gate.id,
        title=gate.title,
        part=gate.part,
        severity=weighs,
        outcome=gate.outcome,
        message=gate.message,
        expression=gate.expression,
        observed=gate.substituted,
        missing=gate.missing,
        fix=(item.fix or rule.rule.fix) if gate.outcome in {"fail", "unknown", "error"} else "",
        refs=gate.refs,
        place=item.place,
        key=item.key,
    )
