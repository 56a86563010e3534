from __future__ import annotations

from typing import Any

import pytest

from specrules.derive.projection import (
    AtDepth,
    break_even,
    formula_lines,
    missing_inputs,
    needed_acceptance,
    projection,
)
from specrules.derive.situation import Situation
from specrules.model.case import Case

from .build import case, given

OFF = {"drafting": False, "rate_tok_s": 25, "rate_kind": "decode"}
FRANK: dict[str, Any] = {
    "target": {"step_ms": 67},
    "drafter": {"step_ms": 12},
    "engine": {"id": "halogen-flash-server", "version": None},
    "incumbent": {"drafting": True, "draft_length": 1, "rate_tok_s": 25, "tokens_per_round": 1.67},
}
BAND = {"acceptance": {"kind": "conditional", "low": 0.4, "high": 0.6}}


def of(situation: Situation, length: int) -> AtDepth:
    found = situation.projections.at(length)
    assert found is not None
    return found


def priced(ms: float, **parts: Any) -> Case:
    """A drafter with a measured curve of one width per depth: the round is K + ms."""
    curve = [{"width": width, "ms": ms} for width in (1, 2, 3, 4, 5, 6, 7, 8)]
    return case(
        drafter={"step_ms": 1, "catch_up_ms": 0, **parts.pop("drafter", {})},
        incumbent=OFF,
        measurements={"verify_curve": curve, **parts.pop("measurements", {})},
        **parts,
    )


@pytest.fixture(scope="module")
def situation() -> Situation:
    return given(case(**FRANK, measurements=BAND), search=16)


class TestFrank:
    """An incumbent that drafts at 25 tok/s, a drafter of 12 ms per token, a step of 67 ms that is a whole round."""

    @pytest.mark.parametrize(
        ("length", "tokens", "p", "r"),
        [
            (3, 2.7425, 0.7519, 0.5808),
            (4, 3.0425, 0.7486, 0.5106),
            (5, 3.3425, 0.7572, 0.4685),
            (7, 3.9425, 0.7817, 0.4204),
        ],
    )
    def test_break_even_at_the_declared_step(
        self, situation: Situation, length: int, tokens: float, p: float, r: float
    ) -> None:
        found = break_even(of(situation, length), 4, is_tree=False)
        assert found.tokens_per_round == pytest.approx(tokens, abs=1e-9)
        assert found.conditional_acceptance == pytest.approx(p, abs=5e-5)
        assert found.accepted_ratio == pytest.approx(r, abs=5.1e-5)
        assert found.possible is True
        assert found.is_best is (length == 4)

    def test_one_drafted_token_is_impossible_at_the_point_and_not_at_the_low_end(self, situation: Situation) -> None:
        found = break_even(of(situation, 1), 4, is_tree=False)
        assert found.tokens_per_round == pytest.approx(2.1425, abs=1e-9)
        assert (found.possible, found.settled) == (False, False)
        assert (found.conditional_acceptance, found.accepted_ratio) == (None, None)

    @pytest.mark.parametrize(("length", "p"), [(1, 0.752), (2, 0.641), (3, 0.651), (7, 0.745)])
    def test_the_low_ends_stand_on_the_incumbents_round(self, situation: Situation, length: int, p: float) -> None:
        found = break_even(of(situation, length), 4, is_tree=False).range
        assert found.conditional_acceptance == (pytest.approx(p, abs=5e-4), None)
        assert found.tokens_per_round == (pytest.approx(0.025 * (12 * length + 66.8 / 1.15)), None)
        assert found.accepted_ratio[1] is None

    def test_the_smallest_acceptance_is_needed_at_four_and_the_highest_rate_reached_at_two(
        self, situation: Situation
    ) -> None:
        assert situation.projections.break_even_best == 4
        assert situation.projections.rate_best == 2
        assert situation.projections.verdict_length == 2

    def test_the_band_reaches_at_most_95_5_per_cent(self, situation: Situation) -> None:
        found = situation.projections.envelope(lambda depth: depth.speedup)
        assert found.low is None
        assert found.high == pytest.approx(0.95508, abs=5e-6)

    def test_the_rates_at_the_declared_step(self, situation: Situation) -> None:
        found = of(situation, 3).declared
        assert (found.low, found.mid, found.high) == pytest.approx((14.80 / 25, 17.09 / 25, 19.84 / 25), abs=2e-4)


def test_the_same_numbers_as_a_ratio_at_seven() -> None:
    ratio = {"kind": "ratio", "low": 0.4, "high": 0.6, "draft_length": 7}
    situation = given(case(**FRANK, measurements={"acceptance": ratio}), search=16)
    found = of(situation, 7).declared
    assert (found.low, found.mid, found.high) == pytest.approx((24.1 / 25, 28.5 / 25, 33.0 / 25), abs=2e-3)
    envelope = situation.projections.envelope(lambda depth: depth.declared)
    assert (envelope.low, envelope.high) == (pytest.approx(1.040, abs=5e-4), pytest.approx(1.322, abs=5e-4))


