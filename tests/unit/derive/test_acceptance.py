from __future__ import annotations

from typing import Any

import pytest

from specrules.derive.acceptance import Observed, from_statement, observed_acceptance
from specrules.derive.spans import Span
from specrules.economics.sampling_error import ratio_interval
from specrules.model.acceptance import Acceptance

from .build import case, engine, facts

VECTOR = [0.8, 0.6, 0.5, 0.4]


def read(kind: str, **fields: Any) -> Observed:
    return from_statement(Acceptance(kind=kind, **fields))  # type: ignore[arg-type]


class TestStated:
    def test_a_ratio_inverts_to_another_number(self) -> None:
        found = read("ratio", value=0.41, draft_length=7)
        assert found.ratio == Span.exact(0.41)
        assert found.conditional is not None
        assert found.conditional.mid == pytest.approx(0.7754, abs=5e-5)
        assert found.depth == 7

    def test_a_conditional_acceptance_is_itself_and_an_interval_has_its_middle(self) -> None:
        found = read("conditional", low=0.4, high=0.6)
        assert found.conditional == Span(0.4, 0.5, 0.6)
        assert found.depth is None

    def test_tokens_invert_at_their_depth(self) -> None:
        found = read("tokens_per_round", value=3.87, draft_length=7)
        assert found.tokens == Span.exact(3.87)
        assert found.conditional is not None
        assert found.conditional.mid == pytest.approx(0.7754, abs=5e-5)

    def test_the_length_of_counts_is_drafted_over_rounds(self) -> None:
        found = read("counts", accepted=50, drafted=50, rounds=13, draft_length=4)
        assert found.tokens is not None
        assert (found.tokens.mid, found.tokens.high) == (1 + 50 / 13, 1 + 50 / 13)
        assert (found.depth, found.length) == (4, 50 / 13)
        # Inverted at K_eff, where all of the drafted tokens were accepted.
        assert found.conditional is not None
        assert (found.conditional.mid, found.conditional.high) == (1.0, 1.0)

    def test_counts_have_the_error_of_tokens_that_hang_together(self) -> None:
        found = read("counts", accepted=600, drafted=1200, rounds=400, draft_length=3).tokens
        assert found is not None
        ratio = ratio_interval(600, 1200, 3)
        assert (found.low, found.mid, found.high) == pytest.approx((1 + 3 * ratio.low, 2.5, 1 + 3 * ratio.high))
        alone = 1.6449 * (0.25 / 1200) ** 0.5
        assert ratio.high - 0.5 > 1.2 * alone

    def test_counts_without_a_draft_length_have_that_of_their_rounds(self) -> None:
        assert read("counts", accepted=30, drafted=52, rounds=13).depth == 4
        varying = read("counts", accepted=30, drafted=50, rounds=13)
        assert (varying.depth, varying.length) == (None, 50 / 13)
        bare = read("counts", accepted=30, rounds=13)
        assert (bare.depth, bare.conditional) == (None, None)
        assert bare.tokens == Span.exact(1 + 30 / 13)

    def test_a_vector_adds_up(self) -> None:
        found = read("position_vector", vector=VECTOR)
        assert found.tokens is not None
        assert found.tokens.mid == pytest.approx(3.3)
        assert found.depth == 4

    def test_position_zero_may_be_the_anchor(self) -> None:
        found = read("position_vector", vector=[1.0, *VECTOR], anchor=True)
        assert found.tokens is not None
        assert found.tokens.mid == pytest.approx(3.3)
        assert found.positions == tuple(VECTOR)

    def test_the_engine_says_so_unless_the_statement_does(self) -> None:
        with_anchor = Acceptance(kind="position_vector", vector=[1.0, *VECTOR])
        assert from_statement(with_anchor, anchored=True).positions == tuple(VECTOR)
        explicit = Acceptance(kind="position_vector", vector=VECTOR, anchor=False)
        assert from_statement(explicit, anchored=True).positions == tuple(VECTOR)

    def test_a_histogram_is_a_vector_of_shares(self) -> None:
        found = read("histogram", histogram=[2, 2, 2, 4], anchor=True)
        assert found.positions == pytest.approx((0.8, 0.6, 0.4))
        assert found.tokens is not None
        assert found.tokens.mid == pytest.approx(2.8)

    @pytest.mark.parametrize(
        ("kind", "fields", "fault"),
        [
            ("tokens_per_round", {"value": 9, "draft_length": 4}, "9 tokens per round cannot be"),
            ("counts", {"accepted": 50, "rounds": 5, "draft_length": 4}, "11 tokens per round cannot be"),
            ("counts", {"accepted": 10, "drafted": 50, "rounds": 5, "draft_length": 4}, "10 tokens drafted per round"),
            ("histogram", {"histogram": [0, 0, 0]}, "rounds must be above 0"),
            ("position_vector", {"vector": [1.0], "anchor": True}, "the anchor alone"),
        ],
    )
    def test_what_no_round_can_commit_is_refused(self, kind: str, fields: dict[str, Any], fault: str) -> None:
        with pytest.raises(ValueError, match=fault):
            read(kind, **fields)

    def test_rounded_tokens_at_the_limit_are_not(self) -> None:
        assert read("tokens_per_round", value=5.004, draft_length=4).tokens == Span.exact(5.004)


