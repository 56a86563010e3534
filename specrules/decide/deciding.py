"""Which gate made the verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from specrules.model.rule import SpeedupClass, VerdictName
from specrules.model.verdict import Gate


def deciding_gate(verdict: VerdictName, speedup_class: SpeedupClass, gates: Sequence[Gate]) -> Gate | None:
    """Return the block gate that made the verdict, the first in order of report part; None where the numbers did.

    A failed gate blocks, one on the evidence (part e) makes it invalid. A gate that could not be judged leads to
    `measure-first`, and so does an unknown one where the numbers alone would win.
    """
    holding = {"error", "unknown"} if speedup_class == "win" else {"error"}
    wanted: Mapping[VerdictName, tuple[set[str], str]] = {
        "blocked": ({"fail"}, "abcd"),
        "invalid-evidence": ({"fail"}, "e"),
        "measure-first": (holding, "abcde"),
    }
    outcomes, parts = wanted.get(verdict, (set(), ""))
    deciding = [gate for gate in gates if gate.severity == "block" and gate.part in parts and gate.outcome in outcomes]
    return min(deciding, key=lambda gate: (gate.outcome != "error", gate.part), default=None)
