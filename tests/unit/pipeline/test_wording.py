from __future__ import annotations

import pytest

from specrules.pipeline.wording import TITLES

from .build import DEPLOY, judge

RUN = (
    "measurements.candidate.rate_tok_s",
    "measurements.candidate.tokens_per_round",
    "measurements.candidate.drafting",
)
PRICED = ("drafter.step_ms=1", "drafter.catch_up_ms=0")


def test_a_win_is_a_rate_at_a_length_against_the_incumbents() -> None:
    assert judge(*DEPLOY).sentence == (
        "Deploy: the whole speedup interval clears the margin and every blocking gate is settled. "
        "43.5 tok/s at K=7 is 2.31 (2.24 to 2.38) times the incumbent's 18.8 tok/s."
    )


def test_the_numbers_are_those_of_the_length_that_is_named() -> None:
    points = "{width: 2, ms: 60}, {width: 3, ms: 61}, {width: 4, ms: {value: 62, low: 40, high: 200}}"
    curve = f"measurements.verify_curve=[{points}, {{width: 5, ms: 900}}, {{width: 17, ms: 900}}]"
    acceptance = "measurements.acceptance={kind: position_vector, vector: [0.9, 0.85, 0.8]}"
    found = judge(
        *DEPLOY,
        *PRICED,
        curve,
        acceptance,
        without=[*RUN, "engine.draft_length", "measurements.candidate.draft_length"],
    )
    # Two tokens are the safe choice, three the better guess.
    assert found.sentence.split("and ")[-1].endswith(
        "44.35 tok/s at K=2 is 2.36 (2.36 to 2.36) times the incumbent's 18.8 tok/s."
    )
    assert next(point.draft_length for point in found.projection if point.is_best) == 3
    assert found.speedup.mid == pytest.approx(3.55 / 0.063 / 18.8)


def test_a_loss_says_how_much_it_reaches_at_most() -> None:
    found = judge(*DEPLOY, "measurements.candidate.rate_tok_s=10")
    assert found.sentence.endswith("Its best draft length reaches at most 0.548 of the incumbent's 18.8 tok/s.")


def test_without_a_low_end_the_declared_step_speaks() -> None:
    acceptance = "measurements.acceptance={kind: conditional, low: 0.7, high: 0.9}"
    drafts = ("incumbent.drafting=true", "incumbent.draft_length=1", "incumbent.tokens_per_round=1.7")
    found = judge(*DEPLOY, *PRICED, acceptance, *drafts, without=RUN)
    assert "At the stated step times it would reach" in found.sentence
    assert found.sentence.endswith("times the incumbent's 18.8 tok/s; how low it may fall is not known.")


def test_what_cannot_be_computed_is_said() -> None:
    assert judge("engine=llama.cpp").sentence.endswith("The incumbent's rate is unknown.")
    found = judge("engine=llama.cpp", "incumbent.rate_tok_s=25").sentence
    assert found.endswith("What the candidate would do against the incumbent's 25 tok/s cannot be computed yet.")


def test_a_blocked_case_says_what_the_numbers_say() -> None:
    found = judge(*DEPLOY, "drafter.trained_for=other").sentence
    assert found.startswith("Blocked: The head was trained for other; the target serves big (head-for-checkpoint). ")
    assert "By the numbers alone: deploy. 43.5 tok/s" in found


def test_every_verdict_has_words() -> None:
    assert set(TITLES) == {"deploy", "keep-incumbent", "marginal", "measure-first", "blocked", "invalid-evidence"}


class TestAcceptance:
    def notes(self, acceptance: str, *more: str, kind: str = "model") -> tuple[str, ...]:
        base = ("engine=llama.cpp", f"drafter.class={kind}", "drafter.step_ms=2", "target.step_ms=40", *more)
        return judge(*base, f"measurements.acceptance={acceptance}").acceptance_notes

    def test_nothing_known(self) -> None:
        assert judge("engine=llama.cpp", "drafter.class=tree").acceptance_notes == ("No acceptance is known.",)

    def test_a_prior_is_called_one(self) -> None:
        (note,) = judge("engine=llama.cpp").acceptance_notes
        assert note.startswith("No acceptance was measured. That of such drafters is believed to be conditional 0.")
        assert note.endswith("(prior acceptance-model).")

    def test_a_ratio_and_what_it_would_be_as_the_other_kind(self) -> None:
        rate = ("incumbent.rate_tok_s=25", "incumbent.drafting=false")
        first, other, inverted = self.notes("{kind: ratio, value: 0.41, draft_length: 7}", *rate)
        assert first == "Acceptance is 0.41 of kind ratio at K=7."
        assert other.startswith("The same 0.41 read as conditional would not be a sure loss: ")
        assert inverted == "That inverts to conditional acceptance p 0.7754."

    def test_without_rates_there_is_no_other_reading(self) -> None:
        found = judge("engine=llama.cpp", "measurements.acceptance={kind: conditional, value: 0.6}").acceptance_notes
        assert found == ("Acceptance is 0.6 of kind conditional.",)

    def test_counts_are_told_as_tokens(self) -> None:
        found = self.notes("{kind: counts, accepted: 50, drafted: 50, rounds: 13, draft_length: 4}")
        assert found == (
            "Acceptance is known as counts at K=4: 4.846 tokens per round (4.58 to 4.85).",
            "That inverts to conditional acceptance p 0.9702 to 1.",
        )

    def test_a_run_needs_no_other_reading(self) -> None:
        acceptance = "measurements.candidate.acceptance={kind: ratio, value: 0.41, draft_length: 7}"
        found = judge(*DEPLOY, acceptance, without=["measurements.candidate.tokens_per_round"]).acceptance_notes
        assert found == ("Acceptance is 0.41 of kind ratio at K=7.", "That inverts to conditional acceptance p 0.7754.")

    def test_a_trees_ratio_inverts_to_nothing(self) -> None:
        first, other = self.notes("{kind: ratio, value: 0.1, draft_length: 5}", kind="tree")
        assert first == "Acceptance is 0.1 of kind ratio at K=5."
        assert other.startswith("The same 0.1 read as conditional")
