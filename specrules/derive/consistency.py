"""What the numbers of a case say about each other: rate, commit, round, plain step, curve and counters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import mean, stdev

from specrules.derive.acceptance import stated_acceptance
from specrules.derive.curve import verify_curve
from specrules.derive.sides import Sides, run_round
from specrules.derive.spans import Span, is_point, span_of
from specrules.model.fact import Fact, Facts
from specrules.model.quantity import Provenance

_ARMS = ("incumbent", "candidate")
_FIXED_DEPTH = 0.95
_FEWEST_SAMPLES = 3
_COMMITS_DRAFTS = 1.005
_PLACE = re.compile(r"(:\d+| at [^/]*)?( \(\+\d+ (or more |more )?\w+\))?( less .*)?$")


@dataclass(frozen=True, slots=True)
class Found:
    """A number that a rule judges, and in words what it was worked out from."""

    value: float | None
    note: str | None = None


def round_over_step(sides: Sides) -> float | None:
    """The incumbent's round over the plain step, at the top of both errors; None where one of them is unknown."""
    round_ms, plain = sides.steps.incumbent_round, sides.steps.plain
    return None if round_ms is None or plain is None else _most(round_ms, plain, sides)


def rounds_over_passes(facts: Facts) -> Found:
    """The rounds of an arm over the target passes that its tokens leave, the larger one of both arms.

    Passes are tokens less requests less accepted drafts. A round at the end of a request may be cut off, so that one
    for each request is forgiven.
    """
    worst: Found = Found(None)
    for arm in _ARMS:
        rounds, passes, requests = (facts.number(f"{arm}.{name}") for name in ("rounds", "target_passes", "requests"))
        tokens, accepted = facts.number(f"{arm}.tokens"), facts.number(f"{arm}.accepted")
        if passes is None and tokens is not None and requests is not None and accepted is not None:
            passes = tokens - requests - accepted
        if rounds is None or passes is None or passes <= 0:
            continue
        share = max(0.0, rounds - (requests or 0.0)) / passes
        if worst.value is None or share > worst.value:
            worst = Found(share, f"{rounds:g} rounds of the {arm} for {passes:g} target passes")
    return worst


def drafting_share(facts: Facts) -> float | None:
    """The share of the candidate's target passes that verified a draft."""
    share = facts.number("candidate.coverage")
    rounds, passes = facts.number("candidate.rounds"), facts.number("candidate.target_passes")
    if share is None and rounds is not None and passes:
        share = rounds / passes
    return share


def round_mismatch(facts: Facts) -> Found:
    """How far A over the rate lies from the round that is stated or read, the larger share of both arms.

    A client pays for more than its rounds, so that its rate may imply a longer round than there is, never a shorter.
    """
    worst = Found(None)
    for arm in _ARMS:
        tokens, rate, round_ms = (
            span_of(facts.get(f"{arm}.{name}")) for name in ("tokens_per_round", "rate_tok_s", "round_ms")
        )
        if tokens is None or rate is None or round_ms is None or facts.value(f"{arm}.drafting") is False:
            continue
        low, high = 1000 * tokens.low / rate.high, 1000 * tokens.high / rate.low
        short, long = 1 - high / round_ms.low, low / round_ms.high - 1
        apart = max(0.0, short, long if facts.value(f"{arm}.rate_kind") == "decode" else 0.0)
        if worst.value is None or apart > worst.value:
            note = (
                f"{tokens.mid:.4g} tokens at {rate.mid:.4g} tok/s are rounds of {1000 * tokens.mid / rate.mid:.4g} ms"
            )
            worst = Found(apart, f"{note}, and the {arm}'s round is {round_ms.mid:.4g} ms")
    return worst


def mixed_runs(facts: Facts) -> Found:
    """How many arms have their commit from another file, time or stated source than their rate; None: nobody says."""
    notes, unclear = [], False
    for arm in _ARMS:
        commit, rate = facts.get(f"{arm}.tokens_per_round"), facts.get(f"{arm}.rate_tok_s")
        if commit is None or rate is None or facts.value(f"{arm}.drafting") is False:
            continue
        same = _same_run(commit, rate)
        unclear |= same is None
        if same is False:
            both = " and ".join(_origin(fact.provenance) or "the case" for fact in (commit, rate))
            notes.append(f"tokens per round and rate of the {arm} are from {both}")
    if not notes and unclear:
        return Found(None)
    return Found(float(len(notes)), "; ".join(notes) or None)


