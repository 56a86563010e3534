"""The names that expressions may read: declared inputs and the thresholds of the policy, with their types."""

from __future__ import annotations

from collections.abc import Iterable

from specrules.expressions import Type
from specrules.model.policy import PolicyFile
from specrules.model.rule import Input


def symbols(inputs: Iterable[Input], policy: PolicyFile) -> dict[str, Type]:
    """Return the type of every declared input and of every threshold as `policy.NAME`."""
    return {item.name: Type(item.type) for item in inputs} | dict.fromkeys(policy_values(policy), Type.NUMBER)


def policy_values(policy: PolicyFile) -> dict[str, float]:
    """Return the thresholds under the names that expressions read them by."""
    return {f"policy.{name}": value for name, value in policy.thresholds.items()}
