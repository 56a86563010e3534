"""The rules and the verdict table of a catalogue, compiled. Needs none of the arithmetic, so none of its imports."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from specrules.catalog.catalogue import Catalog
from specrules.catalog.loaded import Loaded
from specrules.decide import RuleSet, Table, compile_rules, compile_table, prove
from specrules.errors import LoadError
from specrules.model.policy import PolicyFile, RuleWeight
from specrules.model.rule import Rule, RuleFile, VerdictTable


@functools.lru_cache(maxsize=2)
def compiled(catalog: Catalog, *, lazy: bool = True) -> tuple[RuleSet, Table]:
    """The rules and the verdict table of a catalogue, kept for its next case.

    Rules weigh what the policy says, those that it switches off what they say themselves: `asked` leaves them out. A
    table that is not the shipped one is proved first. `lazy` leaves the messages of shipped rules to their first
    rendering. Raises LoadError with every problem.
    """
    symbols, weights = catalog.symbols, catalog.policy.rules
    loaded: Loaded[VerdictTable] = catalog.only(VerdictTable, "verdict table", "verdict")
    try:
        rules = compile_rules(
            [
                (weighed(item.model, weights), item.locate)
                for item in catalog.of_kind(RuleFile)
                if item.model.scope == "case"
            ],
            symbols,
            lazy=lazy and catalog.rules_are_shipped,
        )
        table = compile_table(loaded.model, symbols, loaded.locate)
        if not catalog.table_is_shipped and (problems := prove(table)):
            raise LoadError(problems)
    except LoadError as error:
        raise LoadError(catalog.quoted(error.problems)) from None
    return rules, table


def asked(rules: RuleSet, policy: PolicyFile) -> RuleSet:
    """The rules that a policy does not switch off. LoadError where that leaves none: everything would pass."""
    left = [rule for rule in rules if policy.rules.get(rule.rule.id) != "off"]
    if not left:
        raise LoadError(f"the policy {policy.id!r} switches off every rule: nothing would be checked")
    return RuleSet(left, rules.symbols) if len(left) < len(rules) else rules


def weighed(file: RuleFile, weights: Mapping[str, RuleWeight]) -> RuleFile:
    """A file whose rules weigh what a policy says."""
    if not any(rule.id in weights for rule in file.rules):
        return file
    return file.model_copy(update={"rules": tuple(_with_weight(rule, weights.get(rule.id)) for rule in file.rules)})


def _with_weight(rule: Rule, weight: RuleWeight | None) -> Rule:
    """What a policy weighs a rule counts for what is unknown too."""
    if weight is None or weight == "off":
        return rule
    return rule.model_copy(update={"severity": weight, "unknown": None})