class TestAtADepth:
    def test_a_ratio_is_used_as_it_is_at_its_own_depth_only(self) -> None:
        found = read("ratio", value=0.41, draft_length=7)
        fixed, spans = found.at(7)
        assert fixed == {"how": "ratio"}
        assert spans["acceptance.ratio"] == Span.exact(0.41)
        fixed, spans = found.at(5)
        assert fixed == {"how": "conditional"}
        assert set(spans) == {"acceptance.conditional", "acceptance.spread"}

    def test_a_vector_gives_every_smaller_depth_exactly(self) -> None:
        found = read("position_vector", vector=VECTOR)
        for length in range(1, 5):
            fixed, _ = found.at(length)
            assert fixed == {"how": "positions", "acceptance.positions": tuple(VECTOR[:length])}
        assert found.at(5)[0] == {"how": "conditional"}

    def test_tokens_are_used_as_measured_at_their_depth(self) -> None:
        fixed, spans = read("tokens_per_round", value=3, draft_length=4).at(4)
        assert fixed == {"how": "measured"}
        assert spans["acceptance.tokens"] == Span.exact(3.0)

    @pytest.mark.parametrize(
        ("length", "width"), [(2, 0.05), (4, 0.0), (8, 0.05), (9, 0.08), (16, 0.08), (17, 0.15), (1, 0.08)]
    )
    def test_another_depth_has_its_error_in_either_direction(self, length: int, width: float) -> None:
        found = Observed("conditional", 4, conditional=Span.exact(0.7))
        assert found.at(length)[1]["acceptance.spread"] == Span(1 - width, 1, 1 + width)
        assert found.at(length, spread=False)[1]["acceptance.spread"] == Span.exact(1.0)

    def test_counts_of_varying_length_are_carried_from_that_length(self) -> None:
        spread = read("counts", accepted=30, drafted=50, rounds=13).at(16)[1]["acceptance.spread"]
        assert spread == Span(0.85, 1, 1.15)

    def test_what_a_tree_accepted_says_nothing_elsewhere(self) -> None:
        assert read("ratio", value=0.1, draft_length=5).at(5, chain=False) == ({"how": "conditional"}, {})
        assert read("position_vector", vector=VECTOR).at(3, chain=False) == ({"how": "conditional"}, {})
        tokens = read("tokens_per_round", value=3, draft_length=5)
        assert tokens.at(5, chain=False) == ({"how": "measured"}, {"acceptance.tokens": Span.exact(3.0)})
        assert tokens.at(4, chain=False) == ({"how": "conditional"}, {})
        assert "acceptance.conditional" in read("conditional", value=0.6).at(4, chain=False)[1]


class TestObserved:
    def test_a_statement_goes_before_evidence(self) -> None:
        one = case(measurements={"acceptance": {"kind": "conditional", "value": 0.5}})
        found = observed_acceptance(one, facts(one, candidate__tokens_per_round=4.0, candidate__draft_length=7.0))
        assert found is not None
        assert found.kind == "conditional"

    def test_the_acceptance_of_the_candidates_run_counts_too(self) -> None:
        one = case(measurements={"candidate": {"acceptance": {"kind": "ratio", "value": 0.41, "draft_length": 7}}})
        found = observed_acceptance(one, facts(one))
        assert found is not None
        assert found.depth == 7

    def test_evidence_gives_a_vector_else_counts(self) -> None:
        one = case()
        both = {"candidate__position_acceptance": (1.0, 0.9), "candidate__tokens_per_round": 2.9}
        found = observed_acceptance(one, facts(one, **both))
        assert found is not None
        assert found.positions == (1.0, 0.9)
        counts = {
            "candidate__tokens_per_round": 2.5,
            "candidate__mean_draft_length": 1.9,
            "candidate__draft_length": 2.0,
        }
        found = observed_acceptance(one, facts(one, **counts))
        assert found is not None
        assert (found.tokens, found.depth, found.length) == (Span.exact(2.5), 2, 1.9)

    def test_a_vector_that_rises_gives_way_to_the_counts_beside_it(self) -> None:
        one = case()
        read_facts = {"candidate__position_acceptance": (0.5, 0.9), "candidate__tokens_per_round": 2.4}
        found = observed_acceptance(one, facts(one, **read_facts))
        assert found is not None
        assert (found.positions, found.tokens) == ((), Span.exact(2.4))

    def test_a_candidate_that_did_not_draft_has_none(self) -> None:
        one = case()
        assert observed_acceptance(one, facts(one)) is None
        assert observed_acceptance(one, facts(one, candidate__drafting=False, candidate__tokens_per_round=1.0)) is None

    def test_the_method_says_whether_a_read_vector_starts_at_the_anchor(self) -> None:
        one = case()
        read_facts = facts(one, candidate__position_acceptance=(1.0, 0.6))
        method = engine().methods[0]
        anchored = method.model_copy(update={"round": method.round.model_copy(update={"position_zero": "anchor"})})
        found, plain = observed_acceptance(one, read_facts, anchored), observed_acceptance(one, read_facts, method)
        assert found is not None
        assert plain is not None
        assert (found.positions, plain.positions) == ((0.6,), (1.0, 0.6))
