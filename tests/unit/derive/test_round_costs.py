"""What a round costs beside the pass: drafting, overheads, restores, overlap, and rounds that draft nothing."""

from __future__ import annotations

from typing import Any

import pytest

from specrules.derive.projection import AtDepth
from specrules.derive.rounds import RoundInputs, round_inputs
from specrules.derive.situation import Situation
from specrules.derive.spans import Span
from specrules.model.case import Case

from .build import case, engine, given

OFF = {"drafting": False, "rate_tok_s": 25, "rate_kind": "decode"}
P7 = {"kind": "conditional", "value": 0.7}
PRICED = {"step_ms": 1, "catch_up_ms": 0}


def at(one: Case | Situation, draft_length: int) -> RoundInputs:
    found = one if isinstance(one, Situation) else given(one)
    return round_inputs(found.sides, draft_length)


def depth(one: Case, draft_length: int, **more: Any) -> AtDepth:
    found = given(one, **more).projections.at(draft_length)
    assert found is not None
    return found


class TestDraftCost:
    def test_a_catch_up_batch_that_nobody_timed_costs_one_pass_at_least_and_one_per_row_at_most(self) -> None:
        one = case(drafter={"step_ms": {"value": 2, "low": 1, "high": 3}}, engine={"methods": ["draft-simple"]})
        assert at(one, 3).spans["drafter.catch_up_ms"] == Span(1, 2, 4 * 3, "bounds")

    def test_for_a_block_drafter_it_is_one_pass(self) -> None:
        one = case(drafter={"class": "block", "step_ms": 30}, engine={"methods": ["draft-dflash"]})
        found = at(one, 7).spans["drafter.catch_up_ms"]
        assert (found.low, found.mid, found.high) == (30, 30, 30)

    def test_a_measured_one_is_used_and_a_round_without_one_pays_none(self) -> None:
        timed = case(drafter={"step_ms": 2, "catch_up_ms": 5}, engine={"methods": ["draft-simple"]})
        assert at(timed, 3).spans["drafter.catch_up_ms"] == Span.exact(5.0)
        closed = case(
            drafter={"class": "mtp-head", "step_ms": 2}, engine={"id": "halogen-flash-server", "version": None}
        )
        assert at(closed, 3).spans["drafter.catch_up_ms"] == Span.exact(0.0)

    def test_without_a_price_the_catch_up_is_unknown_too(self) -> None:
        one = case(engine={"methods": ["draft-simple"]}, incumbent=OFF, measurements={"acceptance": P7})
        assert "drafter.catch_up_ms" not in at(one, 3).spans
        assert depth(one, 3).outcome.at_mid("round_ms") is None


