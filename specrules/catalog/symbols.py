"""The names that expressions may read: declared inputs and the thresholds of the policy, with their types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from specrules.expressions import Type
from specrules.model.policy import PolicyFile
from specrules.model.rule import Each, Input


def symbols(inputs: Iterable[Input], policy: PolicyFile) -> dict[str, Type]:
    """Return the type of every declared input and of every threshold as `policy.NAME`."""
    return {item.name: Type(item.type) for item in inputs} | dict.fromkeys(policy_values(policy), Type.NUMBER)


ITEM_SPACES: Mapping[Each, str] = {"settings": "setting", "methods": "method", "pairs": "pair", "claims": "claim"}
"""The namespace in which a rule with `each` reads the item that it is asked about."""


def is_of_item(name: str) -> bool:
    """Whether only rules with `each` may read a name."""
    return name.partition(".")[0] in ITEM_SPACES.values()


def policy_values(policy: PolicyFile) -> dict[str, float]:
    """Return the thresholds under the names that expressions read them by."""
    return {f"policy.{name}": value for name, value in policy.thresholds.items()}
