"""The rules of the scope `deployment` of a catalogue, compiled against the names that they may read."""

from __future__ import annotations

import functools

from specrules.catalog.catalogue import Catalog
from specrules.decide import RuleSet, compile_rules
from specrules.errors import LoadError
from specrules.model.rule import RuleFile
from specrules.pipeline.rules import compiled, weighed


@functools.lru_cache(maxsize=2)
def deployment_rules(catalog: Catalog, *, lazy: bool = True) -> RuleSet:
    """The rules, kept for the next deployment. `lazy` leaves the messages of shipped rules to their first rendering.

    Raises LoadError with every problem.
    """
    files = [item for item in catalog.of_kind(RuleFile) if item.model.scope == "deployment"]
    weights = catalog.policy.rules
    try:
        return compile_rules(
            [(weighed(item.model, weights), item.locate) for item in files],
            catalog.deployment_symbols,
            lazy=lazy and catalog.rules_are_shipped,
        )
    except LoadError as error:
        raise LoadError(catalog.quoted(error.problems)) from None


def every_rule(catalog: Catalog) -> RuleSet:
    """The rules of both scopes, those of cases first, messages checked. Raises LoadError with every problem."""
    of_cases, of_deployments = compiled(catalog, lazy=False)[0], deployment_rules(catalog, lazy=False)
    return RuleSet([*of_cases, *of_deployments], of_deployments.symbols)
