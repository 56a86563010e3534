from __future__ import annotations

from typing import Any

import pytest

from specrules.derive.overheads import per_round, per_token, round_behind
from specrules.derive.spans import Span

from .build import case, facts


def _per_token(overhead: dict[str, Any] | None, **more: Any) -> Span | None:
    one = case(measurements={"overhead": overhead}, **more)
    return per_token(one, facts(one))


CLIENT = {"rate_tok_s": 25, "rate_kind": "client"}


def test_what_is_paid_per_token_is_paid_per_token() -> None:
    assert _per_token({"ms": 5, "kind": "per_token"}, incumbent=CLIENT) == Span(5, 5, 5)
    assert per_round(case(measurements={"overhead": {"ms": 5, "kind": "per_token"}})) == Span(0, 0, 0)


def test_what_is_paid_per_request_is_shared_by_its_tokens() -> None:
    workload = {"output_tokens": 100}
    assert _per_token({"ms": 500, "kind": "per_request"}, incumbent=CLIENT, workload=workload) == Span(5, 5, 5)


def test_without_a_number_of_tokens_a_request_costs_a_token_between_nothing_and_what_its_rate_leaves() -> None:
    found = _per_token({"ms": 500, "kind": "per_request"}, incumbent=CLIENT)
    assert found is not None
    assert (found.low, found.mid) == (0, 0)
    assert found.high == pytest.approx(40)
    assert found.high < 40


def test_what_is_paid_per_round_is_no_overhead_of_tokens() -> None:
    overhead = {"ms": {"value": 5, "low": 4, "high": 7}, "kind": "per_round"}
    assert _per_token(overhead, incumbent=CLIENT) == Span(0, 0, 0)
    assert per_round(case(measurements={"overhead": overhead})) == Span(4, 5, 7)


def test_an_overhead_of_unknown_kind_is_taken_both_ways() -> None:
    overhead = {"ms": 5, "kind": "unknown"}
    assert _per_token(overhead, incumbent=CLIENT) == Span(0, 0, 5, "bounds")
    assert per_round(case(measurements={"overhead": overhead})) == Span(0, 0, 5, "bounds")


def test_without_an_overhead_nothing_is_paid() -> None:
    assert _per_token(None, incumbent=CLIENT) == Span(0, 0, 0)
    assert per_round(case()) == Span(0, 0, 0)


def test_decode_rates_hold_no_overhead_of_tokens_or_requests() -> None:
    decode = {"rate_tok_s": 25, "rate_kind": "decode"}
    assert _per_token({"ms": 5, "kind": "per_token"}, incumbent=decode) == Span(0, 0, 0)


@pytest.mark.parametrize("ms", [40, 41, 1000])
def test_an_overhead_that_takes_all_of_a_token_contradicts_the_rate(ms: float) -> None:
    assert _per_token({"ms": ms, "kind": "per_token"}, incumbent=CLIENT) is None


def test_a_high_end_that_takes_all_of_a_token_is_cut() -> None:
    found = _per_token({"ms": {"value": 5, "high": 60}, "kind": "per_token"}, incumbent=CLIENT)
    assert found is not None
    assert (found.low, found.mid) == (5, 5)
    assert 39.9 < found.high < 40


def test_an_overhead_stands_as_it_is_where_no_rate_is_known() -> None:
    assert _per_token({"ms": 60, "kind": "per_token"}) == Span(60, 60, 60)


def test_a_round_is_what_the_overhead_leaves_of_a_rate() -> None:
    assert round_behind(Span.exact(25.0), Span.exact(0.0), Span.exact(1.67)) == Span.exact(1.67 * 40)
    assert round_behind(Span(20.0, 25.0, 40.0), Span(0.0, 5.0, 10.0), Span.exact(2.0)) == Span(30, 70, 100)
    assert round_behind(Span.exact(25.0), Span(0.0, 0.0, 40.0), Span.exact(1.0)) is None
