from __future__ import annotations

from math import log
from typing import Any

import pytest
from hypothesis import given as forall
from hypothesis import settings
from hypothesis import strategies as st

from specrules.derive.flips import flip_points
from specrules.derive.situation import Situation
from specrules.derive.spans import Span
from specrules.derive.uncertainty import uncertain
from specrules.model.rule import SpeedupClass
from specrules.model.verdict import FlipPoint

from .build import case, given

OFF = {"drafting": False, "rate_tok_s": 25, "rate_kind": "decode"}
FRANK: dict[str, Any] = {
    "target": {"step_ms": 67},
    "drafter": {"step_ms": 12},
    "engine": {"id": "halogen-flash-server", "version": None},
    "incumbent": {"drafting": True, "draft_length": 1, "rate_tok_s": 25, "tokens_per_round": 1.67},
    "measurements": {"acceptance": {"kind": "conditional", "low": 0.4, "high": 0.6}},
}


def flips(situation: Situation, speedup_class: SpeedupClass) -> dict[str, FlipPoint]:
    found = flip_points(situation.sides, situation.arithmetic, situation.projections, speedup_class)
    assert len({flip.name for flip in found}) == len(found)
    return {flip.name: flip for flip in found}


def frank(**changes: Any) -> Situation:
    parts = {**FRANK, **{group: {**FRANK[group], **change} for group, change in changes.items()}}
    return given(case(**parts), search=4)


def high(situation: Situation) -> float | None:
    return situation.projections.envelope(lambda depth: depth.speedup).high


class TestALossFlipsWhereItsHighEndReachesOne:
    @pytest.fixture(scope="class", name="found")
    @classmethod
    def _found(cls) -> dict[str, FlipPoint]:
        return flips(frank(), "loss")

    def test_which_inputs_flip_it(self, found: dict[str, FlipPoint]) -> None:
        assert {name: flip.flips_at for name, flip in found.items()} == {
            "incumbent.rate_tok_s": pytest.approx(23.877, abs=1e-3),
            "verify_ms": pytest.approx(54.4, abs=1e-3),
            "acceptance.conditional": pytest.approx(0.64113, abs=1e-4),
            "drafter.step_ms": pytest.approx(10.1565, abs=1e-3),
        }

    def test_the_nearest_comes_first(self, found: dict[str, FlipPoint]) -> None:
        changes = [abs(log(1 + (flip.change_percent or 0) / 100)) for flip in found.values()]
        assert changes == sorted(changes)

    def test_values_are_those_in_the_middle(self, found: dict[str, FlipPoint]) -> None:
        assert found["acceptance.conditional"].value == 0.5
        assert found["verify_ms"].value == pytest.approx(1.1 * 67)
        assert found["verify_ms"].unit == "ms"

    def test_a_drafter_of_that_price_breaks_even(self, found: dict[str, FlipPoint]) -> None:
        step = found["drafter.step_ms"].flips_at
        assert high(frank(drafter={"step_ms": step})) == pytest.approx(1, abs=1e-5)

    def test_acceptance_of_that_height_breaks_even(self, found: dict[str, FlipPoint]) -> None:
        band = {"kind": "conditional", "low": 0.4, "high": found["acceptance.conditional"].flips_at}
        assert high(frank(measurements={"acceptance": band})) == pytest.approx(1, abs=1e-5)

    def test_a_floor_of_that_height_breaks_even(self, found: dict[str, FlipPoint]) -> None:
        floor = found["verify_ms"].flips_at
        assert floor is not None
        share = 66.8 / floor - 1
        assert high(frank(incumbent={"head_share": share})) == pytest.approx(1, abs=1e-5)


def test_a_win_flips_where_its_low_end_falls_to_the_margin() -> None:
    run = {"draft_length": 7, "rate_tok_s": 43.5, "tokens_per_round": 3.87}
    parts: dict[str, Any] = {"drafter": {"class": "block"}, "engine": {"draft_length": 7}}
    situation = given(case(**parts, incumbent={**OFF, "rate_tok_s": 18.8}, measurements={"candidate": run}))
    found = flips(situation, "win")
    assert found["run.rate_tok_s"].value == 43.5
    assert found["run.rate_tok_s"].flips_at == pytest.approx(1.05 * 18.8)
    assert found["incumbent.rate_tok_s"].flips_at == pytest.approx(43.5 * 0.97 / 1.05, rel=1e-4)
    worse = {**run, "rate_tok_s": {"value": 30, "low": found["run.rate_tok_s"].flips_at, "high": 44}}
    again = given(case(**parts, incumbent={**OFF, "rate_tok_s": 18.8}, measurements={"candidate": worse}))
    assert again.projections.envelope(lambda depth: depth.speedup).low == pytest.approx(1.05, rel=1e-4)


