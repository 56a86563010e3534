"""The names that rules and the verdict table may read: declared inputs and the thresholds of the policy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from specrules.expressions import Type
from specrules.model.rule import Input, InputType, PolicyFile

TYPES: Mapping[InputType, Type] = {
    "number": Type.NUMBER,
    "flag": Type.BOOL,
    "text": Type.STRING,
    "numbers": Type.NUMBERS,
    "texts": Type.STRINGS,
}


def symbols(inputs: Iterable[Input], policy: PolicyFile) -> dict[str, Type]:
    """Return the type of every declared input and of every threshold as `policy.NAME`."""
    return {item.name: TYPES[item.type] for item in inputs} | dict.fromkeys(policy_values(policy), Type.NUMBER)


def policy_values(policy: PolicyFile) -> dict[str, float]:
    """Return the thresholds under the names that rules read them by."""
    return {f"policy.{name}": value for name, value in policy.thresholds.items()}
