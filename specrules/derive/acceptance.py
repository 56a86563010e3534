"""Acceptance as observed, and what it says about each draft length."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from math import isnan

from specrules.derive.spans import Span, span_of
from specrules.economics import acceptance as convert
from specrules.model.acceptance import Acceptance, AcceptanceKind
from specrules.model.case import Case
from specrules.model.engine import Method
from specrules.model.fact import Facts

_ROUNDED = 1.005
"""Printed tokens per round and counters are rounded; beyond this they contradict the draft length."""


@dataclass(frozen=True, slots=True)
class Observed:
    """Acceptance at the depth at which it was observed.

    `depth` is the configured draft length, None where the kind needs none or nobody stated it; `length` is K_eff,
    drafted over rounds, where the tokens were counted. `tokens` is A at that depth, `positions` the unconditional
    vector, `conditional` the p that the observation inverts to.
    """

    kind: AcceptanceKind
    depth: int | None = None
    ratio: Span | None = None
    tokens: Span | None = None
    positions: tuple[float, ...] = ()
    conditional: Span | None = None
    source: str = ""
    length: float | None = None

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
            return {"how": "positions", "acceptance.positions": self.positions[:draft_length]}, spans
        if self.depth == draft_length:
            if self.kind == "ratio" and self.ratio is not None:
                return {"how": "ratio"}, {**spans, "acceptance.ratio": self.ratio}
            if self.tokens is not None:
                return {"how": "measured"}, {**spans, "acceptance.tokens": self.tokens}
        measured = self.depth or self.length
        width = 0.0
        if spread and measured is not None:
            width = float(convert.extrapolation_half_width(measured, draft_length))
        return {"how": "conditional"}, {**spans, "acceptance.spread": Span(1 - width, 1.0, 1 + width)}


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


def from_statement(stated: Acceptance, *, anchored: bool = False) -> Observed:
    """Read an acceptance of any kind. ValueError where its numbers lie outside what the kind allows."""
    source = stated.source
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
    return _from_positions(stated.kind, positions, source)


def _from_counts(accepted: float, rounds: float, drafted: float | None, depth: int | None, source: str) -> Observed:
    tokens = Span.exact(float(convert.tokens_from_counts(accepted, rounds)))
    length = drafted / rounds if drafted else depth
    if length is not None and depth is not None and length > depth * _ROUNDED:
        raise ValueError(f"{length:g} tokens drafted per round are more than the draft length, {depth}")
    if length is not None:
        _check_reach(tokens.high, length)
    return _from_tokens("counts", tokens, depth, source, length)


def _check_reach(tokens: float, length: float) -> None:
    if tokens > (length + 1) * _ROUNDED:
        raise ValueError(f"{tokens:g} tokens per round cannot be: a round of {length:g} drafted commits {length + 1:g}")


def _from_facts(facts: Facts, anchored: bool) -> Observed | None:
    if facts.value("candidate.drafting") is False:
        return None
    length = facts.number("candidate.draft_length")
    positions = facts.value("candidate.position_acceptance")
    if isinstance(positions, tuple) and positions:
        source = facts["candidate.position_acceptance"].provenance.source
        with suppress(ValueError):  # a vector that rises is no vector; the counts of the same file still are
            return _from_positions("position_vector", _behind_anchor(positions) if anchored else positions, source)
    tokens = span_of(facts.get("candidate.tokens_per_round"))
    if tokens is None:
        return None
    effective = facts.number("candidate.mean_draft_length") or length
    source = facts["candidate.tokens_per_round"].provenance.source
    return _from_tokens("counts", tokens, None if length is None else int(length), source, effective)


def _behind_anchor(positions: tuple[float, ...]) -> tuple[float, ...]:
    if len(positions) < 2:
        raise ValueError("the vector holds the anchor alone, and no drafted position")
    return positions[1:]


def _from_positions(kind: AcceptanceKind, positions: tuple[float, ...], source: str) -> Observed:
    tokens = Span.exact(float(convert.tokens_from_positions(positions)))
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
    return Span(low, stated.value if stated.value is not None else (low + high) / 2, high)


def _depth(stated: Acceptance) -> int:
    if stated.draft_length is None:
        raise ValueError(f"acceptance of kind {stated.kind!r} has no draft length")
    return stated.draft_length


def _each(span: Span, convert_one: Callable[[float], float]) -> Span | None:
    ends = [convert_one(end) for end in (span.low, span.mid, span.high)]
    return None if any(isnan(end) for end in ends) else Span(*ends)
