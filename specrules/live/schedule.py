"""The order of requests: warm-up first, then prompt by prompt, the arms taking turns to be first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from specrules.catalog.prompts import Ask


@dataclass(frozen=True, slots=True)
class Turn:
    """Requests of one arm that are sent at once: prompts, and how often each was sent before."""

    arm: int
    asks: tuple[tuple[Ask, int], ...]


@dataclass(frozen=True, slots=True)
class Step:
    """The same prompts for every arm, one arm after the other. Only a whole step is a comparison."""

    turns: tuple[Turn, ...]
    warm_up: bool = False

    @property
    def requests(self) -> int:
        """How many requests the step has."""
        return sum(len(turn.asks) for turn in self.turns)


def schedule(
    prompts: Sequence[Ask], arms: int, *, requests: int, warm_up: int, repeats: int, concurrency: int
) -> Iterator[Step]:
    """Yield the steps of a run at one concurrency: at most `requests` per arm beside the warm-up.

    Every prompt goes to every arm before the next one, and which arm is first alternates, so that a machine that gets
    slower or warmer treats all alike. Prompts are repeated only once all were sent, until each was sent `repeats`
    times. A last batch that would be smaller than the others is left out: it would be another concurrency.
    """
    for number in range(warm_up):
        ask = (prompts[-1 - number % len(prompts)], 0)
        yield Step(tuple(Turn(arm, (ask,)) for arm in range(arms)), warm_up=True)
    order = [(prompt, repeat) for repeat in range(repeats) for prompt in prompts][:requests]
    for number, start in enumerate(range(0, len(order), concurrency)):
        batch = tuple(order[start : start + concurrency])
        if len(batch) < concurrency:
            return
        turns = tuple(Turn(arm, batch) for arm in range(arms))
        yield Step(turns if number % 2 == 0 else turns[::-1])


def look_points(prompts: int, least: int, most: int = 5) -> tuple[int, ...]:
    """Return after how many prompts the data is looked at: from `least` on, up to `most` times, at last at the end."""
    if prompts <= least:
        return (prompts,)
    looks = min(most, prompts - least + 1)
    return tuple(sorted({round(least + index * (prompts - least) / (looks - 1)) for index in range(looks)}))
