from __future__ import annotations

from typing import Any

import pytest

from specrules.derive.spans import Span
from specrules.derive.steps import Steps, step_times

from .build import case, facts, thresholds

MTP = {"drafting": True, "method": "draft-mtp", "draft_length": 1, "rate_tok_s": 25, "tokens_per_round": 1.67}
CURVE = [{"width": 1, "ms": 8.47}, {"width": 2, "ms": 13.49}]


def steps(more: dict[str, Any] | None = None, **parts: Any) -> Steps:
    one = case(**parts)
    return step_times(one, facts(one, **(more or {})), thresholds())


def test_without_drafting_the_incumbents_rate_is_the_plain_step() -> None:
    found = steps(incumbent={"drafting": False, "rate_tok_s": {"value": 25, "low": 20, "high": 40}})
    assert found.plain == Span(25, 40, 50)
    assert found.plain_source == "incumbent.rate_tok_s"
    assert found.declared == found.plain
    assert found.incumbent_round is None


def test_with_drafting_it_is_a_whole_round_and_no_step() -> None:
    found = steps(incumbent=MTP)
    assert found.plain is None
    assert found.incumbent_round == Span.exact(66.8)
    assert found.declared == Span.exact(66.8)
    assert found.declared_is_round


def test_the_round_of_an_incumbent_has_the_errors_of_both_numbers() -> None:
    rate, tokens = {"value": 25, "low": 24, "high": 26}, {"value": 1.67, "low": 1.6, "high": 1.7}
    found = steps(incumbent={**MTP, "rate_tok_s": rate, "tokens_per_round": tokens}).incumbent_round
    assert found == Span(1600 / 26, 1670 / 25, 1700 / 24)


def test_a_stated_round_goes_before_a_computed_one() -> None:
    assert steps(incumbent={**MTP, "round_ms": 65}).incumbent_round == Span.exact(65.0)


@pytest.mark.parametrize("stated", [66.2, 66.8, 67, 67.4])
def test_a_step_within_one_per_cent_of_the_round_is_that_round(stated: float) -> None:
    found = steps(target={"step_ms": stated}, incumbent=MTP)
    assert found.declared_is_round
    assert found.plain is None
    assert found.declared == Span.exact(stated)


@pytest.mark.parametrize("stated", [40, 66.1, 67.5])
def test_a_step_apart_from_the_round_is_a_step(stated: float) -> None:
    found = steps(target={"step_ms": stated}, incumbent=MTP)
    assert not found.declared_is_round
    assert found.plain == Span.exact(stated)
    assert found.plain_source == "target.step_ms"


def test_without_accounting_of_a_drafting_incumbent_a_step_is_in_doubt_and_no_plain_step() -> None:
    found = steps(target={"step_ms": 40}, incumbent={"drafting": True, "rate_tok_s": 25})
    assert found.declared_is_round
    assert found.plain is None


def test_a_case_may_say_which_step_it_states() -> None:
    assert steps(target={"step_ms": 67, "step_is": "plain"}, incumbent=MTP).plain == Span.exact(67.0)
    assert steps(target={"step_ms": 40, "step_is": "incumbent-round"}, incumbent=MTP).plain is None
    assert steps(target={"step_ms": 40, "step_is": "plain"}).plain == Span.exact(40.0)


def test_while_nobody_knows_whether_the_incumbent_drafts_a_step_is_no_plain_step() -> None:
    found = steps(target={"step_ms": 40}, incumbent={"rate_tok_s": 25})
    assert found.plain is None
    assert found.declared == Span.exact(40.0)
    assert not found.declared_is_round


def test_a_run_with_drafting_off_is_the_best_plain_step_and_replaces_a_stated_round() -> None:
    found = steps(target={"step_ms": 67}, incumbent=MTP, measurements={"off": {"rate_tok_s": 20}})
    assert found.plain == Span.exact(50.0)
    assert found.plain_source == "off.rate_tok_s"
    assert found.declared == Span.exact(50.0)
    assert not found.declared_is_round


def test_a_stated_plain_step_stays_the_declared_one_beside_a_run() -> None:
    target = {"step_ms": 48, "step_is": "plain"}
    found = steps(target=target, incumbent=MTP, measurements={"off": {"rate_tok_s": 20}})
    assert found.plain == Span.exact(50.0)
    assert found.declared == Span.exact(48.0)


