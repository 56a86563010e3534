"""What the formulas are fed from: the case, its facts and steps, and a measured run of the candidate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import hypot

from specrules.derive.acceptance import Observed, believed_acceptance
from specrules.derive.overheads import per_token
from specrules.derive.priors import Beliefs
from specrules.derive.spans import Span, is_point, span_of, widened
from specrules.derive.steps import Steps
from specrules.economics.acceptance import tokens_per_round
from specrules.model.case import Case
from specrules.model.drafter import DrafterClass
from specrules.model.engine import Method
from specrules.model.fact import Facts


@dataclass(frozen=True, slots=True)
class Run:
    """A measured run of this very candidate that really drafted: its rate, tokens per drafting round and depth.

    `rate` is that of the run, with the error of timing it; its round follows from it. `delivered` is what the candidate
    delivers on other requests too, whose acceptance may differ as far as its own error says.
    """

    rate: Span
    delivered: Span
    tokens: Span | None
    draft_length: int | None


@dataclass(frozen=True, slots=True)
class Sides:
    """Everything that the formulas are fed from."""

    case: Case
    facts: Facts
    steps: Steps
    drafter_class: DrafterClass
    method: Method | None
    observed: Observed | None
    run: Run | None
    thresholds: Mapping[str, float]
    beliefs: Beliefs


def acceptance_at(sides: Sides, draft_length: int) -> Observed | None:
    """What was observed of acceptance, else what is believed of it at this draft length."""
    return sides.observed or believed_acceptance(sides.facts, sides.beliefs, draft_length)


def measured_run(
    case: Case, facts: Facts, observed: Observed | None, thresholds: Mapping[str, float], *, is_tree: bool = False
) -> Run | None:
    """The candidate's run, where one was measured and did draft. Its rate gets an error where nobody stated one.

    Its depth is the stated one, else that of its acceptance, else the one that the case wants to deploy at.
    """
    rate = span_of(facts.get("candidate.rate_tok_s"))
    if rate is None or facts.value("candidate.drafting") is False:
        return None
    length = facts.number("candidate.draft_length")
    depth = int(length) if length is not None else (observed.depth if observed else None) or case.engine.draft_length
    tokens = span_of(facts.get("candidate.tokens_per_round"))
    if tokens is None and observed is not None and observed.depth == depth:
        tokens = observed.tokens
        if tokens is None and observed.ratio is not None and depth is not None and not is_tree:
            ratio = observed.ratio
            tokens = Span(1 + ratio.low * depth, 1 + ratio.mid * depth, 1 + ratio.high * depth, ratio.shape)
    timed = widened(rate, thresholds["unknown_error"])
    return Run(timed, _delivered(timed, observed), tokens, depth)


def _delivered(timed: Span, observed: Observed | None) -> Span:
    """The rate with the error of its acceptance, both relative errors added as independent ones."""
    tokens = None if observed is None else observed.tokens
    if tokens is None or is_point(tokens):
        return timed
    low = hypot(1 - timed.low / timed.mid, 1 - tokens.low / tokens.mid)
    high = hypot(timed.high / timed.mid - 1, tokens.high / tokens.mid - 1)
    return Span(timed.mid * (1 - low), timed.mid, timed.mid * (1 + high))


def run_tokens(sides: Sides, draft_length: int) -> float | None:
    """Tokens per round of the measured run: as counted, else at the acceptance that this draft length goes by.

    The same acceptance then stands on both sides, so that most of its error cancels between the two depths. None where
    neither is known, and for trees, whose acceptance inverts to no p.
    """
    run = sides.run
    if run is None or run.tokens is not None or run.draft_length is None or sides.drafter_class.is_tree:
        return None if run is None or run.tokens is None else run.tokens.mid
    observed = acceptance_at(sides, draft_length)
    if observed is None or observed.conditional is None:
        return None
    return float(tokens_per_round(observed.conditional.mid, float(run.draft_length)))


def run_round(sides: Sides, draft_length: int | None = None) -> float | None:
    """The round that the measured run implies, in ms: its tokens over its rate, less what both sides pay per token.

    Where a share phi of the rounds drafts, it is that of a drafting round, whose tokens the run counts; the others take
    a plain step and commit one token. With a draft length, tokens that nobody counted are those of the acceptance that
    it goes by. None where the run, its tokens or that share is not known.
    """
    run, paid = sides.run, per_token(sides.case, sides.facts)
    if run is None or paid is None:
        return None
    tokens = None if run.tokens is None else run.tokens.mid
    if tokens is None and draft_length is not None:
        tokens = run_tokens(sides, draft_length)
    if tokens is None:
        return None
    per_rate = 1000 / run.rate.mid - paid.mid
    if sides.drafter_class.covers_every_round:
        return tokens * per_rate
    share, plain = sides.facts.number("drafter.coverage"), sides.steps.plain
    if not share or plain is None:
        return None
    return ((share * tokens + 1 - share) * per_rate - (1 - share) * plain.mid) / share