class TestOverheads:
    def round_ms(self, **measurements: Any) -> tuple[float | None, float | None]:
        one = case(
            drafter=PRICED, incumbent={**OFF, "rate_kind": "client"}, measurements={**measurements, "acceptance": P7}
        )
        return depth(one, 3).outcome.ends("round_ms")

    def test_what_is_paid_per_round_makes_it_longer(self) -> None:
        curve = [{"width": 4, "ms": 50}]
        assert self.round_ms(verify_curve=curve) == (53, 53)
        assert self.round_ms(verify_curve=curve, overhead={"ms": 5, "kind": "per_round"}) == (58, 58)
        assert self.round_ms(verify_curve=curve, overhead={"ms": 5, "kind": "per_token"}) == (53, 53)
        assert self.round_ms(verify_curve=curve, overhead={"ms": 5, "kind": "unknown"}) == (53, 58)

    def test_what_both_sides_pay_per_token_leaves_the_sign_alone(self) -> None:
        curve = [{"width": 4, "ms": 50}]
        one = case(
            drafter=PRICED,
            incumbent={**OFF, "rate_kind": "client"},
            measurements={"verify_curve": curve, "overhead": {"ms": 10, "kind": "per_token"}, "acceptance": P7},
        )
        found = depth(one, 3)
        tokens = 1 + 0.7 + 0.7**2 + 0.7**3
        assert found.speedup.mid == pytest.approx(40 / (53 / tokens + 10))
        assert found.outcome.at_mid("break_even.tokens_per_round") == pytest.approx(53 / 30)

    def test_a_sign_that_an_unknown_kind_leaves_open_is_open(self) -> None:
        curve = [{"width": 4, "ms": 97}]
        overhead = {"ms": 5, "kind": "unknown"}
        one = case(
            drafter=PRICED,
            incumbent={**OFF, "rate_kind": "client"},
            measurements={"verify_curve": curve, "overhead": overhead, "acceptance": P7},
        )
        found = depth(one, 3).speedup
        assert found.low is not None
        assert found.high is not None
        assert found.low < 1 < found.high

    @pytest.mark.parametrize("ms", [40, 60])
    def test_an_overhead_that_takes_all_of_the_incumbents_token_is_unknown_and_turns_no_sign(self, ms: float) -> None:
        curve = [{"width": 4, "ms": 50}]
        one = case(
            drafter=PRICED,
            incumbent={**OFF, "rate_kind": "client"},
            measurements={"verify_curve": curve, "overhead": {"ms": ms, "kind": "per_token"}, "acceptance": P7},
        )
        found = depth(one, 3)
        assert found.speedup.mid is None
        assert found.outcome.ends("speedup") == (None, None)
        assert found.outcome.at_mid("break_even.tokens_per_round") is None
        assert found.outcome.missing("speedup") == ("overhead.per_token_ms",)

    def test_a_request_of_unknown_length_bounds_the_speedup_and_not_the_break_even(self) -> None:
        curve = [{"width": 4, "ms": 50}]
        one = case(
            drafter=PRICED,
            incumbent={**OFF, "rate_kind": "client"},
            measurements={"verify_curve": curve, "overhead": {"ms": 500, "kind": "per_request"}, "acceptance": P7},
        )
        found, tokens = depth(one, 3), 1 + 0.7 + 0.7**2 + 0.7**3
        low, high = found.outcome.ends("speedup")
        assert high == pytest.approx(40 / (53 / tokens))
        assert low == pytest.approx(40 / (53 / tokens + 40), abs=1e-6)
        assert found.outcome.ends("break_even.tokens_per_round")[0] == pytest.approx(53 / 40)
        known = case(
            drafter=PRICED,
            incumbent={**OFF, "rate_kind": "client"},
            workload={"output_tokens": 50},
            measurements={"verify_curve": curve, "overhead": {"ms": 500, "kind": "per_request"}, "acceptance": P7},
        )
        assert depth(known, 3).outcome.at_mid("break_even.tokens_per_round") == pytest.approx(53 / 30)


class TestRestore:
    def speedup(self, **parts: Any) -> tuple[float | None, float | None]:
        measurements = {"verify_curve": [{"width": 4, "ms": 50}], "acceptance": P7, **parts.pop("measurements", {})}
        one = case(
            drafter=PRICED, engine={"methods": ["draft-simple"]}, incumbent=OFF, measurements=measurements, **parts
        )
        found = depth(one, 3).speedup
        return (found.low, found.high)

    def test_a_price_that_nobody_knows_leaves_no_low_end(self) -> None:
        dense, hybrid = self.speedup(target={"kind": "dense"}), self.speedup(target={"kind": "hybrid"})
        assert dense[0] is not None
        assert hybrid == (None, dense[1])

    def test_a_known_one_is_paid_after_every_rejection(self) -> None:
        tokens = 1 + 0.7 + 0.7**2 + 0.7**3
        found = self.speedup(target={"kind": "hybrid-moe"}, measurements={"restore_ms": 30})
        assert found[0] == pytest.approx(tokens / (53 + (1 - 0.7**3) * 30) / 25 * 1000)

    def test_methods_that_restore_nothing_pay_nothing(self) -> None:
        one = case(target={"kind": "hybrid"}, drafter={"class": "mtp-head"}, engine={"methods": ["draft-mtp"]})
        assert at(one, 3).spans["restore_ms"] == Span.exact(0.0)


