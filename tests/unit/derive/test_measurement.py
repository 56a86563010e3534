from __future__ import annotations

from typing import Any

import pytest

from specrules.derive.flips import flip_points
from specrules.derive.information import worth
from specrules.derive.measurement import measurements
from specrules.derive.situation import Situation
from specrules.economics.samples import rounds_to_settle
from specrules.model.engine import Engine
from specrules.model.rule import SpeedupClass
from specrules.model.verdict import Measurement

from .build import case, engine, given

OFF = {"drafting": False, "rate_tok_s": 25, "rate_kind": "decode"}
FRANK: dict[str, Any] = {
    "target": {"step_ms": 67},
    "drafter": {"step_ms": 12},
    "engine": {"id": "halogen-flash-server", "version": None},
    "incumbent": {"drafting": True, "draft_length": 1, "rate_tok_s": 25, "tokens_per_round": 1.67},
}
BAND = {"kind": "conditional", "low": 0.4, "high": 0.6}
RATIO = {"kind": "ratio", "low": 0.4, "high": 0.6, "draft_length": 7}


def ranked(situation: Situation, speedup_class: SpeedupClass = "wide") -> list[Measurement]:
    flips = flip_points(situation.sides, situation.arithmetic, situation.projections, speedup_class)
    known = worth(situation.projections, situation.sides.steps.plain)
    return list(measurements(situation, flips, speedup_class, known))


def named(found: list[Measurement], recipe: str) -> Measurement:
    return next(item for item in found if item.recipe == recipe)


class TestFrank:
    def test_the_run_with_drafting_off_comes_first(self) -> None:
        found = ranked(given(case(**FRANK, measurements={"acceptance": BAND}), search=4), "loss")[0]
        assert found.recipe == "drafting-off"
        assert '"drafter": "serial"' in found.command
        assert found.minutes == 10
        assert (found.expected.low, found.expected.high) == (pytest.approx(66.8 / 1.15 / 2), 66.8)

    def test_no_step_saves_the_candidate_but_below_forty_ms_drafting_off_beats_today(self) -> None:
        found = ranked(given(case(**FRANK, measurements={"acceptance": BAND}), search=4), "loss")[0]
        assert found.threshold == 40
        assert found.quantity == "ms per plain step; below the threshold drafting off beats the incumbent"

    def test_a_step_that_flips_the_candidate_and_is_to_be_expected_is_the_threshold(self) -> None:
        situation = given(case(**{**FRANK, "drafter": {"step_ms": 5}}, measurements={"acceptance": BAND}), search=4)
        found = named(ranked(situation, "unknown"), "drafting-off")
        assert found.quantity == "ms per plain step"
        assert found.threshold is not None
        # The step is the best known for the assumed pass, 1.1 of it: with it the point is at 1.
        step = given(
            case(
                **{**FRANK, "drafter": {"step_ms": 5}},
                measurements={"acceptance": BAND, "off": {"rate_tok_s": 1000 / found.threshold}},
            ),
            search=4,
        )
        speedups = [depth.outcome.at_mid("speedup") or 0 for depth in step.projections.depths]
        assert max(speedups) == pytest.approx(1, abs=1e-6)

    def test_a_loss_beside_a_plain_step_flips_at_the_step_that_the_pass_cannot_undercut(self) -> None:
        plain = {"target": {"step_ms": 67, "step_is": "plain"}, "incumbent": {**OFF, "drafting": True}}
        situation = given(case(**{**FRANK, **plain}, measurements={"acceptance": BAND}), search=4)
        found = named(ranked(situation, "loss"), "drafting-off")
        assert found.threshold == pytest.approx(54.4, rel=1e-5)
        cheaper = {**plain, "target": {"step_ms": found.threshold, "step_is": "plain"}}
        again = given(case(**{**FRANK, **cheaper}, measurements={"acceptance": BAND}), search=4)
        assert again.projections.envelope(lambda depth: depth.speedup).high == pytest.approx(1, abs=1e-5)


class TestWhichRecipes:
    def test_those_of_other_methods_are_not_offered(self) -> None:
        recipes = {item.recipe for item in ranked(given(case(engine={"methods": ["draft-simple"]})))}
        assert "speculative-run" in recipes
        assert {"speculative-run-mtp", "speculative-run-ngram", "synthetic-zero-mtp"}.isdisjoint(recipes)

    def test_without_a_method_only_those_that_need_neither_method_nor_drafter(self) -> None:
        recipes = {item.recipe for item in ranked(given(case(drafter={"class": "block"})))}
        assert recipes == {"drafting-off", "verify-curve", "incumbent-hour"}

    def test_an_engine_without_recipes_offers_none(self) -> None:
        assert ranked(given(case(), on=engine(recipes=[]))) == []

    def offered(self, *recipes: dict[str, Any]) -> Engine:
        plain = {"title": "t", "command": "c", "settles": "s", "known": "source-b11434", "minutes": 10}
        return engine(recipes=[{**plain, **recipe} for recipe in recipes])

    def test_what_gives_a_missing_input_goes_first(self) -> None:
        offered = self.offered(
            {"id": "step", "yields": ["drafter.step_ms"], "minutes": 600}, {"id": "off", "yields": ["off.rate_tok_s"]}
        )
        one = case(
            engine={"methods": ["draft-simple"]},
            incumbent={"drafting": True, "draft_length": 1, "rate_tok_s": 25, "tokens_per_round": 1.67},
            measurements={"acceptance": BAND},
        )
        assert [item.recipe for item in ranked(given(one, on=offered))] == ["step", "off"]

    def test_then_what_moves_the_rate_most_per_minute(self) -> None:
        curve = [{"width": 4, "ms": {"value": 60, "low": 50, "high": 70}}]
        one = case(
            drafter={"step_ms": {"value": 2, "low": 1.9, "high": 2.1}, "catch_up_ms": 0},
            engine={"methods": ["draft-simple"], "draft_length": 3},
            incumbent=OFF,
            measurements={
                "verify_curve": curve,
                "acceptance": {"kind": "conditional", "value": 0.6, "draft_length": 3},
            },
        )
        curve_recipe = {"id": "curve", "yields": ["target.verify_curve"]}
        step_recipe = {"id": "step", "yields": ["drafter.step_ms"]}
        found = ranked(given(one, on=self.offered(step_recipe, curve_recipe)))
        assert [item.recipe for item in found] == ["curve", "step"]
        dear = ranked(given(one, on=self.offered(step_recipe, {**curve_recipe, "minutes": 10000})))
        assert [item.recipe for item in dear] == ["step", "curve"]


