"""Several sources of one fact: which one is used, and where they disagree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import zip_longest

from specrules.evidence.reading import Reading
from specrules.model.fact import Disagreement, Fact, Facts

RELATIVE_TOLERANCE = 0.01
POSITION_TOLERANCE = 0.001
# Numbers in text are rounded, and the halves of two roundings may add up to the whole tolerance.
_SLACK = 1e-9


def reconcile(explicit: Mapping[str, Fact], readings: Iterable[Reading]) -> tuple[Facts, tuple[Disagreement, ...]]:
    """Join what a case states with what its evidence files say.

    What the case states is used, then the files in their order. Among files that agree the first one with samples of
    single requests is used. Every later value that does not agree with the used one is a disagreement.
    """
    used = dict(explicit)
    disagreements = []
    for reading in readings:
        for name, fact in reading.facts.items():
            earlier = used.get(name)
            if earlier is None:
                used[name] = fact
            elif not agree(earlier, fact):
                disagreements.append(Disagreement(name=name, used=earlier, other=fact))
            elif name not in explicit and fact.samples and not earlier.samples:
                used[name] = fact
    return Facts(used), tuple(disagreements)


def agree(one: Fact, other: Fact) -> bool:
    """Tell whether two facts say the same.

    Numbers may differ by 1 %, or lie inside the interval that the other one states; entries of a vector by 0.001, a
    missing entry at its end being zero. Texts and truth values must be equal.
    """
    first, second = one.value, other.value
    if isinstance(first, bool) or isinstance(second, bool):
        return first is second
    if isinstance(first, float) and isinstance(second, float):
        near = abs(first - second) <= RELATIVE_TOLERANCE * max(abs(first), abs(second)) + _SLACK
        return near or _inside(first, other) or _inside(second, one)
    if isinstance(first, tuple) and isinstance(second, tuple):
        pairs = zip_longest(first, second, fillvalue=0.0)
        return all(abs(left - right) <= POSITION_TOLERANCE + _SLACK for left, right in pairs)
    return first == second


def _inside(number: float, fact: Fact) -> bool:
    return fact.low is not None and fact.high is not None and fact.low <= number <= fact.high