class TestWhichLengths:
    def test_the_search_ends_where_the_policy_says(self) -> None:
        situation = given(case(), search=9)
        assert [depth.draft_length for depth in situation.projections.depths] == [1, 2, 3, 4, 5, 6, 7, 8, 9]
        assert situation.projections.feasible == tuple(range(1, 10))

    def test_the_engines_limit_leaves_longer_ones_to_look_at_only(self) -> None:
        one = case(drafter={"class": "ngram"}, engine={"methods": ["ngram-cache"]})
        situation = given(one, search=10)
        assert situation.projections.feasible == tuple(range(1, 9))
        assert len(situation.projections.depths) == 10

    def test_a_length_that_the_case_wants_is_the_only_feasible_one(self) -> None:
        situation = given(case(engine={"draft_length": 20}))
        assert situation.projections.feasible == (20,)
        assert situation.projections.at(20) is not None

    def test_an_engine_drafts_no_more_than_it_can_unless_a_run_shows_it(self) -> None:
        wanted = {"class": "ngram"}, {"methods": ["ngram-cache"], "draft_length": 12}
        clamped = given(case(drafter=wanted[0], engine=wanted[1]))
        assert clamped.projections.feasible == (8,)
        run = {"candidate": {"draft_length": 12, "rate_tok_s": 40}}
        assert given(case(drafter=wanted[0], engine=wanted[1], measurements=run)).projections.feasible == (12,)

    def test_the_depth_of_a_measured_run_is_always_looked_at(self) -> None:
        run = {"candidate": {"draft_length": 48, "rate_tok_s": 40}}
        one = case(drafter={"class": "ngram"}, engine={"methods": ["ngram-simple"]}, incumbent=OFF, measurements=run)
        projections = given(one).projections
        assert 48 in projections.feasible
        assert projections.verdict_length == 48
        found = projections.at(48)
        assert found is not None
        assert found.speedup.mid == pytest.approx(1.6)

    def test_one_three_seven_and_the_best_are_shown(self) -> None:
        projections = given(case(), search=9).projections
        assert [depth.draft_length for depth in projections.shown(5)] == [1, 3, 5, 7]
        assert [depth.draft_length for depth in projections.shown(3)] == [1, 3, 7]
        assert [depth.draft_length for depth in projections.shown(None)] == [1, 3, 7]

    def test_a_length_beyond_the_search_is_not_there(self) -> None:
        assert given(case()).projections.at(99) is None


class TestEnvelope:
    def test_each_end_is_the_best_over_the_feasible_lengths(self) -> None:
        one = priced(40, measurements={"acceptance": {"kind": "conditional", "value": 0.8, "draft_length": 3}})
        projections = given(one, search=7).projections
        found = projections.envelope(lambda depth: depth.speedup)
        every = [depth.speedup for depth in projections.depths]
        assert found.low == max(speedup.low for speedup in every if speedup.low is not None)
        assert found.high == max(speedup.high for speedup in every if speedup.high is not None)
        assert found.mid == max(speedup.mid for speedup in every if speedup.mid is not None)
        best = projections.at(projections.verdict_length or 0)
        assert best is not None
        assert best.speedup.low == found.low

    def test_one_length_without_a_high_end_leaves_none(self) -> None:
        measured = {
            "acceptance": {"kind": "position_vector", "vector": [0.8, 0.6, 0.5]},
            "verify_curve": [{"width": 2, "ms": 44}],
        }
        one = case(drafter={"step_ms": 1, "catch_up_ms": 0}, incumbent={"rate_tok_s": 25}, measurements=measured)
        projections = given(one).projections
        assert [depth.speedup.high is None for depth in projections.depths] == [False, True, True]
        found = projections.envelope(lambda depth: depth.speedup)
        assert (found.low, found.high) == (pytest.approx(1.8 / 45 * 40), None)

    def test_lengths_that_the_case_does_not_want_do_not_count(self) -> None:
        measured = {"acceptance": {"kind": "conditional", "value": 0.8}}
        one = priced(40, engine={"draft_length": 1}, measurements=measured)
        found = given(one, search=7).projections.envelope(lambda depth: depth.speedup)
        assert found.high == pytest.approx(1.8 / 41 * 40)


