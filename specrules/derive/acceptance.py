"""Acceptance as observed, and what it says about each draft length."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from math import isnan
from typing import Literal

from specrules.derive.priors import Beliefs, span_of_prior
from specrules.derive.spans import EitherKind, Shape, Span, is_point, span_of
from specrules.economics import acceptance as convert
from specrules.economics import sampling_error as errors
from specrules.model.acceptance import Acceptance, AcceptanceKind
from specrules.model.case import Case
from specrules.model.engine import Method
from specrules.model.fact import Fact, Facts

BELIEFS = frozenset({"conditional-or-ratio", "prior"})
"""Kinds whose interval already says how far acceptance may be off at any depth."""

_ROUNDED = 1.005
"""Printed tokens per round and counters are rounded; beyond this they contradict the draft length."""


@dataclass(frozen=True, slots=True)
class Observed:
    """Acceptance at the depth at which it was observed.

    `depth` is the configured draft length, None where the kind needs none or nobody stated it; `length` is K_eff,
    drafted over rounds, where the tokens were counted. `tokens` is A at that depth, `positions` the unconditional
    vector, `conditional` the p that the observation inverts to, `requests` how many requests were seen one by one.
    """

    kind: AcceptanceKind | Literal["prior"]
    depth: int | None = None
    ratio: Span | None = None
    tokens: Span | None = None
    positions: tuple[float, ...] = ()
    conditional: Span | None = None
    source: str = ""
    length: float | None = None
    histogram: tuple[float, ...] = ()
    requests: int | None = None

    def at(
        self, draft_length: int, *, spread: bool = True, chain: bool = True
    ) -> tuple[dict[str, object], dict[str, Span]]:
        """The inputs of the formulas for this draft length: fixed ones, and those that are intervals.

        Observed depths are used as they are, of a chain shorter prefixes of a vector too; other depths go through p,
        with the documented error of carrying it there unless `spread` is off. What a tree accepted inverts to no p, so
        it says nothing about other depths, and its ratio, whose drafted tokens are nodes, nothing about its own.
        """
        if not chain and self.kind != "conditional":
            if self.depth == draft_length and self.tokens is not None:
                return {"how": "measured"}, {"acceptance.tokens": self.tokens}
            return {"how": "conditional"}, {}
        spans = {"acceptance.conditional": self.conditional} if self.conditional else {}
        if self.positions and draft_length <= len(self.positions):
            return self._at_prefix(draft_length, spans)
        if self.depth == draft_length and self.kind != "conditional-or-ratio":
            if self.kind == "ratio" and self.ratio is not None:
                return {"how": "ratio"}, {**spans, "acceptance.ratio": self.ratio}
            if self.tokens is not None:
                return {"how": "measured"}, {**spans, "acceptance.tokens": self.tokens}
        measured = self.depth or self.length
        width = 0.0
        if spread and measured is not None and self.kind not in BELIEFS:
            width = float(convert.extrapolation_half_width(measured, draft_length))
        return {"how": "conditional"}, {**spans, "acceptance.spread": Span(1 - width, 1.0, 1 + width)}

    def _at_prefix(self, draft_length: int, spans: dict[str, Span]) -> tuple[dict[str, object], dict[str, Span]]:
        """Positions 1..K of a longer vector, with the error of the counts behind it where they are known."""
        prefix = self.positions[:draft_length]
        if self.histogram:
            cut = (*self.histogram[:draft_length], sum(self.histogram[draft_length:]))
            found = errors.histogram_interval(cut)
            return {"how": "measured"}, {**spans, "acceptance.tokens": Span(found.low, found.mid, found.high)}
        if self.tokens is None or is_point(self.tokens):
            return {"how": "positions", "acceptance.positions": prefix}, spans
        tokens = float(convert.tokens_from_positions(prefix))
        low, high = (end / self.tokens.mid * tokens for end in (self.tokens.low, self.tokens.high))
        return {"how": "measured"}, {
            **spans,
            "acceptance.tokens": Span(min(max(1.0, low), tokens), tokens, max(high, tokens)),
        }


def stated_acceptance(case: Case) -> Acceptance | None:
    """The acceptance that the case states, of the candidate's run where there is no other."""
    return case.measurements.acceptance or case.measurements.candidate.acceptance


