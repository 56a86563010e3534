"""The requests of one arm together: facts with the spread between prompts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from specrules.economics.requests import quotient_interval
from specrules.economics.sampling_error import ENOUGH_REQUESTS
from specrules.evidence.samples.request import Request
from specrules.model.fact import Fact, FactValue
from specrules.model.quantity import Provenance

EVERY_ROUND = 0.02
"""Share of passes that may be missing from the rounds where all of them drafted: the last round is often cut."""


@dataclass(frozen=True, slots=True)
class Unit:
    """All requests of one prompt: what is drawn. Repeats of a prompt at temperature 0 give the same rounds again."""

    requests: tuple[Request, ...]

    def total(self, name: str) -> float | None:
        """Sum of a count over the requests; None where one of them lacks it."""
        values = [getattr(item, name) for item in self.requests]
        return None if any(value is None for value in values) else float(sum(values))


def units_of(requests: Iterable[Request]) -> tuple[Unit, ...]:
    """Return requests by their prompt."""
    grouped: dict[str, list[Request]] = {}
    for item in requests:
        grouped.setdefault(item.prompt, []).append(item)
    return tuple(Unit(tuple(items)) for items in grouped.values())


class Arm:
    """The requests of an arm, and what they give. `source` is where they are from, for messages and reports."""

    def __init__(self, name: str, requests: Sequence[Request], source: str, observed_at: datetime | None) -> None:
        self.name = name
        self.requests = tuple(requests)
        self.units = units_of(requests)
        self._provenance = Provenance(kind="from-file", source=source, observed_at=observed_at)

    def facts(self) -> Iterator[Fact]:
        """Yield the facts of the arm. Nothing that a request lacks is counted as zero."""
        yield self._fact("requests", float(len(self.requests)), "count")
        yield from self._sums()
        yield from self._rate()
        yield from self._acceptance()
        yield from self._first_token()
        yield from self._conditions()
        own = [item.own_rate for item in self.requests if item.own_rate is not None]
        if own and len(own) == len(self.requests):
            yield self._fact("own_rate_tok_s", sum(own) / len(own), "tok/s", samples=own)

    def _conditions(self) -> Iterator[Fact]:
        """Under what the arm was measured: a verdict holds for these conditions."""
        for name, unit in (("concurrency", "count"), ("temperature", "")):
            found = {getattr(item, name) for item in self.requests} - {None}
            if len(found) == 1:
                yield self._fact(name, float(found.pop()), unit)
        prompt, tokens = _total(self.requests, "prompt_tokens"), _total(self.requests, "tokens")
        if prompt is not None and tokens is not None:
            yield self._fact("context_tokens", (prompt + tokens / 2) / len(self.requests), "tokens")
        repeated = sum(item.repeats_itself for item in self.requests)
        if 2 * repeated > len(self.requests):
            yield self._fact("prompts", "repeated-text")
        elif not any(item.own_prompt for item in self.requests):
            yield self._fact("prompts", "dataset")

    def _sums(self) -> Iterator[Fact]:
        timed = [item for item in self.requests if item.rate is not None]
        if timed and len(timed) == len(self.requests):
            yield self._fact("tokens", sum(item.tokens or 0.0 for item in timed), "tokens")
            yield self._fact("decode_ms", sum(item.decode_ms or 0.0 for item in timed), "ms")
        for name in ("prompt_tokens", "prompt_ms"):
            total = _total(self.requests, name)
            if total is not None:
                yield self._fact(name, total, "ms" if name.endswith("ms") else "tokens")
        said = {item.drafting for item in self.requests} - {None}
        if said:
            yield self._fact("drafting", True in said)
        lengths = {item.draft_length for item in self.requests} - {None}
        if len(lengths) == 1:
            yield self._fact("draft_length", lengths.pop() or 0.0, "tokens")

    def _rate(self) -> Iterator[Fact]:
        """The rate that clients see once the first token is there: tokens behind it over the time behind it."""
        pairs = [
            (sum((item.tokens or 1.0) - 1 for item in unit.requests), unit.total("decode_ms"))
            for unit in self.units
            if all(item.rate is not None for item in unit.requests)
        ]
        tokens, times = [pair[0] for pair in pairs], [(pair[1] or 0.0) / 1000 for pair in pairs]
        if not pairs:
            return
        interval = quotient_interval(tokens, times)
        samples = [one / other for one, other in zip(tokens, times, strict=True)]
        value = sum(tokens) / sum(times)
        ends = (None, None) if interval is None else (interval.low, interval.high)
        yield self._fact("rate_tok_s", value, "tok/s", samples=samples, low=ends[0], high=ends[1])
        yield self._fact("rate_kind", "client")

    def _acceptance(self) -> Iterator[Fact]:
        drafted, accepted = _total(self.requests, "drafted"), _total(self.requests, "accepted")
        rounds, passes = _total(self.requests, "rounds"), _total(self.requests, "passes")
        for name, value, unit in (
            ("drafted", drafted, "tokens"),
            ("accepted", accepted, "tokens"),
            ("rounds", rounds, "rounds"),
            ("target_passes", passes, "rounds"),
        ):
            if value is not None:
                yield self._fact(name, value, unit)
        if accepted is not None and drafted:
            yield self._fact("accepted_ratio", accepted / drafted, "ratio")
        if rounds and drafted is not None:
            yield self._fact("mean_draft_length", drafted / rounds, "tokens")
        if rounds and accepted is not None:
            yield self._tokens_per_round(accepted / rounds)
            yield from self._positions(rounds)
        if rounds and passes:
            yield self._fact("coverage", min(1.0, rounds / passes), "share")
            decode = _total(self.requests, "decode_ms")
            if decode is not None and rounds >= (1 - EVERY_ROUND) * passes:
                each = [item.decode_ms / item.passes for item in self.requests if item.decode_ms and item.passes]
                yield self._fact("round_ms", decode / passes, "ms", samples=each)

    def _tokens_per_round(self, accepted_per_round: float) -> Fact:
        drafting = [unit for unit in self.units if unit.total("rounds")]
        accepted = [unit.total("accepted") or 0.0 for unit in drafting]
        rounds = [unit.total("rounds") or 0.0 for unit in drafting]
        interval = quotient_interval(accepted, rounds) if drafting else None
        ends = (None, None) if interval is None else (1 + interval.low, 1 + interval.high)
        samples = [1 + one / other for one, other in zip(accepted, rounds, strict=True)]
        return self._fact(
            "tokens_per_round", 1 + accepted_per_round, "tokens", samples=samples, low=ends[0], high=ends[1]
        )

    def _positions(self, rounds: float) -> Iterator[Fact]:
        """Shares over all rounds, where every request that drafted has them."""
        known = [item for item in self.requests if item.rounds]
        if not known or not all(item.positions for item in known):
            return
        longest = max(len(item.positions) for item in known)
        sums = [sum(item.positions[index] for item in known if index < len(item.positions)) for index in range(longest)]
        yield self._fact("position_acceptance", tuple(total / rounds for total in sums))

    def _first_token(self) -> Iterator[Fact]:
        times = [item.first_ms for item in self.requests if item.first_ms is not None]
        if times:
            yield self._fact("time_to_first_token_ms", sum(times) / len(times), "ms", samples=times)

    def _fact(
        self,
        name: str,
        value: FactValue,
        unit: str = "",
        *,
        samples: Sequence[float] = (),
        low: float | None = None,
        high: float | None = None,
    ) -> Fact:
        return Fact(
            name=f"{self.name}.{name}",
            value=value,
            unit=unit,
            samples=tuple(samples),
            low=low,
            high=high,
            provenance=self._provenance,
        )


def remarks(arm: Arm) -> Iterator[str]:
    """Yield what weakens the numbers of an arm."""
    count = len(arm.units)
    if 0 < count < ENOUGH_REQUESTS:
        yield f"{arm.name}: {count} prompts are not enough for an interval, which needs {ENOUGH_REQUESTS}"
    disturbed = sum(item.disturbed for item in arm.requests)
    if disturbed:
        yield (
            f"{arm.name}: the server served others during {disturbed} of {len(arm.requests)} requests: "
            "its counters say nothing of those"
        )
    unknown = sum(item.tokens is None for item in arm.requests)
    if unknown:
        yield f"{arm.name}: {unknown} of {len(arm.requests)} answers do not say how many tokens they have"
    repeated = sum(item.repeats_itself for item in arm.requests)
    if 2 * repeated > len(arm.requests):
        yield (
            f"{arm.name}: {repeated} of {len(arm.requests)} answers repeat themselves: "
            "acceptance in repeated text is no evidence for other text"
        )


def _total(requests: Sequence[Request], name: str) -> float | None:
    get: Callable[[Request], float | None] = lambda item: getattr(item, name)  # noqa: E731
    values = [get(item) for item in requests]
    known = [value for value in values if value is not None]
    return float(sum(known)) if known and len(known) == len(values) else None
