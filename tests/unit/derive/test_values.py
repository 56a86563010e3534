from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, ClassVar

import pytest

from specrules.derive.situation import Situation
from specrules.derive.values import EvidenceState, Values, input_values, missing_asks
from specrules.model.case import Case
from specrules.model.fact import Disagreement, Fact

from .build import case, engine, given

NOW = datetime(2026, 11, 29, tzinfo=UTC)
OFF = {"drafting": False, "rate_tok_s": 25, "rate_kind": "decode"}


def values(one: Case | Situation, evidence: EvidenceState | None = None) -> Values:
    situation = one if isinstance(one, Situation) else given(one)
    return input_values(situation, evidence or EvidenceState(), NOW)[0]


class TestTarget:
    @pytest.mark.parametrize(
        ("kind", "hybrid"), [("dense", False), ("moe", False), ("hybrid", True), ("hybrid-moe", True), (None, None)]
    )
    def test_recurrent_layers_follow_from_the_kind(self, kind: str | None, hybrid: bool | None) -> None:
        assert values(case(target={"kind": kind}))["target.is_hybrid"] is hybrid

    def test_the_step_is_a_plain_one_or_unknown(self) -> None:
        drafts = {"drafting": True, "draft_length": 1, "rate_tok_s": 25, "tokens_per_round": 1.67}
        assert values(case(target={"step_ms": 67}, incumbent=drafts))["target.step_ms"] is None
        assert values(case(target={"step_ms": 40}, incumbent=drafts))["target.step_ms"] == 40
        assert values(case(incumbent=OFF))["target.step_ms"] == 40


class TestEngine:
    def test_names_are_those_of_the_engines_file(self) -> None:
        methods = [{**method.model_dump(), "aliases": [f"{method.id}-too"]} for method in engine().methods]
        one = case(engine={"methods": ["draft-simple-too", "ngram-mod"], "backends": ["ROCm", "Vulkan"]})
        found = values(given(one, on=engine(methods=methods)))
        assert found["engine.methods"] == ("draft-simple", "ngram-mod")
        assert found["engine.backends"] == ("HIP", "Vulkan")
        assert found["engine.combination_loads"] is True

    @pytest.mark.parametrize(
        ("on", "version", "number"),
        [("llama.cpp", "b11434", 11434), ("llama.cpp", None, None), ("halogen-flash-server", "0.17.3", None)],
    )
    def test_builds_are_numbers(self, on: str, version: str | None, number: float | None) -> None:
        assert values(case(engine={"id": on, "version": version}))["engine.version_number"] == number

    def test_a_method_that_takes_a_device_and_ignores_it(self) -> None:
        methods = [{**method.model_dump(), "draft_device": "same-device"} for method in engine().methods]
        bound = given(case(engine={"methods": ["draft-simple"]}), on=engine(methods=methods))
        assert values(bound)["engine.ignores_drafter_device"] is True
        assert values(case())["engine.ignores_drafter_device"] is False
        assert values(case(drafter={"class": "mtp-head"}))["engine.ignores_drafter_device"] is None
        closed = case(drafter={"class": "mtp-head"}, engine={"id": "halogen-flash-server", "version": None})
        assert values(closed)["engine.ignores_drafter_device"] is False

    def test_whether_tokenizers_are_compared_is_known_with_the_method(self) -> None:
        assert values(case())["engine.checks_tokenizer"] is True
        assert values(case(drafter={"class": "mtp-head"}))["engine.checks_tokenizer"] is False
        assert values(case(drafter={"class": "block"}))["engine.checks_tokenizer"] is None

    def test_issues_are_counted_and_named(self) -> None:
        situation = given(case(workload={"concurrency": 2}))
        found, issues = input_values(situation, EvidenceState(), NOW)
        assert found["engine.matching_issues"] == len(issues) > 0
        assert "gain-ends-with-streams" in {issue.id for issue in issues}


