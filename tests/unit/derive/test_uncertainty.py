"""The interval and the probability of the speedup, against plain random numbers and against what must hold."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, ClassVar

import numpy as np
import pytest

from specrules.derive.information import chosen_most, worth
from specrules.derive.sides import acceptance_at
from specrules.derive.situation import Situation
from specrules.derive.spans import Span
from specrules.derive.tornado import tornado
from specrules.derive.values import EvidenceState, input_values
from specrules.model.prior import Prior

from .build import case, given

NOW = datetime(2026, 11, 29, tzinfo=UTC)
OFF = {"drafting": False, "rate_tok_s": 25, "rate_kind": "decode"}
NORMAL = {"distribution": "normal"}
BAND_OF_UNKNOWN_KIND: dict[str, Any] = {
    "target": {
        "step_ms": {"value": 64, "low": 64 - 1.6449 * 2.5, "high": 64 + 1.6449 * 2.5, **NORMAL},
        "step_is": "plain",
    },
    "drafter": {
        "step_ms": {"value": 12, "low": 12 - 1.6449 * 1.2, "high": 12 + 1.6449 * 1.2, **NORMAL},
        "catch_up_ms": 0,
    },
    "incumbent": {"drafting": True, "rate_tok_s": 25, "rate_kind": "decode"},
    "measurements": {
        "verify_factor": {"low": 1, "high": 1.25, "distribution": "uniform"},
        "acceptance": {
            "kind": "conditional-or-ratio",
            "low": 0.4,
            "high": 0.6,
            "draft_length": 7,
            "distribution": "uniform",
        },
    },
}


def prior(quantity: str, low: float, mid: float, high: float, shape: str = "lognormal", **conditions: Any) -> Prior:
    values = {"id": f"{quantity}-x", "quantity": quantity, "low": low, "mid": mid, "high": high, "shape": shape}
    return Prior.model_validate({**values, "rows": 9, "sources": ("a", "b"), **conditions})


def test_a_number_of_unknown_kind_is_worth_what_the_cost_model_says() -> None:
    """The worked example: EVPI 2.46, 2.43 of it in the acceptance, 2.39 in knowing its kind."""
    situation = given(case(**BAND_OF_UNKNOWN_KIND), search=8)
    known = worth(situation.projections, None)
    assert known is not None
    assert known.of_all() == pytest.approx(2.46, abs=0.02)
    assert known.of({"acceptance.conditional"}) == pytest.approx(2.43, abs=0.02)
    assert known.of({"acceptance.kind"}) == pytest.approx(2.39, abs=0.02)
    assert known.of({"drafter.step_ms", "target.declared_ms", "verify.factor"}) < 0.1
    assert known.of(set(known.spans)) == pytest.approx(known.of_all(), abs=0.01)


def test_the_interval_is_that_of_random_numbers() -> None:
    situation = given(case(**BAND_OF_UNKNOWN_KIND), search=8)
    random = np.random.default_rng(7)
    count = 200_000
    step, draft = random.normal(64, 2.5, count), random.normal(12, 1.2, count)
    factor, stated = random.uniform(1, 1.25, count), random.uniform(0.4, 0.6, count)
    grid = np.linspace(0, 1 - 1e-9, 100_001)
    from_ratio = np.interp(stated, (grid - grid**8) / (7 * (1 - grid)), grid)
    p = np.where(random.random(count) < 0.5, stated, from_ratio)
    for length in (1, 3, 7):
        tokens = sum(p**power for power in range(length + 1))
        speedup = 1000 * tokens / (length * draft + factor * step) / 25
        depth = situation.projections.at(length)
        assert depth is not None
        found = depth.speedup
        assert (found.low, found.high) == pytest.approx(np.quantile(speedup, [0.05, 0.95]), rel=0.01)
        assert found.probability_above_margin == pytest.approx(float(np.mean(speedup > 1.05)), abs=0.01)


def test_draft_lengths_share_the_samples() -> None:
    shares = chosen_most(given(case(**BAND_OF_UNKNOWN_KIND), search=8).projections)
    assert sum(shares.values()) == pytest.approx(1)
    # Read as p the shortest are best, read as r the longer ones: each reading has half of the samples.
    assert shares[1] + shares[2] == pytest.approx(0.5, abs=0.02)
    assert max(shares, key=shares.__getitem__) == 2


def at_three(**parts: Any) -> Situation:
    return given(case(engine={"draft_length": 3}, incumbent=OFF, **parts))


def speedup_of(situation: Situation) -> tuple[float | None, float | None, float | None]:
    depth = situation.projections.at(3)
    assert depth is not None
    return depth.speedup.low, depth.speedup.high, depth.speedup.probability_above_margin


def test_what_is_only_bounded_stands_at_its_worse_end() -> None:
    """Between two measured widths nothing says where the pass lies: both ends count, and no quantile narrows them."""
    curve = [{"width": 2, "ms": 50}, {"width": 6, "ms": 70}]
    acceptance = {"kind": "conditional", "value": 0.6}
    found = at_three(
        drafter={"step_ms": 2, "catch_up_ms": 0}, measurements={"verify_curve": curve, "acceptance": acceptance}
    )
    tokens = 1 + 0.6 + 0.36 + 0.216
    low, high, above = speedup_of(found)
    assert (low, high) == pytest.approx((40 * tokens / 76, 40 * tokens / 56))
    # 1.05 needs a pass of at most 76.9 ms: always.
    assert above == 1


def test_an_end_that_nobody_knows_leaves_the_probability_unknown() -> None:
    found = given(
        case(
            target={"step_ms": 67},
            drafter={"step_ms": 12},
            incumbent={"drafting": True, "rate_tok_s": 25, "tokens_per_round": 1.67, "draft_length": 1},
            measurements={"acceptance": {"kind": "conditional", "low": 0.4, "high": 0.6}},
        )
    )
    depth = found.projections.at(3)
    assert depth is not None
    assert (depth.speedup.low, depth.speedup.probability_above_margin) == (None, None)
    assert depth.speedup.high is not None
    assert worth(found.projections, None) is None


class TestPriors:
    SLOPES = (prior("round_slope", 0.2, 0.3, 0.6), prior("verify_slope", 0.1, 0.2, 0.4))
    P: ClassVar = {"acceptance": {"kind": "conditional", "value": 0.8}}
    TOKENS = 1 + 0.8 + 0.64 + 0.512

    def test_one_of_the_whole_round_stands_in_for_a_round_that_nobody_timed(self) -> None:
        found = given(case(engine={"draft_length": 3}, incumbent=OFF, measurements=self.P), priors=self.SLOPES)
        depth = found.projections.at(3)
        assert depth is not None
        assert depth.inputs.basis == "prior-round"
        assert depth.outcome.at_mid("round_ms") == pytest.approx(40 * (1 + 0.3 * 3))
        low, high, _ = speedup_of(found)
        assert (low, high) == pytest.approx((self.TOKENS / 2.8, self.TOKENS / 1.6), rel=1e-3)

    def test_one_of_the_pass_where_the_drafter_was_timed(self) -> None:
        drafter = {"step_ms": 2, "catch_up_ms": 0}
        one = case(engine={"draft_length": 3}, incumbent=OFF, drafter=drafter, measurements=self.P)
        depth = given(one, priors=self.SLOPES).projections.at(3)
        assert depth is not None
        assert depth.inputs.basis == "prior-verify"
        assert depth.outcome.at_mid("round_ms") == pytest.approx(40 * (1 + 0.2 * 3) + 6)

    def test_what_was_measured_leaves_no_room_for_one(self) -> None:
        run = {"draft_length": 5, "rate_tok_s": 40, "tokens_per_round": 3}
        measured = {"candidate": run, "acceptance": {"kind": "conditional", "value": 0.7}}
        priors = (*self.SLOPES, prior("conditional_acceptance", 0.1, 0.2, 0.3, "logit-normal"))
        found = given(case(engine={"draft_length": 3}, incumbent=OFF, measurements=measured), priors=priors)
        depth = found.projections.at(3)
        assert depth is not None
        assert depth.inputs.basis == "run-slope"
        assert depth.inputs.spans["acceptance.conditional"].mid == 0.7

    def test_one_of_acceptance_where_nothing_was_observed(self) -> None:
        belief = prior("conditional_acceptance", 0.5, 0.7, 0.8, "logit-normal")
        found = at_three_with(belief, *self.SLOPES)
        assert found.sides.observed is None
        assert input_values(found, EvidenceState(), NOW)[0]["acceptance.kind"] == "prior"
        depth = found.projections.at(3)
        assert depth is not None
        assert depth.outcome.at_mid("tokens_per_round") == pytest.approx(1 + 0.7 + 0.49 + 0.343)

    def test_none_for_a_candidate_that_did_not_draft(self) -> None:
        belief = prior("conditional_acceptance", 0.5, 0.7, 0.8, "logit-normal")
        one = case(engine={"draft_length": 3}, incumbent=OFF, measurements={"candidate": {"drafting": False}})
        assert acceptance_at(given(one, priors=(belief,)).sides, 3) is None

    @pytest.mark.parametrize(
        ("conditions", "parts", "holds"),
        [
            ({}, {}, True),
            ({"drafter_classes": ("model",)}, {}, True),
            ({"drafter_classes": ("block",)}, {}, False),
            ({"hardware": ("apple",)}, {"host": {"name": "Apple M4 Max"}}, True),
            ({"hardware": ("apple",)}, {"host": {"devices": [{"name": "RTX 4090"}]}}, False),
            ({"hardware": ("apple",)}, {}, False),
            ({"hardware": ("apple",)}, {"host": {"group": "apple", "name": "RTX 4090"}}, True),
            ({"target_kinds": ("moe", "hybrid-moe")}, {"target": {"kind": "moe"}}, True),
            ({"target_kinds": ("moe",)}, {"target": {"kind": None}}, False),
            ({"tasks": ("code",)}, {"workload": {"task": "HumanEval"}}, True),
            ({"tasks": ("code",)}, {"workload": {"task": "prose"}}, False),
            ({"concurrency": "single"}, {"workload": {"concurrency": 1}}, True),
            ({"concurrency": "single"}, {"workload": {"concurrency": 8}}, False),
            ({"concurrency": "batched"}, {"workload": {"concurrency": None}}, False),
        ],
    )
    def test_conditions_have_to_hold_and_what_is_unknown_meets_none(
        self, conditions: dict[str, Any], parts: dict[str, Any], holds: bool
    ) -> None:
        belief = prior("round_slope", 0.2, 0.3, 0.6, **conditions)
        found = given(case(incumbent=OFF, **parts), priors=(belief,)).sides.beliefs.about("round_slope")
        assert (found is belief) is holds

    def test_one_that_is_bound_to_draft_lengths_holds_at_those(self) -> None:
        short = prior("round_slope", 0.2, 0.3, 0.6, max_draft_length=2)
        situation = given(case(incumbent=OFF, measurements=self.P), priors=(short, prior("round_slope", 0.5, 0.6, 0.9)))
        mids = {depth.draft_length: depth.inputs.spans["slope.round"].mid for depth in situation.projections.depths}
        assert (mids[1], mids[3]) == (0.3, 0.6)

    def test_one_of_how_a_round_grows_carries_a_run_to_another_depth(self) -> None:
        run = {"draft_length": 1, "rate_tok_s": 25, "tokens_per_round": 1.8}
        belief = prior("depth_share", 0.3, 0.5, 1.1)
        one = case(engine={"draft_length": 3}, incumbent=OFF, measurements={**self.P, "candidate": run})
        depth = given(one, priors=(belief,)).projections.at(3)
        assert depth is not None
        assert depth.outcome.at_mid("round_ms") == pytest.approx(72 + 0.5 * 2 * (72 - 40))

    def test_the_first_that_matches_counts(self) -> None:
        first, second = prior("round_slope", 0.2, 0.3, 0.6), prior("round_slope", 0.5, 0.6, 0.7)
        assert given(case(incumbent=OFF), priors=(first, second)).sides.beliefs.about("round_slope") is first


class TestPredictedPass:
    """Eight of 128 experts in 70 % of the step: what more rows read bounds the pass, and a prior widens it."""

    PARTS: ClassVar = {
        "target": {"kind": "moe", "experts": {"count": 128, "active": 8, "step_share": 0.7}},
        "drafter": {"step_ms": 2, "catch_up_ms": 0},
        "measurements": {"acceptance": {"kind": "conditional", "value": 0.8}},
    }

    def factor(self, *priors: Prior) -> Span:
        depth = given(case(engine={"draft_length": 3}, incumbent=OFF, **self.PARTS), priors=priors).projections.at(3)
        assert depth is not None
        assert depth.inputs.basis == "predicted"
        return depth.inputs.spans["verify.factor"]

    def test_it_lies_below_independent_routing(self) -> None:
        independent = 0.3 + 0.7 * 128 / 8 * (1 - (1 - 8 / 128) ** 4)
        assert self.factor().high == pytest.approx(independent)
        assert 1 < self.factor().low < independent

    def test_a_prior_counts_beside_it(self) -> None:
        found = self.factor(prior("verify_slope", 0.1, 0.5, 1.5))
        assert (found.low, found.high, found.shape) == (1.3, 5.5, "bounds")


def at_three_with(*priors: Prior) -> Situation:
    return given(case(engine={"draft_length": 3}, incumbent=OFF), priors=priors)


def test_the_longest_bar_comes_first() -> None:
    depth = given(case(**BAND_OF_UNKNOWN_KIND), search=8).projections.at(3)
    assert depth is not None
    bars = tornado(given(case(**BAND_OF_UNKNOWN_KIND), search=8).arithmetic, depth)
    assert [bar.name for bar in bars[:2]] == ["acceptance.conditional", "verify.factor"]
    assert {bar.name for bar in bars[2:]} == {"target.declared_ms", "drafter.step_ms"}
    lengths = [abs((bar.speedup_at_high or 0) - (bar.speedup_at_low or 0)) for bar in bars]
    assert lengths == sorted(lengths, reverse=True)
    pass_bar = bars[1]
    assert pass_bar.speedup_at_low is not None
    assert pass_bar.speedup_at_high is not None
    assert pass_bar.speedup_at_low / pass_bar.speedup_at_high == pytest.approx((36 + 80) / (36 + 64))