class TestExpectations:
    @pytest.fixture(scope="class", name="found")
    @classmethod
    def _found(cls) -> list[Measurement]:
        curve = [{"width": 1, "ms": 40}, {"width": 4, "ms": {"value": 60, "low": 50, "high": 70}}]
        one = case(
            target={"name": "t.gguf"},
            drafter={"name": "d.gguf", "step_ms": {"value": 2, "low": 1, "high": 3}, "catch_up_ms": 0},
            engine={"methods": ["draft-simple"], "draft_length": 3},
            incumbent=OFF,
            measurements={
                "verify_curve": curve,
                "acceptance": {"kind": "conditional", "low": 0.5, "high": 0.7, "draft_length": 3},
            },
        )
        return ranked(given(one))

    def test_a_run_of_the_candidate(self, found: list[Measurement]) -> None:
        run = named(found, "speculative-run")
        assert run.command == (
            "llama-server -m t.gguf --spec-type draft-simple -md d.gguf --spec-draft-n-max 3 -np 1 --metrics -lv 4"
        )
        assert run.quantity == "tok/s at K=3"
        # Between the rates at the ends of acceptance, the pass being known best in the middle of its bounds.
        assert run.expected.low is not None
        assert run.expected.high is not None
        assert 1875 / 79 < run.expected.low < 1000 * 2.176 / 66 < run.expected.high < 1000 * 2.533 / 53
        assert run.threshold == pytest.approx(1.05 * 25)
        assert run.samples_needed is not None

    def test_a_run_in_which_nothing_is_accepted(self, found: list[Measurement]) -> None:
        zero = named(found, "synthetic-zero")
        assert (zero.expected.low, zero.expected.high) == pytest.approx((1000 / 79, 1000 / 53))
        assert zero.threshold == pytest.approx(25 / (1 + 0.6 + 0.36 + 0.216))
        assert zero.samples_needed is None

    def test_a_verify_curve(self, found: list[Measurement]) -> None:
        curve = named(found, "verify-curve")
        assert curve.quantity == "ms for 4 rows"
        assert (curve.expected.low, curve.expected.high) == (50, 70)
        assert curve.threshold == pytest.approx(40 * 2.176 - 6)

    def test_the_drafter_alone(self, found: list[Measurement]) -> None:
        alone = named(found, "drafter-alone")
        assert (alone.expected.low, alone.expected.high) == (1, 3)
        assert alone.threshold == pytest.approx((40 * 2.176 - 60) / 3)

    def test_agreement_of_two_models_is_held_against_the_tokens_that_break_even(self, found: list[Measurement]) -> None:
        agreement = named(found, "greedy-agreement")
        assert agreement.quantity == "tokens per round at K=3"
        assert agreement.threshold == pytest.approx(66 / 40)

    def test_what_yields_no_number_has_no_expectation(self, found: list[Measurement]) -> None:
        headers = named(found, "tokenizer-headers")
        assert (headers.quantity, headers.threshold, headers.expected.low) == ("", None, None)


@pytest.mark.parametrize(("p", "rounds"), [(0.6, 34), (0.7, 275), (0.74, 4910)])
def test_rounds_that_tell_an_acceptance_from_its_break_even(p: float, rounds: int) -> None:
    """Frank at K = 3, where 2.7425 tokens per round break even."""
    acceptance = {"kind": "conditional", "value": p}
    parts = {**FRANK, "engine": {**FRANK["engine"], "draft_length": 3}}
    offered = engine("halogen-flash-server").model_copy(
        update={"recipes": tuple(item for item in engine().recipes if item.id == "incumbent-hour")}
    )
    recipe = offered.recipes[0].model_copy(update={"yields": ("acceptance",)})
    situation = given(
        case(**parts, measurements={"acceptance": acceptance}), on=offered.model_copy(update={"recipes": (recipe,)})
    )
    (found,) = ranked(situation, "loss")
    assert found.samples_needed == pytest.approx(rounds, rel=0.01)
    assert found.samples_needed >= rounds_to_settle(p, 3, 2.7425)


def test_an_acceptance_at_its_break_even_is_never_told_apart() -> None:
    curve = {"verify_curve": [{"width": 2, "ms": 60}], "acceptance": {"kind": "conditional", "value": 0.5}}
    one = case(
        drafter={"step_ms": 0, "catch_up_ms": 0},
        engine={"methods": ["draft-simple"], "draft_length": 1},
        incumbent=OFF,
        measurements=curve,
    )
    assert named(ranked(given(one)), "speculative-run").samples_needed is None