def observed_acceptance(case: Case, facts: Facts, method: Method | None = None) -> Observed | None:
    """What is known about the candidate's acceptance: stated with its kind, else from evidence of the candidate.

    The method says whether position 0 of a vector is the anchor, unless the statement does.
    """
    anchored = method is not None and method.round.position_zero == "anchor"
    stated = stated_acceptance(case)
    if stated is not None:
        return from_statement(stated, anchored=anchored)
    return _from_facts(facts, anchored)


def believed_acceptance(facts: Facts, believed: Beliefs, draft_length: int) -> Observed | None:
    """The prior of acceptance at a draft length, for where nothing was observed. A run that did not draft was."""
    prior = believed.about("conditional_acceptance", draft_length)
    if prior is None or facts.value("candidate.drafting") is False:
        return None
    return Observed("prior", conditional=span_of_prior(prior), source=f"prior {prior.id}")


def from_statement(stated: Acceptance, *, anchored: bool = False) -> Observed:
    """Read an acceptance of any kind. ValueError where its numbers lie outside what the kind allows."""
    source = stated.source
    if stated.kind == "conditional-or-ratio":
        return Observed(stated.kind, _depth(stated), conditional=_either(stated), source=source)
    if stated.kind == "conditional":
        return Observed("conditional", stated.draft_length, conditional=_span(stated), source=source)
    if stated.kind == "ratio":
        ratio, depth = _span(stated), _depth(stated)
        conditional = _each(ratio, lambda value: convert.conditional_from_ratio(value, depth))
        return Observed("ratio", depth, ratio=ratio, conditional=conditional, source=source)
    if stated.kind == "tokens_per_round":
        tokens, depth = _span(stated), _depth(stated)
        _check_reach(tokens.high, depth)
        return _from_tokens("tokens_per_round", tokens, depth, source)
    if stated.kind == "counts" and stated.accepted is not None and stated.rounds is not None:
        return _from_counts(stated.accepted, stated.rounds, stated.drafted, stated.draft_length, source)
    positions = (
        tuple(stated.vector)
        if stated.kind == "position_vector"
        else tuple(float(share) for share in convert.positions_from_histogram(stated.histogram))
    )
    anchor = stated.anchor if "anchor" in stated.model_fields_set else anchored
    if stated.kind == "position_vector" and anchor:
        positions = _behind_anchor(positions)
    if stated.kind == "histogram":
        found = errors.histogram_interval(stated.histogram)
        observed = _from_positions(stated.kind, positions, source, Span(found.low, found.mid, found.high))
        return replace(observed, histogram=tuple(stated.histogram))
    return _from_positions(stated.kind, positions, source)


def _from_counts(accepted: float, rounds: float, drafted: float | None, depth: int | None, source: str) -> Observed:
    exact = float(convert.tokens_from_counts(accepted, rounds))
    length = drafted / rounds if drafted else depth
    if length is not None and depth is not None and length > depth * _ROUNDED:
        raise ValueError(f"{length:g} tokens drafted per round are more than the draft length, {depth}")
    if length is None:
        return _from_tokens("counts", Span.exact(exact), depth, source, length)
    _check_reach(exact, length)
    return _from_tokens("counts", _counted(exact, accepted, length * rounds, length), depth, source, length)


def _counted(tokens: float, accepted: float, drafted: float, length: float) -> Span:
    """A with the error of counting it over so many drafted tokens, which hang together inside a round."""
    ratio = errors.ratio_interval(min(accepted, drafted), drafted, length)
    low, high = (1 + end * length for end in (ratio.low, ratio.high))
    return Span(min(low, tokens), tokens, max(high, tokens))


def _over_requests(fact: Fact | None) -> Span | None:
    """A with its interval over requests, where enough were seen one by one."""
    if fact is None or not isinstance(fact.value, float) or len(fact.samples) < errors.ENOUGH_REQUESTS:
        return None
    half = errors.mean_error(fact.samples)
    return Span(max(1.0, fact.value - half), fact.value, fact.value + half)


def _observed_tokens(facts: Facts, length: float | None) -> Span | None:
    """A of the candidate's run: over requests, else over its counts, else as it was read."""
    fact = facts.get("candidate.tokens_per_round")
    over_requests = _over_requests(fact)
    if over_requests is not None or fact is None or not isinstance(fact.value, float):
        return over_requests
    accepted, drafted = facts.number("candidate.accepted"), facts.number("candidate.drafted")
    if fact.low is None and fact.high is None and length and drafted and accepted is not None:
        with suppress(ValueError):  # counters that contradict each other give no error of their own
            return _counted(fact.value, accepted, drafted, length)
    return span_of(fact)


