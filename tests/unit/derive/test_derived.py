from __future__ import annotations

from typing import Any, ClassVar

import pytest

from specrules.derive.derived import derived_facts
from specrules.model.fact import Fact

from .build import case, given

MTP = {"drafting": True, "draft_length": 1, "rate_tok_s": 25, "tokens_per_round": 1.67}


def derived(more: dict[str, Any] | None = None, **parts: Any) -> dict[str, Fact]:
    return derived_facts(given(case(**parts), more))


def test_the_incumbents_round_and_the_floor_under_a_pass() -> None:
    found = derived(target={"step_ms": 67}, incumbent=MTP)
    assert set(found) == {"incumbent.round_ms", "target.verify_floor_ms"}
    round_ms = found["incumbent.round_ms"]
    assert (round_ms.value, round_ms.unit, round_ms.low) == (66.8, "ms", None)
    assert (round_ms.formula, round_ms.substituted) == ("T_i = A_i / R", "1000 * 1.67 / 25")
    assert round_ms.provenance.kind == "derived"
    floor = found["target.verify_floor_ms"]
    assert floor.value == pytest.approx(58.087, abs=5e-4)
    assert floor.formula == "V(w) >= T_i / (1 + h), for w >= 2"
    assert floor.substituted == "66.8 / (1 + 0.15)"


def test_a_round_keeps_its_ends() -> None:
    found = derived(incumbent={**MTP, "rate_tok_s": {"value": 25, "low": 20, "high": 40}})["incumbent.round_ms"]
    assert (found.low, found.value, found.high) == pytest.approx((41.75, 66.8, 83.5))


def test_the_plain_step_by_where_it_comes_from() -> None:
    off = derived(incumbent=MTP, measurements={"off": {"rate_tok_s": 20}})["target.step_ms"]
    assert (off.value, off.formula, off.substituted) == (50, "t1 = 1 / R_off", "1000 / 20")
    curve = {"verify_curve": [{"width": 1, "ms": 8.47}]}
    first = derived(incumbent={"drafting": True}, measurements=curve)["target.step_ms"]
    assert (first.value, first.formula, first.substituted) == (8.47, "t1 = V(1)", "8.47")
    assert "target.step_ms" not in derived(target={"step_ms": 40, "step_is": "plain"}, incumbent=MTP)


def test_a_plain_step_beside_a_stated_round_has_a_name_of_its_own() -> None:
    found = derived(target={"step_ms": 67}, incumbent=MTP, measurements={"off": {"rate_tok_s": 20}})
    assert found["target.plain_step_ms"].value == 50
    assert "target.step_ms" not in found


def test_what_both_sides_pay_is_shown_where_it_is_taken_off() -> None:
    paid = {"overhead": {"ms": 10, "kind": "per_token"}}
    found = derived(incumbent={**MTP, "rate_kind": "client"}, measurements=paid)["incumbent.round_ms"]
    assert found.value == pytest.approx(50.1)
    assert (found.formula, found.substituted) == ("T_i = A_i (1 / R - c)", "1.67 * (1000 / 25 - 10)")


class TestRun:
    fleet: ClassVar[dict[str, Any]] = {
        "drafter": {"class": "block"},
        "incumbent": {"drafting": False, "rate_tok_s": 18.8},
        "measurements": {
            "candidate": {
                "draft_length": 7,
                "rate_tok_s": 43.5,
                "acceptance": {"kind": "ratio", "value": 0.41, "draft_length": 7},
            }
        },
    }

    def test_the_fleet_in_numbers(self) -> None:
        found = derived(**self.fleet)
        assert found["candidate.conditional_acceptance"].value == pytest.approx(0.7754, abs=5e-5)
        assert found["candidate.tokens_per_round"].value == pytest.approx(3.87)
        assert found["candidate.tokens_per_round"].formula == "A = 1 + r K"
        assert found["candidate.round_ms"].value == pytest.approx(88.97, abs=0.005)
        assert found["candidate.rate_times_step"].value == pytest.approx(2.314, abs=5e-4)
        assert found["candidate.rate_times_step"].substituted == "43.5 * 53.19 / 1000, held against 3.87"
        assert found["candidate.implied_draft_ms"].value == pytest.approx(30.5, abs=0.06)
        assert found["candidate.implied_draft_ms"].substituted == "88.97 - 1.1 * 53.19"

    def test_tokens_name_the_kind_they_come_from(self) -> None:
        counts = {"kind": "counts", "accepted": 50, "drafted": 50, "rounds": 13, "draft_length": 4}
        measured = {"candidate": {"rate_tok_s": 2, "acceptance": counts}}
        found = derived(measurements=measured)
        assert found["candidate.tokens_per_round"].formula == "A = 1 + accepted / rounds"
        assert found["candidate.conditional_acceptance"].substituted == "K = 3.84615"
        assert "candidate.rate_times_step" not in found

    def test_the_round_of_a_drafter_that_drafts_in_a_share_of_the_rounds_is_that_of_those(self) -> None:
        # A share of 0.3 commits 4 tokens in 30 ms, the rest one in 20 ms: 1.9 tokens in 23 ms.
        run = {"draft_length": 8, "rate_tok_s": 1900 / 23, "tokens_per_round": 4}
        parts: dict[str, Any] = {
            "incumbent": {"drafting": False, "rate_tok_s": 50},
            "engine": {"methods": ["ngram-mod"]},
            "measurements": {"candidate": run},
        }
        found = derived(drafter={"class": "ngram", "coverage": 0.3}, **parts)["candidate.round_ms"]
        assert found.value == pytest.approx(30)
        assert found.formula.endswith("- (1 - phi) t1) / phi")
        assert found.substituted == "phi = 0.3, A = 4, rate = 82.6087"
        unknown = derived(drafter={"class": "ngram"}, **parts)
        assert {"candidate.round_ms", "candidate.implied_draft_ms"}.isdisjoint(unknown)
        assert unknown["candidate.rate_times_step"].value == pytest.approx(1.652, abs=5e-4)

    def test_an_overhead_per_token_is_no_part_of_the_round(self) -> None:
        paid = {**self.fleet["measurements"], "overhead": {"ms": 3, "kind": "per_token"}}
        found = derived(**{**self.fleet, "measurements": paid})["candidate.round_ms"]
        assert found.value == pytest.approx(3.87 * (1000 / 43.5 - 3))
        assert (found.formula, found.substituted) == ("T = A (1 / rate - c)", "3.87 * (1000 / 43.5 - 3)")

    def test_tokens_that_were_stated_are_not_derived(self) -> None:
        measured = {"candidate": {"draft_length": 7, "rate_tok_s": 43.5, "tokens_per_round": 3.87}}
        assert "candidate.tokens_per_round" not in derived(measurements=measured)

    def test_a_tree_inverts_no_acceptance(self) -> None:
        tokens = {"acceptance": {"kind": "tokens_per_round", "value": 3, "draft_length": 5}}
        assert derived(drafter={"class": "tree"}, measurements=tokens) == {}

    def test_a_conditional_acceptance_is_not_inverted_again(self) -> None:
        assert derived(measurements={"acceptance": {"kind": "conditional", "value": 0.6}}) == {}
