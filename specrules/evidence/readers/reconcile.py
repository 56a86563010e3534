"""Several sources of one fact: which one is used, and where they disagree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest

from specrules.evidence.readers.reading import Reading
from specrules.model.fact import Disagreement, Fact, Facts

RELATIVE_TOLERANCE = 0.01
POSITION_TOLERANCE = 0.001
# Numbers in text are rounded, and the halves of two roundings may add up to the whole tolerance.
_SLACK = 1e-9
_RATE = "rate_tok_s"
_RATE_KIND = "rate_kind"
_MEANS = frozenset({"context_tokens", "mean_concurrency"})


def reconcile(explicit: Mapping[str, Fact], readings: Iterable[Reading]) -> tuple[Facts, tuple[Disagreement, ...]]:
    """Join what a case states with what its evidence files say.

    What the case states is used, then the files in their order. Among files that agree the first one with samples of
    single requests is used. Every later value that does not agree with the used one is a disagreement, but for mean
    contexts and concurrencies: the first counts. A rate as clients see it and one of decoding alone are two things: the
    later one is left out.
    """
    used = dict(explicit)
    disagreements = []
    for reading in readings:
        left_out = set(_other_rates(used, reading.facts))
        for name, fact in reading.facts.items():
            earlier = used.get(name)
            if name in left_out:
                continue
            if earlier is None:
                used[name] = fact
            elif not agree(earlier, fact) and not _is_mean_of_window(name):
                disagreements.append(Disagreement(name=name, used=earlier, other=fact))
            elif name not in explicit and fact.samples and not earlier.samples:
                used[name] = fact
    return Facts(used), tuple(disagreements)


def _is_mean_of_window(name: str) -> bool:
    """Whether a fact is a mean over one file's requests, which says nothing against another file's."""
    arm, _, short = name.partition(".")
    return arm != "engine" and short in _MEANS


def _other_rates(used: Mapping[str, Fact], facts: Mapping[str, Fact]) -> Iterator[str]:
    """Yield rates of another kind than the used ones, and kinds that would be put on a rate that is not theirs."""
    for name, rate in facts.items():
        if not name.endswith(_RATE) or name not in used:
            continue
        kind = name.removesuffix(_RATE) + _RATE_KIND
        earlier, later = used.get(kind), facts.get(kind)
        if earlier is None:
            if not agree(used[name], rate):
                yield kind
        elif later is not None and earlier.value != later.value:
            yield from (name, kind)


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
