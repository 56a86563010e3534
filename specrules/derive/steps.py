"""Step times of the target: the plain step, the incumbent's round, and what one says about the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from specrules.derive.curve import verify_curve
from specrules.derive.mixture import mixed_drafters
from specrules.derive.overheads import per_token, round_behind
from specrules.derive.spans import Span, span_of
from specrules.model.case import Case
from specrules.model.fact import Facts

_SAME = 0.01
_ONE_TOKEN = Span.exact(1.0)


@dataclass(frozen=True, slots=True)
class Steps:
    """What is known about target passes. All times are in milliseconds.

    `plain` is t1, one undrafted step, and `plain_source` says where it comes from; `incumbent_round` is T_i. `declared`
    is the step time as the case states it, else the plain step, else the incumbent's round; a stated step that is the
    round of an incumbent that drafts gives way to a plain step once that is known. `declared_is_round` marks a declared
    step that is such a round, so that it contains a head, a verify pass and the host.
    """

    plain: Span | None
    declared: Span | None
    incumbent_round: Span | None
    declared_is_round: bool
    incumbent_draft_length: int | None
    head_share: float
    plain_source: str = ""

    def round_floor(self, draft_length: int) -> float:
        """Least time of a pass over draft_length + 1 rows as the incumbent's round has it, which needs no t1.

        T_i / (1 + h) for w >= K_i + 1, h being the share of head and host in that round; 0 for fewer rows.
        """
        if self.incumbent_round is None or self.incumbent_draft_length is None:
            return 0.0
        if draft_length < self.incumbent_draft_length:
            return 0.0
        return self.incumbent_round.low / (1 + self.head_share)

    def pass_floor(self, draft_length: int) -> float:
        """Least time of a target pass over draft_length + 1 rows: V(w) >= t1, and what the incumbent's round says."""
        plain = 0.0 if self.plain is None else self.plain.low
        return max(plain, self.round_floor(draft_length))

    def plain_range(self) -> Span | None:
        """t1 where it is known, else its interval [T_i / ((1 + h) v), T_i], with v at most K_i + 1 rows."""
        if self.plain is not None or self.incumbent_round is None or self.incumbent_draft_length is None:
            return self.plain
        low = self.incumbent_round.low / ((1 + self.head_share) * (self.incumbent_draft_length + 1))
        return Span(low, self.incumbent_round.mid, self.incumbent_round.high)


def step_times(case: Case, facts: Facts, thresholds: Mapping[str, float]) -> Steps:
    """Sort out the step times of a case."""
    declared = span_of(facts.get("target.step_ms"))
    overhead = per_token(case, facts) or Span.exact(0.0)
    incumbent_round = _incumbent_round(facts, overhead)
    is_round = _is_incumbent_round(case, facts, declared, incumbent_round)
    plain, source = _plain(case, facts, None if is_round else declared, overhead)
    if is_round and plain is not None:
        declared, is_round = plain, False
    # Rounds of several drafters have several widths, so that their mean bounds no pass.
    length = None if mixed_drafters(facts)[0] else facts.number("incumbent.draft_length")
    head = span_of(facts.get("incumbent.head_share"))
    return Steps(
        plain=plain,
        declared=declared or plain or incumbent_round,
        incumbent_round=incumbent_round,
        declared_is_round=is_round or (declared is None and plain is None and incumbent_round is not None),
        incumbent_draft_length=None if length is None else int(length),
        head_share=head.high if head else thresholds["head_share_max"],
        plain_source=source,
    )


def _incumbent_round(facts: Facts, overhead: Span) -> Span | None:
    if facts.value("incumbent.drafting") is not True:
        return None
    stated = span_of(facts.get("incumbent.round_ms"))
    tokens, rate = span_of(facts.get("incumbent.tokens_per_round")), span_of(facts.get("incumbent.rate_tok_s"))
    if stated is not None or tokens is None or rate is None:
        return stated
    return round_behind(rate, overhead, tokens)


def _is_incumbent_round(case: Case, facts: Facts, declared: Span | None, incumbent_round: Span | None) -> bool:
    """Whether the stated step is a round of a drafting incumbent. In doubt it is: it is then no ceiling."""
    if declared is None or facts.value("incumbent.drafting") is not True:
        return False
    if case.target.step_is is not None:
        return case.target.step_is == "incumbent-round"
    return incumbent_round is None or abs(declared.mid - incumbent_round.mid) <= _SAME * incumbent_round.mid


def _plain(case: Case, facts: Facts, declared: Span | None, overhead: Span) -> tuple[Span | None, str]:
    """t1 from the best source: a rate with drafting off, a stated step, a verify curve; and which one that is."""
    arms = ["off"] if facts.value("incumbent.drafting") is not False else ["off", "incumbent"]
    for arm in arms:
        rate = span_of(facts.get(f"{arm}.rate_tok_s"))
        if rate is not None:
            paid = Span.exact(0.0) if facts.value(f"{arm}.rate_kind") == "decode" else overhead
            step = round_behind(rate, paid, _ONE_TOKEN)
            return step, f"{arm}.rate_tok_s" if step else ""
    if declared is not None and (case.target.step_is == "plain" or facts.value("incumbent.drafting") is not None):
        return declared, "target.step_ms"
    for point in verify_curve(case, facts):
        if point.width == 1:
            return point.ms, "V(1)"
    return None, ""
