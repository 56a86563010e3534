from __future__ import annotations

from typing import Any, ClassVar

import pytest
from hypothesis import given as forall
from hypothesis import settings
from hypothesis import strategies as st

from specrules.derive.projection import AtDepth
from specrules.derive.round_basis import BASES
from specrules.derive.rounds import RoundInputs, round_inputs
from specrules.derive.sides import measured_run
from specrules.derive.situation import Situation
from specrules.derive.spans import UNBOUNDED, Span
from specrules.model.case import Case

from .build import case, facts, given, table, thresholds

OFF = {"drafting": False, "rate_tok_s": 25, "rate_kind": "decode"}
CURVE = [{"width": int(row["width"]), "ms": row["ms"]} for row in table("t12")]
P7 = {"kind": "conditional", "value": 0.7}
PRICED = {"step_ms": 1, "catch_up_ms": 0}


def at(one: Case | Situation, draft_length: int, **more: Any) -> RoundInputs:
    found = one if isinstance(one, Situation) else given(one, **more)
    return round_inputs(found.sides, draft_length)


def depth(one: Case, draft_length: int, **more: Any) -> AtDepth:
    found = given(one, **more).projections.at(draft_length)
    assert found is not None
    return found


class TestOrder:
    """Each source goes before the next, and takes over where the one before is missing."""

    everything: ClassVar[dict[str, Any]] = {
        "candidate": {"draft_length": 7, "rate_tok_s": 40, "tokens_per_round": 3, "drafting": True},
        "verify_curve": CURVE,
        "synthetic_zero_tok_s": 12,
        "round_slope": [0.1, 0.2],
        "acceptance": P7,
    }

    def basis(self, length: int, *without: str, **parts: Any) -> str:
        measurements = {name: value for name, value in self.everything.items() if name not in without}
        drafter = {**PRICED, **parts.pop("drafter", {})}
        one = case(drafter=drafter, incumbent=OFF, measurements=measurements, **parts)
        found = at(one, length)
        assert found.basis in BASES
        assert found.fixed["basis"] == found.basis
        return found.basis

    def test_a_run_at_this_very_depth_is_the_best(self) -> None:
        assert self.basis(7) == "measured-run"

    def test_then_a_curve_with_a_measured_drafter(self) -> None:
        assert self.basis(4) == "curve"
        assert self.basis(4, "candidate") == "curve"

    def test_without_a_price_of_the_drafter_the_curve_is_half_a_round(self) -> None:
        assert self.basis(4, drafter={"step_ms": None}) == "run-slope"

    def test_beyond_the_curve_and_for_want_of_one_the_run_at_another_depth(self) -> None:
        assert self.basis(8) == "run-slope"
        assert self.basis(4, "verify_curve") == "run-slope"

    def test_then_a_run_with_nothing_accepted_at_the_depth_of_the_case(self) -> None:
        fixed = {"engine": {"draft_length": 4}}
        assert self.basis(4, "verify_curve", "candidate", **fixed) == "synthetic"
        assert self.basis(3, "verify_curve", "candidate", **fixed) == "slope"

    def test_then_a_prior_of_the_slope(self) -> None:
        assert self.basis(4, "verify_curve", "candidate") == "slope"

    def test_and_last_the_step_with_an_assumed_factor(self) -> None:
        assert self.basis(4, "verify_curve", "candidate", "round_slope") == "step"

    def test_a_slope_needs_a_plain_step(self) -> None:
        drafts = {"drafting": True, "rate_tok_s": 25}
        measured = {"candidate": self.everything["candidate"], "round_slope": [0.1, 0.2]}
        assert at(case(incumbent=drafts, measurements=measured), 4).basis == "step"


