from __future__ import annotations

import pytest

from specrules.pipeline.triage import triage

from .build import DEPLOY, EXAMPLES, NOW, arms, catalog, gate, judge

DRAFTS = (
    "incumbent.drafting=true",
    "incumbent.method=draft-mtp",
    "incumbent.draft_length=1",
    "incumbent.tokens_per_round=1.67",
)
"""The incumbent of these cases drafts already."""


class TestVerdict:
    def test_a_win_with_every_gate_settled_is_deployed(self) -> None:
        found = judge(*DEPLOY)
        assert (found.verdict, found.economics, found.best, found.deciding) == ("deploy", "deploy", "candidate", None)
        assert found.speedup_class == "win"
        assert found.settings is not None

    @pytest.mark.parametrize(
        ("change", "verdict", "economics", "deciding"),
        [
            ("workload.concurrency", "measure-first", "deploy", "concurrency-known"),
            ("engine.flags", "measure-first", "deploy", "flags-valid"),
            ("target.checkpoint", "measure-first", "deploy", "head-for-checkpoint"),
        ],
    )
    def test_an_unknown_gate_holds_a_win_up(self, change: str, verdict: str, economics: str, deciding: str) -> None:
        found = judge(*DEPLOY, without=[change])
        assert (found.verdict, found.economics, found.deciding) == (verdict, economics, deciding)
        assert found.settings is None
        assert found.sentence.startswith("Measure first: ")

    @pytest.mark.parametrize(
        ("setting", "deciding"),
        [
            ("drafter.trained_for=other", "head-for-checkpoint"),
            ("engine.flags=[--draft-max 7]", "flags-valid"),
            ("measurements.candidate.drafting=false", "candidate-really-drafts"),
        ],
    )
    def test_a_failed_gate_blocks(self, setting: str, deciding: str) -> None:
        found = judge(*DEPLOY, setting)
        assert (found.verdict, found.deciding) == ("blocked", deciding)
        assert "By the numbers alone:" in found.sentence

    @pytest.mark.parametrize(
        ("rate", "verdict", "speedup_class"),
        [
            ("43.5", "deploy", "win"),
            # The low end, 3 % below, has to clear the margin of 5 %.
            ("20.36", "deploy", "win"),
            ("20.34", "measure-first", "wide"),
            ("20", "marginal", "marginal"),
            ("18.3", "marginal", "marginal"),
            ("18.2", "keep-incumbent", "loss"),
            ("21", "deploy", "win"),
        ],
    )
    def test_the_interval_of_the_speedup_decides(self, rate: str, verdict: str, speedup_class: str) -> None:
        found = judge(*DEPLOY, f"measurements.candidate.rate_tok_s={rate}", "measurements.candidate.tokens_per_round=3")
        assert (found.verdict, found.speedup_class) == (verdict, speedup_class)

    def test_the_decision_shows_the_conditions_that_were_looked_at(self) -> None:
        (win,) = judge(*DEPLOY).decision
        assert (win.name, win.result) == ("win", True)
        assert win.expression == "candidate.speedup_low > 1 + policy.margin"
        assert win.substituted == "2.24441 > 1 + 0.05"

    def test_rounds_shorter_than_a_step_are_no_evidence(self) -> None:
        found = judge(*DEPLOY, "measurements.candidate.tokens_per_round=2")
        assert (found.verdict, found.economics, found.best) == ("invalid-evidence", "invalid-evidence", "unknown")


class TestArms:
    def test_an_incumbent_that_does_not_draft_is_drafting_off(self) -> None:
        found = arms(judge(*DEPLOY))
        assert found["incumbent"].rate_tok_s == found["off"].rate_tok_s == 18.8
        assert found["incumbent"].draft_length is None
        assert found["off"].note == "the incumbent does not draft"
        assert (found["candidate"].rate_tok_s, found["candidate"].draft_length) == (43.5, 7)

    def test_the_incumbent_is_summed_up(self) -> None:
        plain = judge(*DEPLOY).incumbent
        assert (plain.drafting, plain.method, plain.tokens_per_round, plain.round_ms) == (False, None, 1, None)
        drafts = judge(*DEPLOY, *DRAFTS).incumbent
        assert (drafts.drafting, drafts.method, drafts.tokens_per_round) == (True, "draft-mtp", 1.67)
        assert drafts.round_ms == pytest.approx(1670 / 18.8)
        assert arms(judge(*DEPLOY, *DRAFTS))["incumbent"].draft_length == 1
        assert judge("engine=llama.cpp").incumbent.drafting is None

    def test_without_a_plain_step_off_is_an_interval_of_the_round(self) -> None:
        found = arms(judge(*DEPLOY, *DRAFTS))["off"]
        assert found.rate_tok_s is None
        assert found.note == "between 11.3 and 25.9 tok/s, from the incumbent's round"

    def test_a_plain_step_is_the_third_arm(self) -> None:
        found = arms(judge(*DEPLOY, *DRAFTS, "target.step_ms=60", "target.step_is=plain"))["off"]
        assert found.rate_tok_s == pytest.approx(16.667, abs=5e-4)
        assert found.note == "one token per plain step, decoding alone"

    def test_a_measured_rate_needs_no_note(self) -> None:
        found = arms(judge(*DEPLOY, *DRAFTS, "measurements.off.rate_tok_s=16"))["off"]
        assert (found.rate_tok_s, found.note) == (16, "")

    def test_a_rate_of_another_kind_stands_in_the_note_only(self) -> None:
        step = ("target.step_ms=30", "target.step_is=plain", "incumbent.rate_kind=client")
        found = judge(*DEPLOY, *DRAFTS, *step)
        off = arms(found)["off"]
        assert off.rate_tok_s is None
        assert off.note == "33.3 tok/s as a decode rate, and the incumbent's is a client rate"
        assert gate(found, "off-beats-incumbent").outcome == "not-applicable"

    def test_nothing_is_known_where_nothing_was_said(self) -> None:
        found = arms(judge("engine=llama.cpp"))
        assert [arm.rate_tok_s for arm in found.values()] == [None, None, None]
        assert found["off"].note == ""


