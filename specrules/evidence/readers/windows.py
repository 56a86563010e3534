"""Files that cover different requests: numbers of one window are never held against those of another.

A log of an hour, and one response out of it, do not contradict each other. Per arm the file that covers most tokens
gives the numbers, and samples of measured requests do wherever there are any. What another one says of configuration
and of whether drafting happened still counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from specrules.errors import Location, Problem
from specrules.evidence.readers.reading import Reading
from specrules.evidence.readers.reconcile import agree
from specrules.model.fact import Fact, Facts

COVERED = "tokens"
MEASURED = "samples"
_OF_THE_SETTING = frozenset({"draft_length"})
_OF_A_NUMBER = frozenset({"rate_kind", "prompts"})
"""Texts that say what the numbers beside them are."""


def widest_windows(readings: Sequence[tuple[str, Reading]]) -> tuple[tuple[Reading, ...], tuple[Problem, ...]]:
    """Return the readings without the numbers of narrower windows, and a note for each that lost some.

    `readings` come with their arm. A reading that does not say how many tokens it covers is left as it is.
    """
    widest: dict[str, Fact] = {}
    # Requests that were sent to be measured count before the many others that a log of the same server may hold.
    measured = {arm for arm, reading in readings if reading.reader_id == MEASURED}
    for arm, reading in readings:
        covered = reading.facts.get(f"{arm}.{COVERED}")
        if covered is None or (arm in measured and reading.reader_id != MEASURED):
            continue
        if arm not in widest or _number(covered) > _number(widest[arm]):
            widest[arm] = covered
    kept: list[Reading] = []
    notes: list[Problem] = []
    for arm, reading in readings:
        covered = reading.facts.get(f"{arm}.{COVERED}")
        if covered is None or arm not in widest or agree(covered, widest[arm]):
            kept.append(reading)
            continue
        kept.append(replace(reading, facts=_without_numbers(reading.facts, arm)))
        here, there, source = _number(covered), _number(widest[arm]), widest[arm].provenance.source
        covers = f"{here:g} of the {there:g} tokens" if here < there else f"{here:g} tokens and not the {there:g}"
        message = f"covers {covers} of {source}: its numbers are of another window and are not used"
        notes.append(Problem(message, Location(reading.path)))
    return tuple(kept), tuple(notes)


def _without_numbers(facts: Facts, arm: str) -> Facts:
    return Facts({name: fact for name, fact in facts.items() if not _is_of_window(name, fact, arm)})


def _is_of_window(name: str, fact: Fact, arm: str) -> bool:
    prefix, _, short = name.partition(".")
    is_number = isinstance(fact.value, float | tuple) and short not in _OF_THE_SETTING
    return prefix == arm and (is_number or short in _OF_A_NUMBER)


def _number(fact: Fact) -> float:
    return fact.value if isinstance(fact.value, float) and not isinstance(fact.value, bool) else 0.0