class TestMeasuredRun:
    def test_the_fleet_at_depth_seven(self) -> None:
        acceptance = {"kind": "ratio", "value": 0.41, "draft_length": 7}
        one = case(
            drafter={"class": "block"},
            engine={"draft_length": 7},
            incumbent={**OFF, "rate_tok_s": 18.8},
            measurements={"candidate": {"draft_length": 7, "rate_tok_s": 43.5, "acceptance": acceptance}},
        )
        found = depth(one, 7)
        assert found.inputs.basis == "measured-run"
        assert found.outcome.at_mid("tokens_per_round") == pytest.approx(3.87)
        assert found.outcome.at_mid("round_ms") == pytest.approx(88.97, abs=0.005)
        assert found.speedup.mid == pytest.approx(2.314, abs=5e-4)
        # The error that is assumed of a rate without one: 3 % to either side.
        assert (found.speedup.low, found.speedup.high) == pytest.approx((2.314 * 0.97, 2.314 * 1.03), abs=5e-4)

    def test_a_stated_error_of_the_rate_is_kept(self) -> None:
        rate = {"value": 40, "low": 36, "high": 41}
        one = case(incumbent=OFF, measurements={"candidate": {"draft_length": 7, "rate_tok_s": rate}})
        found = depth(one, 7).speedup
        assert (found.low, found.mid, found.high) == pytest.approx((1.44, 1.6, 1.64))

    def test_its_depth_is_stated_or_that_of_its_acceptance_or_of_the_case(self) -> None:
        def run(**parts: Any) -> int | None:
            situation = given(case(**parts))
            assert situation.sides.run is not None
            return situation.sides.run.draft_length

        rate = {"candidate": {"rate_tok_s": 40}}
        vector = {"kind": "position_vector", "vector": [0.8, 0.6]}
        assert run(measurements={"candidate": {"rate_tok_s": 40, "draft_length": 5}, "acceptance": vector}) == 5
        assert run(measurements={**rate, "acceptance": vector}, engine={"draft_length": 6}) == 2
        assert run(measurements=rate, engine={"draft_length": 6}) == 6
        assert run(measurements=rate) is None

    def test_a_run_that_did_not_draft_is_no_run_of_the_candidate(self) -> None:
        one = case()
        run = facts(one, candidate__rate_tok_s=40.0, candidate__drafting=False)
        assert measured_run(one, run, None, thresholds()) is None

    def test_a_run_without_tokens_still_has_its_rate(self) -> None:
        one = case(incumbent=OFF, measurements={"candidate": {"draft_length": 7, "rate_tok_s": 40}})
        found = depth(one, 7)
        assert found.speedup.mid == pytest.approx(1.6)
        assert found.outcome.at_mid("break_even.tokens_per_round") is None


class TestCurve:
    one = case(
        drafter=PRICED,
        incumbent={**OFF, "rate_tok_s": 100},
        measurements={"verify_curve": CURVE, "acceptance": P7},
    )

    @pytest.mark.parametrize(("length", "ms"), [(1, 13.49), (2, 15.64), (4, 20.67), (7, 28.13)])
    def test_a_measured_width_is_the_pass_over_one_row_more_than_is_drafted(self, length: int, ms: float) -> None:
        found = at(self.one, length)
        assert found.spans["verify.curve_ms"] == Span.exact(ms)
        if length in {1, 7}:
            assert depth(self.one, length).outcome.at_mid("round_ms") == pytest.approx(length + ms)

    def test_between_two_widths_it_lies_between_their_times(self) -> None:
        ends = at(self.one, 3).spans["verify.curve_ms"]
        assert (ends.low, ends.mid, ends.high) == (15.64, pytest.approx(18.155), 20.67)
        ends = at(self.one, 5).spans["verify.curve_ms"]
        assert (ends.low, ends.high) == (20.67, 28.13)
        found = depth(self.one, 3).outcome.ends("round_ms")
        assert found == pytest.approx((3 + 15.64, 3 + 20.67))

    def test_the_errors_of_the_points_widen_it(self) -> None:
        points = [{"width": 1, "ms": 10}, {"width": 2, "ms": {"value": 12, "low": 11, "high": 14}}]
        one = case(drafter=PRICED, measurements={"verify_curve": points})
        assert at(one, 1).spans["verify.curve_ms"] == Span(11, 12, 14)

    def test_beyond_the_last_width_there_is_no_curve(self) -> None:
        assert at(self.one, 8).basis == "step"

    def test_a_bench_of_the_target_is_a_curve(self) -> None:
        one = case(drafter=PRICED)
        read = {"off.verify_widths": (1.0, 2.0), "off.verify_ms": (14.37, 28.05)}
        assert at(given(one, read), 1).spans["verify.curve_ms"] == Span.exact(28.05)

    def test_a_tree_verifies_its_nodes_and_reads_no_curve(self) -> None:
        one = case(drafter={"class": "tree", **PRICED}, incumbent=OFF, measurements={"verify_curve": CURVE})
        assert at(one, 4).basis == "step"


