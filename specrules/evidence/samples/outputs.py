"""Greedy answers of two arms to the same prompts, character by character.

Drafting that loses nothing gives the same answer at temperature 0. Kernels for several rows may round otherwise than
those for one, and then two close tokens change places: a difference is to be looked at, not yet a fault.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from specrules.evidence.samples.lines import counted
from specrules.model.fact import Fact
from specrules.model.quantity import Provenance
from specrules.model.sample import Sample

_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Difference:
    """Where the answers to one prompt part: the character, counted from 0."""

    prompt: str
    at: int


def compare(samples: Sequence[Sample], one: str, other: str) -> tuple[int, tuple[Difference, ...]]:
    """Return how many prompts both arms answered greedily, and those whose answers differ.

    Answers that were cut at different lengths count up to the shorter one.
    """
    both = tuple(samples)
    answers = {name: _greedy(both, name) for name in (one, other)}
    shared = [key for key in answers[one] if key in answers[other]]
    differences = []
    for key in shared:
        at = _parts_at(answers[one][key], answers[other][key])
        if at is not None:
            differences.append(Difference(key, at))
    return len(shared), tuple(differences)


def same_outputs(path: str, samples: Sequence[Sample], arms: Sequence[str]) -> Iterator[tuple[Fact, str]]:
    """Yield for every arm behind the first the share of equal answers, and a sentence about it."""
    for name in arms[1:]:
        count, differences = compare(samples, arms[0], name)
        if not count:
            continue
        equal = count - len(differences)
        text = f"{name}: {equal} of {count} greedy answers are those of {arms[0]}"
        if differences:
            places = ", ".join(f"{item.prompt} from character {item.at}" for item in differences[:_SHOWN])
            text += f"; they part in {places}{' ..' if len(differences) > _SHOWN else ''}"
        fact = Fact(
            name=f"{name}.same_outputs",
            value=equal / count,
            unit="share",
            provenance=Provenance(kind="from-file", source=path),
        )
        yield fact, text


def _greedy(samples: tuple[Sample, ...], arm: str) -> dict[str, str]:
    """Return the first greedy answer to every prompt."""
    found: dict[str, str] = {}
    for item in counted(samples, arm):
        if item.temperature == 0 and item.text:
            found.setdefault(item.prompt, item.text)
    return found


def _parts_at(one: str, other: str) -> int | None:
    length = min(len(one), len(other))
    if one[:length] == other[:length]:
        return None
    return next(index for index in range(length) if one[index] != other[index])