class TestArms:
    def test_off_is_the_measured_rate(self) -> None:
        one = case(
            incumbent={"drafting": True, "rate_tok_s": 25},
            target={"step_ms": 30, "step_is": "plain"},
            measurements={"off": {"rate_tok_s": 20, "rate_kind": "client"}},
        )
        found = values(one)
        assert (found["off.rate_tok_s"], found["off.rate_kind"]) == (20, "client")

    def test_else_the_incumbents_where_it_does_not_draft(self) -> None:
        found = values(case(incumbent={**OFF, "rate_kind": "client"}))
        assert (found["off.rate_tok_s"], found["off.rate_kind"]) == (25, "client")

    def test_else_one_token_per_plain_step_which_is_decoding_alone(self) -> None:
        found = values(case(incumbent={"drafting": True, "rate_tok_s": 25}, target={"step_ms": 32, "step_is": "plain"}))
        assert (found["off.rate_tok_s"], found["off.rate_kind"]) == (31.25, "decode")

    def test_a_round_of_the_incumbent_says_nothing_exact_about_off(self) -> None:
        drafts = {"drafting": True, "draft_length": 1, "rate_tok_s": 25, "tokens_per_round": 1.67}
        assert values(case(target={"step_ms": 67}, incumbent=drafts))["off.rate_tok_s"] is None

    def test_a_method_is_a_configuration(self) -> None:
        assert values(case(incumbent={"method": "mtp"}))["incumbent.configured"] is True
        assert values(case(incumbent={"drafting": False}))["incumbent.configured"] is False
        assert values(case())["incumbent.configured"] is None


class TestCandidate:
    run: ClassVar[dict[str, Any]] = {"draft_length": 7, "rate_tok_s": 40, "tokens_per_round": 3}

    @pytest.mark.parametrize(
        ("candidate", "measured"),
        [({}, False), ({"rate_tok_s": 40}, True), ({"drafting": False}, True), ({"draft_length": 7}, False)],
    )
    def test_a_rate_or_its_drafting_is_a_measured_run(self, candidate: dict[str, Any], measured: bool) -> None:
        assert values(case(measurements={"candidate": candidate}))["candidate.measured"] is measured

    def test_so_is_a_server_that_died_at_load(self) -> None:
        found = values(given(case(), {"candidate.died_at_load": True}))
        assert (found["candidate.measured"], found["candidate.died_at_load"]) == (True, True)

    def test_numbers_are_those_of_the_draft_length_of_the_verdict(self) -> None:
        found = values(
            case(
                engine={"draft_length": 7},
                incumbent=OFF,
                measurements={"candidate": self.run},
                workload={"concurrency": 2},
            )
        )
        assert found["candidate.draft_length"] == 7
        assert found["candidate.rate_tok_s"] == 40
        assert found["candidate.tokens_per_round"] == 3
        assert found["candidate.round_ms"] == 75
        assert found["candidate.verify_rows"] == 16
        assert found["candidate.speedup_mid"] == pytest.approx(1.6)
        assert (found["candidate.speedup_low"], found["candidate.speedup_high"]) == pytest.approx((1.552, 1.648))

    def test_a_round_is_held_against_the_plain_step_at_the_top_of_both_errors(self) -> None:
        found = values(case(engine={"draft_length": 7}, incumbent=OFF, measurements={"candidate": self.run}))
        assert found["candidate.step_comparable"] is True
        assert found["candidate.round_over_step"] == pytest.approx(75 / 0.97 / (40 * 0.97))
        stated = {**OFF, "rate_tok_s": {"value": 25, "low": 24, "high": 26}}
        exact = {**self.run, "rate_tok_s": {"value": 40, "low": 39, "high": 41}}
        found = values(case(engine={"draft_length": 7}, incumbent=stated, measurements={"candidate": exact}))
        assert found["candidate.round_over_step"] == pytest.approx((3000 / 39) / (1000 / 26))

    def test_without_a_plain_step_there_is_nothing_to_hold_it_against(self) -> None:
        drafts = {"drafting": True, "rate_tok_s": 25}
        found = values(case(engine={"draft_length": 7}, incumbent=drafts, measurements={"candidate": self.run}))
        assert (found["candidate.step_comparable"], found["candidate.round_over_step"]) == (False, None)

    def test_break_even_is_possible_where_some_length_may_pay(self) -> None:
        def possible(pass_ms: float, **more: Any) -> object:
            curve = [{"width": width, "ms": pass_ms} for width in (1, 2, 3, 4, 5, 6, 7, 8)]
            one = case(
                drafter={"step_ms": 0, "catch_up_ms": 0}, incumbent=OFF, measurements={"verify_curve": curve}, **more
            )
            return values(one)["break_even.possible"]

        assert possible(300) is True
        assert possible(330) is False
        assert possible(300, engine={"draft_length": 3}) is False
        assert values(case())["break_even.possible"] is None

    def test_the_smallest_acceptance_that_pays(self) -> None:
        curve = [{"width": 2, "ms": 60}]
        one = case(
            drafter={"step_ms": 0, "catch_up_ms": 0},
            engine={"draft_length": 1},
            incumbent=OFF,
            measurements={"verify_curve": curve},
        )
        found = values(one)
        assert (found["break_even.draft_length"], found["break_even.conditional_acceptance"]) == (1, pytest.approx(0.5))
        cheap = case(
            drafter={"step_ms": 0, "catch_up_ms": 0},
            engine={"draft_length": 1},
            incumbent=OFF,
            measurements={"verify_curve": [{"width": 2, "ms": 30}]},
        )
        assert values(cheap)["break_even.conditional_acceptance"] == 0
        tree = case(drafter={"class": "tree", "step_ms": 0}, engine={"draft_length": 1}, incumbent=OFF)
        assert values(tree)["break_even.conditional_acceptance"] is None

    def test_the_factor_between_the_depths_goes_either_way(self) -> None:
        acceptance = {"kind": "ratio", "value": 0.4, "draft_length": 4}
        for length, factor in ((1, 4), (4, 1), (8, 2)):
            one = case(
                drafter={"step_ms": 1},
                engine={"draft_length": length},
                incumbent=OFF,
                measurements={"acceptance": acceptance},
            )
            found = values(one)
            assert (found["acceptance.kind"], found["acceptance.draft_length"]) == ("ratio", 4)
            assert found["acceptance.extrapolation"] == factor