class TestBest:
    def test_off_where_it_beats_an_incumbent_that_drafts(self) -> None:
        slow = ("measurements.candidate.rate_tok_s=15", "measurements.off.rate_tok_s=22")
        found = judge(*DEPLOY, *DRAFTS, *slow)
        assert (found.verdict, found.best) == ("keep-incumbent", "off")
        assert gate(found, "off-beats-incumbent").outcome == "fail"

    def test_off_where_it_beats_the_candidate_too(self) -> None:
        found = judge(*DEPLOY, *DRAFTS, "measurements.candidate.rate_tok_s=24", "measurements.off.rate_tok_s=26")
        assert (found.verdict, found.best) == ("deploy", "off")

    def test_not_by_a_rate_of_another_kind(self) -> None:
        kinds = ("measurements.off.rate_tok_s=60", "measurements.off.rate_kind=client")
        found = judge(
            *DEPLOY,
            *DRAFTS,
            *kinds,
            "measurements.candidate.rate_tok_s=15",
            "measurements.candidate.tokens_per_round=7",
        )
        assert found.best == "incumbent"

    def test_not_where_the_incumbent_is_off_itself(self) -> None:
        """Two measurements of one arm differ a little; neither is an arm to switch to."""
        assert judge(*DEPLOY, "drafter.trained_for=other", "measurements.off.rate_tok_s=18.9").best == "incumbent"

    def test_the_incumbent_where_the_candidate_is_blocked_or_no_better(self) -> None:
        assert judge(*DEPLOY, "drafter.trained_for=other").best == "incumbent"
        assert (
            judge(*DEPLOY, "measurements.candidate.rate_tok_s=19", "measurements.candidate.tokens_per_round=3").best
            == "incumbent"
        )

    def test_nobody_knows_before_it_is_measured(self) -> None:
        assert judge(*DEPLOY, without=["workload.concurrency"]).best == "unknown"
        assert judge(*DEPLOY, without=["incumbent.rate_tok_s"]).best == "unknown"


class TestWhatIsLeftOpen:
    def test_missing_names_what_blocks_and_what_the_speedup_wants(self) -> None:
        use = "engine={id: llama.cpp, version: b11434}"
        found = judge(use, "incumbent.rate_tok_s=25", "drafter.step_ms=2", "target.step_ms=40", "target.kind=dense")
        assert found.missing == (
            "drafter.device_free_gib",
            "drafter.memory_gib",
            "engine.accepts_tokenizer",
            "engine.bad_flags",
            "workload.concurrency",
        )

    def test_a_case_to_deploy_misses_nothing(self) -> None:
        assert judge(*DEPLOY).missing == ()

    def test_gates_that_said_nothing_are_listed_with_what_would_make_them(self) -> None:
        lines = judge(*DEPLOY, without=["workload.concurrency"]).not_checked
        assert "concurrency-known: unknown. workload.concurrency: state workload.concurrency" in lines
        assert any(line.startswith("tokenizers-compatible: does not apply (") for line in lines)


class TestFacts:
    def test_stated_derived_and_policy_facts_stand_in_that_order(self) -> None:
        found = judge(*DEPLOY).facts
        names = [fact.name for fact in found]
        assert len(set(names)) == len(names)
        kinds = [fact.provenance.kind for fact in found]
        assert kinds[-1] == "catalogue"
        assert kinds.index("derived") > max(index for index, kind in enumerate(kinds) if kind == "reported")
        assert (found[-1].name, found[-1].value) == ("policy.max_age_days", 90)

    def test_issues_are_listed_with_their_effect_and_link(self) -> None:
        issues = judge(*DEPLOY, "workload.concurrency=2").known_issues
        assert any(issue.startswith("The gain shrinks with concurrent streams: ") for issue in issues)
        linked = triage(EXAMPLES / "mtp-and-dflash.yaml", catalog=catalog(), now=NOW).known_issues
        assert any(issue.endswith("(https://github.com/ggml-org/llama.cpp/issues/27839)") for issue in linked)

    def test_the_formulas_are_those_of_the_length_of_the_verdict(self) -> None:
        lines = {line.name: line for line in judge(*DEPLOY).formulas}
        assert lines["speedup"].substituted == "43.5 / 18.8"
        assert lines["round_ms"].title == "Round time of the measured run"
        unknown = {line.name for line in judge("engine=llama.cpp").formulas}
        assert "round_ms" in unknown