def test_anything_else_flips_where_its_point_reaches_one() -> None:
    curve = {"verify_curve": [{"width": 4, "ms": 60}]}
    acceptance = {"kind": "conditional", "low": 0.3, "high": 0.9}
    parts: dict[str, Any] = {"engine": {"draft_length": 3}, "incumbent": OFF}
    situation = given(
        case(**parts, drafter={"step_ms": 2, "catch_up_ms": 2}, measurements={**curve, "acceptance": acceptance})
    )
    found = flips(situation, "wide")
    p = found["acceptance.conditional"].flips_at
    assert p is not None
    assert 1 + p + p**2 + p**3 == pytest.approx(68 / 40)
    assert found["verify.curve_ms"].flips_at == pytest.approx(40 * (1 + 0.6 + 0.36 + 0.216) - 8)
    assert found["drafter.catch_up_ms"].flips_at == pytest.approx(40 * 2.176 - 66)


def test_a_share_flips_nothing_above_one() -> None:
    curve = {"verify_curve": [{"width": 4, "ms": 200}], "acceptance": {"kind": "conditional", "value": 0.5}}
    one = case(drafter={"step_ms": 2, "catch_up_ms": 1}, engine={"draft_length": 3}, incumbent=OFF, measurements=curve)
    found = flips(given(one), "loss")["acceptance.conditional"]
    assert (found.flips_at, found.change_percent) == (None, None)
    assert found.note == "conditional acceptance p: no value within reach flips it"


def test_inputs_that_nothing_flips_come_last() -> None:
    run = {"draft_length": 7, "rate_tok_s": 43.5, "tokens_per_round": 3.87}
    one = case(engine={"draft_length": 7}, incumbent={**OFF, "rate_tok_s": 18.8}, measurements={"candidate": run})
    found = [flip.flips_at is None for flip in flips(given(one), "win").values()]
    assert found == [False, False, True, True]


def test_without_a_speedup_nothing_flips() -> None:
    assert flips(given(case()), "unknown") == {}


def test_inputs_at_zero_have_no_factor_to_flip_at() -> None:
    curve = {"verify_curve": [{"width": 4, "ms": 60}], "acceptance": {"kind": "conditional", "value": 0.6}}
    one = case(drafter={"step_ms": 0, "catch_up_ms": 0}, engine={"draft_length": 3}, incumbent=OFF, measurements=curve)
    assert not {"drafter.step_ms", "drafter.catch_up_ms"} & set(flips(given(one), "wide"))


@settings(max_examples=8, deadline=None)
@forall(
    st.floats(0.2, 0.9),
    st.floats(0.5, 20),
    st.floats(20, 150),
    st.floats(5, 60),
    st.sampled_from(["loss", "win", "wide", "marginal"]),
)
def test_at_every_flip_point_the_speedup_is_the_threshold(
    p: float, step: float, pass_ms: float, rate: float, speedup_class: SpeedupClass
) -> None:
    curve = [{"width": 4, "ms": {"value": pass_ms, "low": 0.9 * pass_ms, "high": 1.2 * pass_ms}}]
    band = {"kind": "conditional", "low": 0.9 * p, "value": p, "high": 1.1 * p, "draft_length": 4}
    one = case(
        drafter={"step_ms": step, "catch_up_ms": 1},
        engine={"draft_length": 3},
        incumbent={"drafting": False, "rate_tok_s": {"value": rate, "low": 0.95 * rate, "high": 1.05 * rate}},
        measurements={"verify_curve": curve, "acceptance": band},
    )
    situation = given(one)
    depth = situation.projections.at(3)
    assert depth is not None
    end, threshold = {"loss": (1, 1.0), "win": (0, 1.05)}.get(speedup_class, (None, 1.0))
    spans = depth.inputs.spans
    middle = {**depth.inputs.fixed, **{name: span.mid for name, span in spans.items()}}
    for name, flip in flips(situation, speedup_class).items():
        if flip.flips_at is None:
            continue
        if end is None:
            found = situation.arithmetic.run({**middle, name: flip.flips_at})["speedup"]
            assert found == pytest.approx(threshold, rel=1e-6)
            continue
        known = {**spans, name: Span.exact(flip.flips_at)}
        finer = uncertain(situation.arithmetic, depth.inputs.fixed, known, 8191).ends["speedup"][end]
        assert finer == pytest.approx(threshold, rel=1e-2)