class TestBreakEven:
    def test_where_every_acceptance_pays_none_is_needed(self) -> None:
        found = break_even(of(given(priced(20)), 3), None, is_tree=False)
        assert found.tokens_per_round == pytest.approx(23 / 40)
        assert (found.conditional_acceptance, found.accepted_ratio) == (0, 0)
        assert found.range.conditional_acceptance == (0, 0)
        assert (found.possible, found.settled) == (True, True)

    def test_where_off_rounds_alone_beat_the_incumbent_none_is_needed_either(self) -> None:
        one = case(
            drafter={"class": "ngram", "coverage": 0.2},
            engine={"methods": ["ngram-mod"]},
            incumbent={"drafting": True, "rate_tok_s": 10},
            measurements={"off": {"rate_tok_s": 25}, "verify_curve": [{"width": 4, "ms": 44}]},
        )
        depth = of(given(one), 3)
        tokens = depth.outcome.at_mid("break_even.tokens_per_round")
        assert tokens is not None
        assert tokens < 0
        assert needed_acceptance(depth) == 0
        assert break_even(depth, None, is_tree=False).range.conditional_acceptance == (0, 0)

    def test_where_none_pays_it_is_impossible(self) -> None:
        found = break_even(of(given(priced(200)), 3), None, is_tree=False)
        assert (found.possible, found.conditional_acceptance, found.accepted_ratio) == (False, None, None)
        assert found.range.conditional_acceptance == (None, None)
        assert given(priced(400)).projections.break_even_best is None

    def test_a_tree_has_a_ratio_and_no_conditional_acceptance(self) -> None:
        one = case(drafter={"class": "tree", "step_ms": 2}, target={"step_ms": 40}, incumbent=OFF)
        situation = given(one)
        found = break_even(of(situation, 3), None, is_tree=True)
        assert found.conditional_acceptance is None
        assert found.range.conditional_acceptance == (None, None)
        assert found.accepted_ratio == pytest.approx((0.025 * 50 - 1) / 3)
        assert situation.projections.break_even_best == 7

    def test_what_is_missing_is_named_as_users_know_it(self) -> None:
        found = break_even(of(given(case()), 3), None, is_tree=False)
        assert found.missing == ("drafter.step_ms", "incumbent.rate_tok_s", "target.step_ms")
        assert found.possible is None
        shown = projection(of(given(case()), 3), None)
        assert shown.missing == ("acceptance.kind", "drafter.step_ms", "incumbent.rate_tok_s", "target.step_ms")

    @pytest.mark.parametrize(("ms", "beats"), [(160, False), (120, True), (200, False)])
    def test_a_pass_as_long_as_its_rows_never_beats_drafting_off(self, ms: float, beats: bool) -> None:
        curve = [{"width": 1, "ms": 40}, {"width": 4, "ms": ms}]
        one = case(drafter={"step_ms": 1}, incumbent=OFF, measurements={"verify_curve": curve})
        assert break_even(of(given(one), 3), None, is_tree=False).beats_off is beats

    def test_that_is_known_from_a_curve_only_and_outside_its_errors(self) -> None:
        assert (
            break_even(of(given(case(target={"step_ms": 40}, incumbent=OFF)), 3), None, is_tree=False).beats_off is None
        )
        curve = [{"width": 4, "ms": {"value": 160, "low": 150, "high": 170}}]
        one = case(drafter={"step_ms": 1}, incumbent=OFF, measurements={"verify_curve": curve})
        assert break_even(of(given(one), 3), None, is_tree=False).beats_off is None


class TestReported:
    def test_a_projection_has_its_rate_and_both_speedups(self) -> None:
        measured = {"acceptance": {"kind": "conditional", "value": 0.8, "draft_length": 3}}
        found = projection(of(given(priced(40, measurements=measured)), 7), 7)
        tokens = sum(0.8**power for power in range(8))
        assert found.tokens_per_round == pytest.approx(tokens)
        assert found.round_ms == pytest.approx(47)
        assert found.rate_tok_s == pytest.approx(1000 * tokens / 47)
        assert (found.rate_range.low, found.rate_range.high) == pytest.approx((920 * tokens / 47, 1080 * tokens / 47))
        assert found.speedup.low == pytest.approx(920 * tokens / 47 / 25)
        assert found.at_declared_step.low == found.at_declared_step.high == pytest.approx(1000 * tokens / 47 / 25)
        assert found.is_best

    def test_the_formulas_of_a_depth_are_those_that_decided(self) -> None:
        situation = given(priced(40))
        lines = {line.name: line for line in formula_lines(situation.arithmetic, of(situation, 3))}
        assert lines["round_ms"].result == pytest.approx(43)
        assert lines["break_even.tokens_per_round"].substituted == "43 / (1000 / 25 - 0)"

    def test_names_are_listed_once(self) -> None:
        outcome = of(given(case()), 3).outcome
        assert missing_inputs(outcome, "speedup", "rate_tok_s") == missing_inputs(outcome, "speedup")