class TestRunAtAnotherDepth:
    """A dense 27B on one machine: four depths beside plain decoding, each predicted from another."""

    table: ClassVar[dict[int, dict[str, float]]] = {int(row["depth"]): row for row in table("t13")}

    def predicted(self, measured: int, length: int) -> float:
        run = self.table[measured]
        one = case(
            drafter={"class": "mtp-head"},
            incumbent={**OFF, "rate_tok_s": self.table[0]["tok_s"]},
            measurements={
                "candidate": {
                    "draft_length": measured,
                    "rate_tok_s": run["tok_s"],
                    "tokens_per_round": run["tok_per_step"],
                }
            },
        )
        found = given(one, search=6).projections.at(length)
        assert found is not None
        assert found.inputs.basis == "run-slope"
        round_ms = found.outcome.at_mid("round_ms")
        assert round_ms is not None
        return round_ms

    def test_the_line_through_the_plain_step_and_the_run(self) -> None:
        step, run = 1000 / 66.93, 1000 * 2.21 / 100.86
        assert self.predicted(3, 6) == pytest.approx(step * (1 + (run / step - 1) / 3 * 6))

    @pytest.mark.parametrize(("measured", "length"), [(1, 2), (2, 1), (2, 3), (3, 2), (3, 6), (6, 3)])
    def test_other_depths_within_twelve_per_cent(self, measured: int, length: int) -> None:
        assert self.predicted(measured, length) == pytest.approx(self.table[length]["step_ms"], rel=0.12)

    def test_the_drafter_is_in_it_already(self) -> None:
        run = {"draft_length": 3, "rate_tok_s": 50, "tokens_per_round": 2.5}
        free = case(drafter={"step_ms": 0}, incumbent=OFF, measurements={"candidate": run})
        dear = case(drafter={"step_ms": 30}, incumbent=OFF, measurements={"candidate": run})
        assert depth(free, 7).outcome.mid["round_ms"] == depth(dear, 7).outcome.mid["round_ms"]

    def test_a_block_drafter_lies_between_a_slope_and_a_constant(self) -> None:
        run = {"draft_length": 7, "rate_tok_s": 43.5, "tokens_per_round": 3.87, "drafting": True}
        one = case(
            drafter={"class": "block"}, incumbent={**OFF, "rate_tok_s": 18.8}, measurements={"candidate": {**run}}
        )
        situation = given(one)
        inputs = at(situation, 3)
        assert inputs.spans["run.depth_share"] == Span(0, 0.5, 1, "bounds")
        rate = Span.exact(43.5)
        found = situation.arithmetic.outcome(inputs.fixed, {**inputs.spans, "run.rate_tok_s": rate})
        step, measured = 1000 / 18.8, 1000 * 3.87 / 43.5
        assert found.ends("round_ms") == pytest.approx((step + (measured - step) * 3 / 7, measured))

    def test_a_round_shorter_than_a_step_tells_nothing_about_other_depths(self) -> None:
        run = {"draft_length": 1, "rate_tok_s": 40, "tokens_per_round": 1.5}
        assert at(case(incumbent=OFF, measurements={"candidate": run}), 16).basis == "step"

    def test_nor_does_a_run_of_a_drafter_whose_share_of_rounds_is_not_known(self) -> None:
        run = {"draft_length": 8, "rate_tok_s": 40, "tokens_per_round": 4}
        parts: dict[str, Any] = {
            "incumbent": OFF,
            "engine": {"methods": ["ngram-mod"]},
            "measurements": {"candidate": run},
        }
        assert at(case(drafter={"class": "ngram"}, **parts), 4).basis == "step"
        assert at(case(drafter={"class": "ngram", "coverage": 0.3}, **parts), 4).basis == "run-slope"

    def test_trees_have_no_slope(self) -> None:
        run = {"draft_length": 3, "rate_tok_s": 40, "tokens_per_round": 3}
        one = case(drafter={"class": "tree"}, incumbent=OFF, measurements={"candidate": run})
        assert at(one, 3).basis == "measured-run"
        assert at(one, 4).basis == "step"