class TestOverlap:
    def overlap(self, order: str, drafter: str = "model", stated: float | None = None) -> Span:
        shipped = engine()
        methods = [
            {**method.model_dump(), "round": {**method.round.model_dump(), "order": order}}
            for method in shipped.methods
        ]
        name = {"model": "draft-simple", "block": "draft-dflash"}[drafter]
        one = case(
            drafter={"class": drafter}, engine={"methods": [name]}, measurements={"overlap": stated} if stated else None
        )
        return at(given(one, on=engine(methods=methods)), 3).spans["overlap"]

    def test_engines_that_draft_and_verify_in_turn_overlap_nothing(self) -> None:
        assert self.overlap("serial") == self.overlap("serial", stated=0.5) == Span.exact(0.0)

    def test_an_order_that_nobody_knows_is_anything(self) -> None:
        assert self.overlap("unknown") == Span(0, 0, 1, "bounds")
        assert self.overlap("unknown", stated=0.5) == Span.exact(0.5)

    def test_heads_that_read_the_targets_states_cannot_run_ahead(self) -> None:
        assert self.overlap("unknown", "block", stated=0.5) == Span.exact(0.0)

    def test_what_it_saves_is_a_draft_that_was_guessed_to_the_last_token(self) -> None:
        stated = case(
            drafter={"step_ms": 10, "catch_up_ms": 0},
            engine={"methods": ["draft-simple"]},
            measurements={"overlap": 1, "verify_curve": [{"width": 4, "ms": 50}], "acceptance": {**P7, "value": 0.6}},
        )
        methods = [
            {**method.model_dump(), "round": {**method.round.model_dump(), "order": "decoupled"}}
            for method in engine().methods
        ]
        found = depth(stated, 3, on=engine(methods=methods))
        assert found.outcome.at_mid("round_ms") == pytest.approx(80 - 0.6**4 * 30)


class TestCoverage:
    def one(self, coverage: float | None, **measurements: Any) -> Case:
        drafter = {"class": "ngram"} if coverage is None else {"class": "ngram", "coverage": coverage}
        measured = {"verify_curve": [{"width": 4, "ms": 60}], "acceptance": {"kind": "conditional", "value": 0.9}}
        return case(
            drafter=drafter,
            engine={"methods": ["ngram-mod"]},
            incumbent=OFF,
            measurements={**measured, **measurements},
        )

    def test_the_rate_is_a_quotient_of_means(self) -> None:
        tokens = 1 + 0.9 + 0.81 + 0.729
        found = depth(self.one(0.3), 3)
        assert found.outcome.at_mid("rate_tok_s") == pytest.approx(1000 * (0.3 * tokens + 0.7) / (0.3 * 60 + 0.7 * 40))

    def test_without_the_share_there_is_no_rate(self) -> None:
        found = depth(self.one(None), 3)
        assert found.speedup.mid is None
        assert found.outcome.missing("speedup") == ("drafter.coverage",)

    def test_break_even_is_per_round_that_drafts(self) -> None:
        needed = depth(self.one(0.3), 3).outcome.at_mid("break_even.tokens_per_round")
        assert needed is not None
        assert 1000 * (0.3 * needed + 0.7) / (0.3 * 60 + 0.7 * 40) == pytest.approx(25)


def test_a_trees_ratio_is_of_nodes_and_gives_no_tokens() -> None:
    ratio = {"kind": "ratio", "value": 0.1, "draft_length": 3}
    one = case(drafter={"class": "tree", "step_ms": 2}, incumbent=OFF, measurements={"acceptance": ratio})
    assert depth(one, 3).outcome.at_mid("tokens_per_round") is None
    run = {"candidate": {"draft_length": 3, "rate_tok_s": 40, "acceptance": ratio}}
    situation = given(case(drafter={"class": "tree"}, incumbent=OFF, measurements=run))
    assert situation.sides.run is not None
    assert situation.sides.run.tokens is None