class TestEvidence:
    def test_what_reading_turned_up_is_counted_and_named(self) -> None:
        one, other = Fact(name="x", value=1.0), Fact(name="x", value=2.0)
        state = EvidenceState(
            disagreements=(Disagreement(name="x", used=one, other=other),), contradictions=("a", "b"), unread_lines=3
        )
        found = values(case(), state)
        assert (found["evidence.disagreements"], found["evidence.contradictions"]) == (1, 2)
        assert found["evidence.disagreement_note"] == "x is 1 according to the case, but 2 according to the case"
        assert found["evidence.contradiction_note"] == "a; b"
        assert found["evidence.unread_lines"] == 3

    def test_the_oldest_day_is_that_of_any_dated_statement(self) -> None:
        rate = {"value": 25, "observed_at": "2026-11-19"}
        assert values(case(incumbent={"rate_tok_s": rate}))["evidence.oldest_days"] == 10
        acceptance = {"kind": "conditional", "value": 0.5, "observed_at": "2026-11-09"}
        both = case(incumbent={"rate_tok_s": rate}, measurements={"acceptance": acceptance})
        assert values(both)["evidence.oldest_days"] == 20
        curve = [{"width": 1, "ms": {"value": 9, "observed_at": "2026-10-30"}}]
        assert (
            values(case(measurements={"verify_curve": curve, "acceptance": acceptance}))["evidence.oldest_days"] == 30
        )
        assert values(case())["evidence.oldest_days"] is None


def test_what_would_make_an_input_known_is_said_where_somebody_wrote_it_down() -> None:
    asked = missing_asks(given(case()), ("off.rate_tok_s", "engine.id", "not.declared"))
    assert asked == ("off.rate_tok_s: run the incumbent with drafting off",)


def test_memory_is_planned_with_the_high_end() -> None:
    drafter = {"memory_gib": {"low": 1.0, "high": 2.0}}
    assert values(case(drafter=drafter))["drafter.memory_gib"] == 2.0
    assert values(case(drafter={"memory_gib": 1.5}))["drafter.memory_gib"] == 1.5
    assert values(case())["drafter.memory_gib"] is None