def _check_reach(tokens: float, length: float) -> None:
    if tokens > (length + 1) * _ROUNDED:
        raise ValueError(f"{tokens:g} tokens per round cannot be: a round of {length:g} drafted commits {length + 1:g}")


def _from_facts(facts: Facts, anchored: bool) -> Observed | None:
    if facts.value("candidate.drafting") is False:
        return None
    length = facts.number("candidate.draft_length")
    effective = facts.number("candidate.mean_draft_length") or length
    tokens = _observed_tokens(facts, effective)
    fact = facts.get("candidate.tokens_per_round")
    requests = len(fact.samples) if fact is not None and fact.samples else None
    source = "" if fact is None else fact.provenance.source
    positions = facts.value("candidate.position_acceptance")
    if isinstance(positions, tuple) and positions:
        source = facts["candidate.position_acceptance"].provenance.source
        with suppress(ValueError):  # a vector that rises is no vector; the counts of the same file still are
            vector = _behind_anchor(positions) if anchored else positions
            return replace(_from_positions("position_vector", vector, source, tokens), requests=requests)
    if tokens is None:
        return None
    depth = None if length is None else int(length)
    return replace(_from_tokens("counts", tokens, depth, source, effective), requests=requests)


def _behind_anchor(positions: tuple[float, ...]) -> tuple[float, ...]:
    if len(positions) < 2:
        raise ValueError("the vector holds the anchor alone, and no drafted position")
    return positions[1:]


def _from_positions(
    kind: AcceptanceKind, positions: tuple[float, ...], source: str, counted: Span | None = None
) -> Observed:
    """A vector, whose sum carries the error of the tokens per round that were counted beside it."""
    exact = float(convert.tokens_from_positions(positions))
    tokens = Span.exact(exact)
    if counted is not None:
        low, high = (exact * end / counted.mid for end in (counted.low, counted.high))
        tokens = Span(min(max(1.0, low), exact), exact, max(min(high, len(positions) + 1.0), exact))
    conditional = _each(tokens, lambda value: convert.conditional_from_tokens(value, len(positions)))
    return Observed(kind, len(positions), tokens=tokens, positions=positions, conditional=conditional, source=source)


def _from_tokens(
    kind: AcceptanceKind, tokens: Span, depth: int | None, source: str, effective: float | None = None
) -> Observed:
    """K_eff is no integer where the draft length varies; p is inverted at K_eff and A is used at the configured K."""
    length = effective or depth
    if depth is None and length is not None and length == int(length):
        depth = int(length)
    conditional = _each(tokens, lambda value: convert.conditional_from_tokens(value, length)) if length else None
    return Observed(kind, depth, tokens=tokens, conditional=conditional, source=source, length=effective)


def _span(stated: Acceptance) -> Span:
    low = stated.low if stated.low is not None else stated.value
    high = stated.high if stated.high is not None else stated.value
    if low is None or high is None:
        raise ValueError(f"acceptance of kind {stated.kind!r} has no value")
    return Span(low, stated.value if stated.value is not None else (low + high) / 2, high, stated.distribution)


def _either(stated: Acceptance) -> EitherKind:
    """The p of a number of unknown kind. Its middle is that of the likelier kind, in doubt of the ratio."""
    span, depth, share = _span(stated), _depth(stated), stated.conditional_share
    from_ratio = span.map(lambda ratio: convert.conditional_from_ratio(ratio, depth))
    mid = span.mid if share > 0.5 else from_ratio.mid
    return EitherKind(
        min(span.low, from_ratio.low), mid, max(span.high, from_ratio.high), "interval", span, share, depth
    )


def _depth(stated: Acceptance) -> int:
    if stated.draft_length is None:
        raise ValueError(f"acceptance of kind {stated.kind!r} has no draft length")
    return stated.draft_length


def _each(span: Span, convert_one: Callable[[float], float]) -> Span | None:
    ends = [convert_one(end) for end in (span.low, span.mid, span.high)]
    return None if any(isnan(end) for end in ends) else Span(ends[0], ends[1], ends[2], _carried(span.shape))


def _carried(shape: Shape) -> Shape:
    """The shape of what rises with the value but not in proportion: bounds stay bounds, uniform does not."""
    return shape if shape == "bounds" else "interval"
