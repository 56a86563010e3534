"""What models keep in memory, and whether a target and its drafter fit on named devices."""

from __future__ import annotations

from specrules.evidence.memory.facts import memory_facts
from specrules.evidence.memory.fit import fit
from specrules.evidence.memory.heads import HeadKeeper
from specrules.evidence.memory.oracle import Oracle, find_program
from specrules.evidence.memory.request import Request

__all__ = ["HeadKeeper", "Oracle", "Request", "find_program", "fit", "memory_facts"]