def round_variation(sides: Sides) -> float | None:
    """The spread of the candidate's round over requests, as a share; None where K was not fixed or few requests were
    seen.

    At one depth the round is a property of model and machine: over the prompts of five published runs it varied by 0.4
    to 5.6 %.
    """
    facts = sides.facts
    length, drafted = facts.number("candidate.draft_length"), facts.number("candidate.mean_draft_length")
    share = drafting_share(facts)
    fixed = length is None or drafted is None or drafted >= _FIXED_DEPTH * length
    if not sides.drafter_class.covers_every_round or not fixed or (share is not None and share < _FIXED_DEPTH):
        return None
    samples = _round_samples(facts)
    return stdev(samples) / mean(samples) if len(samples) >= _FEWEST_SAMPLES else None


def first_over_step(sides: Sides) -> float | None:
    """V(1) of the curve over the plain step that was measured apart from it."""
    plain = sides.steps.plain
    if plain is None or sides.steps.plain_source == "V(1)":
        return None
    first = next((point.ms for point in verify_curve(sides.case, sides.facts) if point.width == 1), None)
    return None if first is None else first.mid / plain.mid


def round_over_pass(sides: Sides) -> float | None:
    """The measured round over the curve's pass of K + 1 rows, at the top of both errors; measured widths only."""
    run, round_ms = sides.run, run_round(sides)
    if run is None or run.draft_length is None or round_ms is None or sides.drafter_class.is_tree:
        return None
    width = run.draft_length + 1
    verify = next((point.ms for point in verify_curve(sides.case, sides.facts) if point.width == width), None)
    return None if verify is None else _most(Span(round_ms, round_ms, round_ms), verify, sides)


def commit_without_drafts(facts: Facts) -> bool | None:
    """Whether the incumbent is said to commit drafted tokens while its counters say that it drafts none."""
    commit, drafting = facts.number("incumbent.tokens_per_round"), facts.value("incumbent.drafting")
    if commit is None or drafting is None:
        return None
    return commit > _COMMITS_DRAFTS and drafting is False


def accepted_ratio(sides: Sides) -> float | None:
    """Accepted over drafted of the candidate, as stated, else as read."""
    stated = stated_acceptance(sides.case)
    if stated is not None and stated.kind == "ratio":
        return stated.value
    if stated is not None and stated.kind == "counts" and stated.drafted and stated.accepted is not None:
        return stated.accepted / stated.drafted
    return sides.facts.number("candidate.accepted_ratio") if stated is None else None


def _most(numerator: Span, denominator: Span, sides: Sides) -> float:
    tolerance = sides.thresholds["unknown_error"]
    top = numerator.high * (1 + tolerance) if is_point(numerator) else numerator.high
    return top / (denominator.low * (1 - tolerance) if is_point(denominator) else denominator.low)


def _same_run(one: Fact, other: Fact) -> bool | None:
    first, second = one.provenance, other.provenance
    if first.observed_at is not None and second.observed_at is not None and first.observed_at != second.observed_at:
        return False
    if not _origin(first) or not _origin(second):
        return None
    return _origin(first) == _origin(second)


def _origin(provenance: Provenance) -> str:
    """The file that a fact was read from, or the source that a statement names; empty where it names none."""
    if provenance.kind == "from-file":
        return _PLACE.sub("", provenance.source)
    return provenance.source.rpartition(" (")[0]


def _round_samples(facts: Facts) -> tuple[float, ...]:
    stated = facts.get("candidate.round_ms")
    if stated is not None and stated.samples:
        return stated.samples
    return tuple(_paired_rounds(facts.get("candidate.tokens_per_round"), facts.get("candidate.rate_tok_s")))


def _paired_rounds(tokens: Fact | None, rate: Fact | None) -> Iterator[float]:
    """A over the rate, request by request, where one file gives both for the same number of requests."""
    if tokens is None or rate is None or len(tokens.samples) != len(rate.samples):
        return
    if tokens.provenance.kind == rate.provenance.kind == "from-file" and _same_run(tokens, rate):
        yield from (1000 * one / other for one, other in zip(tokens.samples, rate.samples, strict=True) if other > 0)
