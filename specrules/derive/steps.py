"""Step times of the target: the plain step, the incumbent's round, and what one says about the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from specrules.derive.spans import Span, from_quantity, inverse, span_of
from specrules.model.case import Case
from specrules.model.fact import Facts

_SAME = 0.01


@dataclass(frozen=True, slots=True)
class Steps:
    """What is known about target passes. All times are in milliseconds.

    `plain` is t1, one undrafted step; `declared` is the step time as the case states it (else the plain step, else the
    incumbent's round); `incumbent_round` is T_i. `declared_is_round` marks a declared step that is the whole round of
    an incumbent that drafts, so that it contains a head, a verify pass and the host.
    """

    plain: Span | None
    declared: Span | None
    incumbent_round: Span | None
    declared_is_round: bool
    incumbent_draft_length: int | None
    head_share: float

    def pass_floor(self, draft_length: int) -> float:
        """Least time of a target pass over draft_length + 1 rows.

        V(w) >= t1 where the plain step is known. Where only the round of an incumbent that drafts is known, V(w) >=
        T_i / (1 + h) for w >= K_i + 1, h being the share of its head and host. Else nothing is known: 0.
        """
        if self.plain is not None:
            return self.plain.low
        if self.incumbent_round is None or self.incumbent_draft_length is None:
            return 0.0
        if draft_length < self.incumbent_draft_length:
            return 0.0
        return self.incumbent_round.low / (1 + self.head_share)

    def plain_range(self) -> Span | None:
        """t1 where it is known, else its interval [T_i / ((1 + h) v), T_i], with v at most K_i + 1 rows."""
        if self.plain is not None or self.incumbent_round is None or self.incumbent_draft_length is None:
            return self.plain
        low = self.incumbent_round.low / ((1 + self.head_share) * (self.incumbent_draft_length + 1))
        return Span(low, self.incumbent_round.mid, self.incumbent_round.high)


def step_times(case: Case, facts: Facts, thresholds: Mapping[str, float]) -> Steps:
    """Sort out the step times of a case."""
    declared = span_of(facts.get("target.step_ms"))
    incumbent_round = _incumbent_round(facts)
    is_round = _is_incumbent_round(case, facts, declared, incumbent_round)
    plain = _plain(case, facts, None if is_round else declared)
    length = facts.number("incumbent.draft_length")
    head = span_of(facts.get("incumbent.head_share"))
    return Steps(
        plain=plain,
        declared=declared or plain or incumbent_round,
        incumbent_round=incumbent_round,
        declared_is_round=is_round or (declared is None and plain is None and incumbent_round is not None),
        incumbent_draft_length=None if length is None else int(length),
        head_share=head.high if head else thresholds["head_share_max"],
    )


def _incumbent_round(facts: Facts) -> Span | None:
    if facts.value("incumbent.drafting") is not True:
        return None
    stated = span_of(facts.get("incumbent.round_ms"))
    tokens, rate = span_of(facts.get("incumbent.tokens_per_round")), span_of(facts.get("incumbent.rate_tok_s"))
    if stated is not None or tokens is None or rate is None:
        return stated
    return Span(1000 * tokens.low / rate.high, 1000 * tokens.mid / rate.mid, 1000 * tokens.high / rate.low)


def _is_incumbent_round(case: Case, facts: Facts, declared: Span | None, incumbent_round: Span | None) -> bool:
    """Whether the stated step is a round of a drafting incumbent. In doubt it is: it is then no ceiling."""
    if declared is None or facts.value("incumbent.drafting") is not True:
        return False
    if case.target.step_is is not None:
        return case.target.step_is == "incumbent-round"
    return incumbent_round is None or abs(declared.mid - incumbent_round.mid) <= _SAME * incumbent_round.mid


def _plain(case: Case, facts: Facts, declared_plain: Span | None) -> Span | None:
    off = span_of(facts.get("off.rate_tok_s"))
    if off is not None:
        return inverse(off, 1000)
    if facts.value("incumbent.drafting") is False:
        rate = span_of(facts.get("incumbent.rate_tok_s"))
        if rate is not None:
            return inverse(rate, 1000)
    if declared_plain is not None and (case.target.step_is == "plain" or facts.value("incumbent.drafting") is not None):
        return declared_plain
    for point in case.measurements.verify_curve:
        if point.width == 1:
            return from_quantity(point.ms)
    return None
