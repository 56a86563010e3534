"""What is paid beside drafting and verifying, and what that leaves of a rate for the rounds themselves.

What both sides pay per token or per request is part of the incumbent's rate, and of every other rate that is counted
as clients see it. It leaves the sign of a comparison alone and has to be taken off a rate before a step time is read
from it. What is paid per round is paid by whoever drafts.
"""

from __future__ import annotations

from specrules.derive.spans import Span, from_quantity, span_of
from specrules.model.case import Case
from specrules.model.fact import Facts

_NONE = Span.exact(0.0)
_JUST_BELOW = 1 - 1e-9


def per_round(case: Case) -> Span:
    """Milliseconds that a round costs beside drafting and verifying; of an unknown kind: from 0 to all of it."""
    overhead = case.measurements.overhead
    if overhead is None or overhead.kind not in {"per_round", "unknown"}:
        return _NONE
    span = from_quantity(overhead.ms)
    return span if overhead.kind == "per_round" else Span(0.0, 0.0, span.high, "bounds")


def per_token(case: Case, facts: Facts) -> Span | None:
    """Milliseconds that both sides pay per token beside their rounds, 0 where the incumbent's rate is decode-only.

    A high end that would leave the incumbent no time for its tokens is taken down to what does: with more it could not
    deliver its rate. None where the overhead itself says so, because the two numbers then contradict each other.
    """
    overhead = case.measurements.overhead
    if overhead is None or overhead.kind == "per_round" or facts.value("incumbent.rate_kind") == "decode":
        return _NONE
    span = from_quantity(overhead.ms)
    if overhead.kind == "per_request":
        tokens = facts.number("workload.output_tokens")
        span = (
            Span(span.low / tokens, span.mid / tokens, span.high / tokens)
            if tokens
            else Span(0.0, 0.0, span.high, "bounds")
        )
    elif overhead.kind == "unknown":
        span = Span(0.0, 0.0, span.high, "bounds")
    rate = span_of(facts.get("incumbent.rate_tok_s"))
    if rate is None:
        return span
    limit = 1000 / rate.high
    if span.mid >= limit:
        return None
    return Span(span.low, span.mid, max(span.mid, min(span.high, _JUST_BELOW * limit)), span.shape)


def round_behind(rate: Span, overhead: Span, tokens: Span) -> Span | None:
    """The round that a rate and its tokens per round imply once the overhead per token is taken off, in ms.

    None where nothing is left at some end.
    """
    ends = (
        tokens.low * (1000 / rate.high - overhead.high),
        tokens.mid * (1000 / rate.mid - overhead.mid),
        tokens.high * (1000 / rate.low - overhead.low),
    )
    return Span(*ends) if ends[0] > 0 else None
