"""The sentences of a verdict: what it is, which gate and which numbers decided, and what acceptance could mean."""

from __future__ import annotations

from specrules.derive.acceptance import stated_acceptance
from specrules.derive.projection import Projections
from specrules.derive.sides import acceptance_at
from specrules.derive.situation import Situation, situation
from specrules.derive.spans import is_point
from specrules.economics.sampling_error import ENOUGH_REQUESTS
from specrules.model.acceptance import Acceptance
from specrules.model.rule import VerdictName
from specrules.model.verdict import Gate, Speedup

TITLES: dict[VerdictName, str] = {
    "deploy": "Deploy",
    "keep-incumbent": "Keep what runs today",
    "marginal": "Marginal: not worth a deployment by itself",
    "measure-first": "Measure first",
    "blocked": "Blocked",
    "invalid-evidence": "Invalid evidence",
}


def sentence(verdict: VerdictName, economics: VerdictName, because: str, deciding: Gate | None, numbers: str) -> str:
    """The verdict, the gate that made it where one did, and the numbers."""
    reason = because if deciding is None else f"{deciding.message.rstrip('.')} ({deciding.id})"
    text = f"{TITLES[verdict]}: {reason}."
    if verdict == "blocked":
        text += f" By the numbers alone: {TITLES[economics].lower()}."
    return f"{text} {numbers}".strip()


def numbers_text(given: Situation, speedup: Speedup, band: Speedup) -> str:
    """What the candidate reaches against what the incumbent delivers."""
    rate = given.facts.number("incumbent.rate_tok_s")
    if rate is None:
        return "The incumbent's rate is unknown."
    against = f"the incumbent's {rate:.4g} tok/s"
    length = given.projections.verdict_length
    if speedup.high is not None and speedup.high < 1:
        whatever = ", whatever is accepted" if given.sides.observed is None and length is None else ""
        return f"Its best draft length reaches at most {speedup.high:.3f} of {against}{whatever}."
    if length is None:
        return f"What the candidate would do against {against} cannot be computed yet."
    point = given.projections.at(length)
    if point is not None and speedup.low is not None and speedup.high is not None:
        reached, at = point.outcome.at_mid("rate_tok_s"), point.speedup
        if reached is not None and at.low is not None and at.mid is not None and at.high is not None:
            return f"{reached:.4g} tok/s at K={length} is {at.mid:.2f} ({at.low:.2f} to {at.high:.2f}) times {against}."
    if band.low is not None and band.high is not None:
        return (
            f"At the stated step times it would reach {band.low:.2f} to {band.high:.2f} times {against}; "
            "how low it may fall is not known."
        )
    return f"What is known does not bound the speedup over {against}."


def acceptance_notes(given: Situation) -> tuple[str, ...]:
    """What was observed, and what the same numbers would mean if they were of the other kind."""
    observed = acceptance_at(given.sides, given.projections.verdict_length or 3)
    if observed is None:
        return ("No acceptance is known.",)
    if observed.kind == "prior" and observed.conditional is not None:
        span = observed.conditional
        believed = f"{_range(span.low, span.high)}, most likely {span.mid:.3g} ({observed.source})"
        return (f"No acceptance was measured. That of such drafters is believed to be conditional {believed}.",)
    stated = stated_acceptance(given.case)
    notes = []
    depth = "" if observed.depth is None else f" at K={observed.depth}"
    if stated is not None and stated.kind in {"conditional", "ratio"}:
        low, high = _ends(stated)
        notes.append(f"Acceptance is {_range(low, high)} of kind {stated.kind}{depth}.")
        other = _other_reading(given, stated)
        if other is not None:
            notes.append(other)
    elif stated is not None and stated.kind == "conditional-or-ratio":
        share = stated.conditional_share
        notes.append(
            f"Acceptance is {_range(*_ends(stated))} of unknown kind: conditional with a probability of {share:.0%}, "
            f"else a ratio{depth}."
        )
    elif observed.tokens is not None:
        tokens = observed.tokens
        spread = "" if is_point(tokens) else f" ({_range(tokens.low, tokens.high)})"
        notes.append(f"Acceptance is known as {observed.kind}{depth}: {tokens.mid:.3f} tokens per round{spread}.")
        if observed.requests is not None and observed.requests < ENOUGH_REQUESTS:
            notes.append(
                f"Not enough requests: {observed.requests} were seen one by one, and an interval over requests takes "
                f"{ENOUGH_REQUESTS}. Requests differ more than rounds of one request, so the interval is too narrow."
            )
    inverts = observed.kind not in {"conditional", "conditional-or-ratio"} and not given.knowledge.drafter_class.is_tree
    if observed.conditional is not None and inverts:
        span = observed.conditional
        notes.append(f"That inverts to conditional acceptance p {_range(span.low, span.high, 4)}.")
    return tuple(notes)


def _other_reading(given: Situation, stated: Acceptance) -> str | None:
    """Project once more with the numbers read as the other kind: the unit decides the verdict."""
    if given.sides.run is not None:
        return None
    kind = "conditional" if stated.kind == "ratio" else "ratio"
    depth = None if kind == "conditional" else stated.draft_length or 7
    changed = stated.model_copy(update={"kind": kind, "draft_length": depth})
    measurements = given.case.measurements.model_copy(update={"acceptance": changed})
    other = situation(given.case.model_copy(update={"measurements": measurements}), given.facts, given.knowledge)
    rates = _rates(other.projections)
    if rates is None:
        return None
    full = other.projections.envelope(lambda item: item.speedup)
    verdict = "would lose" if full.high is not None and full.high < 1 else "would not be a sure loss"
    band = other.projections.envelope(lambda item: item.declared)
    low, high = _ends(stated)
    return (
        f"The same {_range(low, high)} read as {kind}{f' at K={depth}' if kind == 'ratio' else ''} {verdict}: "
        f"{rates[0]:.1f} to {rates[1]:.1f} tok/s at the best draft lengths"
        + (f" (S {band.low:.2f} to {band.high:.2f})" if band.low is not None and band.high is not None else "")
        + ". The kind decides."
    )


def _rates(projections: Projections) -> tuple[float, float] | None:
    lows = [
        depth.band.ends("rate_tok_s")[0] for depth in projections.depths if depth.draft_length in projections.feasible
    ]
    highs = [
        depth.band.ends("rate_tok_s")[1] for depth in projections.depths if depth.draft_length in projections.feasible
    ]
    known = ([low for low in lows if low is not None], [high for high in highs if high is not None])
    return (max(known[0]), max(known[1])) if known[0] and known[1] else None


def _ends(stated: Acceptance) -> tuple[float, float]:
    value = stated.value if stated.value is not None else 0.0
    return (stated.low if stated.low is not None else value, stated.high if stated.high is not None else value)


def _range(low: float, high: float, digits: int = 3) -> str:
    return f"{low:.{digits}g}" if low == high else f"{low:.{digits}g} to {high:.{digits}g}"
