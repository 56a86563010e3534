"""The names that expressions may read: declared inputs and the thresholds of the policy, with their types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from specrules.expressions import Type
from specrules.model.reader import FieldType
from specrules.model.rule import Input, InputType, PolicyFile

TYPES: Mapping[InputType | FieldType, Type] = {
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
    """Return the thresholds under the names that expressions read them by."""
    return {f"policy.{name}": value for name, value in policy.thresholds.items()}