def test_width_one_of_a_verify_curve_is_a_plain_step() -> None:
    found = steps(incumbent={"drafting": True}, measurements={"verify_curve": CURVE})
    assert (found.plain, found.plain_source) == (Span.exact(8.47), "V(1)")
    assert steps(incumbent={"drafting": True}, measurements={"verify_curve": CURVE[1:]}).plain is None


def test_an_overhead_per_token_is_taken_off_client_rates() -> None:
    paid = {"overhead": {"ms": 10, "kind": "per_token"}}
    plain = {"drafting": False, "rate_tok_s": 25, "rate_kind": "client"}
    assert steps(incumbent=plain, measurements=paid).plain == Span.exact(30.0)
    round_ms = steps(incumbent={**MTP, "rate_kind": "client"}, measurements=paid).incumbent_round
    assert round_ms is not None
    assert round_ms.mid == pytest.approx(1.67 * 30)
    off = {**paid, "off": {"rate_tok_s": 20, "rate_kind": "decode"}}
    assert steps(incumbent={**MTP, "rate_kind": "client"}, measurements=off).plain == Span.exact(50.0)


def test_an_overhead_that_may_take_all_of_a_token_leaves_no_plain_step() -> None:
    paid = {"overhead": {"ms": 500, "kind": "per_request"}}
    found = steps(incumbent={"drafting": False, "rate_tok_s": 25, "rate_kind": "client"}, measurements=paid)
    assert found.plain is not None
    assert found.plain.low < 1e-6
    faster = {**paid, "off": {"rate_tok_s": 50}}
    assert steps(incumbent={**MTP, "rate_kind": "client"}, measurements=faster).plain is None


class TestFloors:
    def test_a_pass_is_no_shorter_than_a_plain_step(self) -> None:
        found = steps(incumbent={"drafting": False, "rate_tok_s": {"value": 25, "low": 24, "high": 26}})
        assert found.pass_floor(1) == found.pass_floor(7) == pytest.approx(1000 / 26)

    def test_beside_an_incumbent_that_drafts_its_round_less_head_and_host_is_the_floor(self) -> None:
        found = steps(target={"step_ms": 67}, incumbent=MTP)
        assert found.pass_floor(1) == found.pass_floor(7) == pytest.approx(66.8 / 1.15)

    def test_but_only_for_passes_as_wide_as_its_own(self) -> None:
        found = steps(incumbent={**MTP, "draft_length": 3})
        assert found.pass_floor(2) == 0
        assert found.pass_floor(3) == pytest.approx(66.8 / 1.15)

    def test_a_measured_head_share_goes_before_the_largest_plausible_one(self) -> None:
        share = {"value": 0.04, "high": 0.05}
        assert steps(incumbent={**MTP, "head_share": share}).pass_floor(1) == pytest.approx(66.8 / 1.05)

    def test_a_plain_step_never_lowers_what_the_round_says(self) -> None:
        known = steps(incumbent=MTP, measurements={"off": {"rate_tok_s": 25}})
        assert known.plain == Span.exact(40.0)
        assert known.pass_floor(1) == pytest.approx(66.8 / 1.15)
        slower = steps(incumbent=MTP, measurements={"off": {"rate_tok_s": 16}})
        assert slower.pass_floor(1) == 62.5

    def test_with_nothing_known_the_floor_is_nothing(self) -> None:
        assert steps(target={"step_ms": 40}).pass_floor(7) == 0
        assert steps(incumbent={"drafting": True, "draft_length": 1, "rate_tok_s": 25}).pass_floor(7) == 0
        assert steps(incumbent={**MTP, "draft_length": None}).pass_floor(7) == 0


class TestPlainRange:
    def test_the_round_bounds_the_step(self) -> None:
        found = steps(target={"step_ms": 67}, incumbent=MTP).plain_range()
        assert found is not None
        assert (found.low, found.high) == (pytest.approx(66.8 / 1.15 / 2), 66.8)

    def test_a_known_step_is_its_own_range(self) -> None:
        assert steps(incumbent={"drafting": False, "rate_tok_s": 25}).plain_range() == Span.exact(40.0)

    def test_without_a_round_and_its_depth_there_is_none(self) -> None:
        assert steps(incumbent={**MTP, "draft_length": None}).plain_range() is None
        assert steps(target={"step_ms": 40}).plain_range() is None
