"""When enough was measured: the interval lies on one side of what the verdict asks, or is as narrow as was wanted.

The data is looked at several times, and each look gets the confidence at which all of them together hold 90 %.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from specrules.economics.interval import Interval
from specrules.economics.requests import looked_at, paired_ratio, quotient_interval
from specrules.economics.sampling_error import CONFIDENCE, ENOUGH_REQUESTS
from specrules.evidence.samples.facts import Unit

Side = Literal["above", "below", "even", "open"]


@dataclass(frozen=True, slots=True)
class Standing:
    """How an arm stands against the first one. `side` says where the interval lies with the margin m of the policy:
    above 1 + m, below 1, even (within 2 m of 1), or open.
    """

    arm: str
    ratio: Interval[float] | None
    side: Side


@dataclass(frozen=True, slots=True)
class Look:
    """What one look at the data says. `is_enough`: nothing that was asked is open any more."""

    prompts: int
    rates: Mapping[str, Interval[float] | None]
    tokens_per_round: Mapping[str, Interval[float] | None]
    standings: tuple[Standing, ...]
    is_enough: bool


@dataclass(frozen=True, slots=True)
class Rule:
    """What is asked. `reference` is a rate in tok/s that a single arm is held against, where one is known."""

    margin: float
    looks: int
    reference: Interval[float] | None = None

    @property
    def confidence(self) -> float:
        """The confidence of one look."""
        return looked_at(CONFIDENCE, max(1, self.looks))


def look(arms: Mapping[str, Sequence[Unit]], rule: Rule) -> Look:
    """Look at what was measured until now."""
    rates = {name: rate_interval(units, rule.confidence) for name, units in arms.items()}
    tokens = {name: tokens_interval(units, rule.confidence) for name, units in arms.items()}
    first, *others = arms
    standings = tuple(_standing(name, arms[first], arms[name], rule) for name in others)
    if rule.reference is not None and not others:
        standings = (_against(first, rates[first], rule.reference, rule.margin),)
    prompts = min((len(units) for units in arms.values()), default=0)
    if standings:
        is_enough = all(item.side != "open" for item in standings)
    else:
        is_enough = is_narrow(rates[first], rule.margin) and _fine(tokens[first], arms[first], rule.margin)
    return Look(prompts, rates, tokens, standings, is_enough)


def rate_interval(units: Sequence[Unit], confidence: float) -> Interval[float] | None:
    """The rate in tok/s, None for fewer than eight prompts with known times and tokens."""
    pairs = _rates(units)
    if len(pairs) < ENOUGH_REQUESTS:
        return None
    return quotient_interval(
        [one for one, _ in pairs.values()], [other for _, other in pairs.values()], confidence=confidence
    )


def tokens_interval(units: Sequence[Unit], confidence: float) -> Interval[float] | None:
    """Tokens per drafting round, None where they are not known of eight prompts."""
    known = [(unit.total("accepted"), unit.total("rounds")) for unit in units]
    pairs = [(accepted, rounds) for accepted, rounds in known if accepted is not None and rounds]
    if len(pairs) < ENOUGH_REQUESTS:
        return None
    found = quotient_interval([one for one, _ in pairs], [other for _, other in pairs], confidence=confidence)
    return None if found is None else Interval(1 + found.low, 1 + found.mid, 1 + found.high)


def is_narrow(interval: Interval[float] | None, margin: float) -> bool:
    """Tell whether both ends lie within a share of the middle."""
    return interval is not None and interval.high - interval.low <= 2 * margin * interval.mid


def _fine(interval: Interval[float] | None, units: Sequence[Unit], margin: float) -> bool:
    """Tokens per round are asked for only where requests have rounds at all."""
    return interval is not None and is_narrow(interval, margin) if any(unit.total("rounds") for unit in units) else True


def _rates(units: Sequence[Unit]) -> dict[str, tuple[float, float]]:
    found = {}
    for unit in units:
        if all(item.rate is not None for item in unit.requests):
            tokens = sum((item.tokens or 1.0) - 1 for item in unit.requests)
            found[unit.requests[0].prompt] = (tokens, (unit.total("decode_ms") or 0.0) / 1000)
    return found


def _standing(name: str, incumbent: Sequence[Unit], candidate: Sequence[Unit], rule: Rule) -> Standing:
    below, above = _rates(incumbent), _rates(candidate)
    shared = [prompt for prompt in below if prompt in above]
    ratio = (
        paired_ratio(
            [above[prompt][0] / above[prompt][1] for prompt in shared],
            [below[prompt][0] / below[prompt][1] for prompt in shared],
            confidence=rule.confidence,
        )
        if shared
        else None
    )
    return Standing(name, ratio, side_of(ratio, rule.margin))


def _against(name: str, rate: Interval[float] | None, reference: Interval[float], margin: float) -> Standing:
    ratio = None
    if rate is not None:
        ratio = Interval(rate.low / reference.high, rate.mid / reference.mid, rate.high / reference.low)
    return Standing(name, ratio, side_of(ratio, margin))


def side_of(ratio: Interval[float] | None, margin: float) -> Side:
    """Return on which side of the verdict's thresholds an interval lies."""
    if ratio is None:
        return "open"
    if ratio.low > 1 + margin:
        return "above"
    if ratio.high < 1:
        return "below"
    return "even" if ratio.low > 1 - 2 * margin and ratio.high < 1 + 2 * margin else "open"
