"""The worst block-level outcome of each report part."""

from __future__ import annotations

from collections.abc import Iterable

from specrules.model.base import PARTS, Part
from specrules.model.rule import RuleOutcome
from specrules.model.verdict import Gate

WORST_FIRST: tuple[RuleOutcome, ...] = ("error", "fail", "unknown", "pass", "not-applicable")


def part_outcomes(gates: Iterable[Gate]) -> dict[Part, RuleOutcome]:
    """Return an outcome for every part. A part without blocking gates is not applicable."""
    found: dict[Part, RuleOutcome] = dict.fromkeys(PARTS, "not-applicable")
    for gate in gates:
        if gate.severity == "block":
            found[gate.part] = min(found[gate.part], gate.outcome, key=WORST_FIRST.index)
    return found