class TestSyntheticZero:
    def one(self, **target: Any) -> Case:
        return case(
            target=target,
            engine={"draft_length": 4, "methods": ["draft-simple"]},
            incumbent={**OFF, "rate_tok_s": 30},
            measurements={"synthetic_zero_tok_s": 12, "acceptance": P7},
        )

    def test_break_even_is_the_incumbents_rate_over_its_own(self) -> None:
        found = depth(self.one(kind="dense"), 4)
        assert found.outcome.at_mid("break_even.tokens_per_round") == pytest.approx(2.5)
        assert found.outcome.ends("break_even.tokens_per_round") == pytest.approx((2.5 / 1.03, 2.5 / 0.97))

    def test_on_a_target_that_restores_it_is_an_upper_bound(self) -> None:
        found = depth(self.one(kind="hybrid"), 4)
        assert found.outcome.at_mid("break_even.tokens_per_round") == pytest.approx(2.5)
        # A round that accepts everything restores nothing and may be as short as a plain step: 30 / 30 tokens.
        assert found.outcome.ends("break_even.tokens_per_round") == pytest.approx((1.0, 2.5 / 0.97))


def test_a_prior_slope_is_an_interval_of_the_whole_round() -> None:
    one = case(drafter={"step_ms": 30}, incumbent=OFF, measurements={"round_slope": [0.1, 0.3], "acceptance": P7})
    found = depth(one, 7).outcome
    assert found.ends("round_ms") == pytest.approx((40 * 1.7, 40 * 3.1))
    assert found.at_mid("round_ms") == pytest.approx(40 * 2.4)


class TestCeiling:
    def test_it_has_no_high_end_and_its_low_end_is_the_floor(self) -> None:
        factor = at(case(incumbent=OFF), 3).spans["verify.factor"]
        assert factor == Span(1, 1.1, UNBOUNDED)
        unknown = at(case(target={"step_ms": 40}), 3).spans["verify.factor"]
        assert unknown == Span(0, 1.1, UNBOUNDED)

    def test_the_point_is_never_below_the_floor(self) -> None:
        one = case(
            target={"step_ms": 40, "step_is": "plain"},
            incumbent={"drafting": True, "draft_length": 1, "rate_tok_s": 25, "tokens_per_round": 1.67},
        )
        factor = at(one, 3).spans["verify.factor"]
        assert factor.low == factor.mid == pytest.approx(66.8 / 1.15 / 40)

    @settings(max_examples=15, deadline=None)
    @forall(
        st.floats(1, 200),
        st.floats(1, 200),
        st.floats(0, 50),
        st.floats(0, 1),
        st.tuples(st.sampled_from([True, False, None]), st.sampled_from(["dense", "hybrid"])),
    )
    def test_it_never_approves(
        self, rate: float, step: float, drafter: float, p: float, kinds: tuple[bool | None, str]
    ) -> None:
        drafting, kind = kinds
        one = case(
            target={"step_ms": step, "kind": kind},
            drafter={"step_ms": drafter},
            incumbent={"drafting": drafting, "rate_tok_s": rate, "tokens_per_round": 1.5, "draft_length": 2},
            measurements={"acceptance": {"kind": "conditional", "value": p}},
        )
        projections = given(one).projections
        assert {item.inputs.basis for item in projections.depths} == {"step"}
        assert projections.envelope(lambda item: item.speedup).low is None
