"""The shipped examples, with the shipped catalogue: exact numbers, and the verdict that they lead to."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from specrules import Catalog, load_case, triage
from specrules.errors import LoadError
from specrules.model.fact import Fact
from specrules.model.verdict import BreakEven, Gate, Projection, Verdict
from specrules.report import to_json

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
NOW = datetime(2026, 11, 29, tzinfo=UTC)
FILES = sorted(EXAMPLES.rglob("*.yaml"))


@cache
def catalog() -> Catalog:
    return Catalog.load(environ={})


@cache
def verdict(name: str) -> Verdict:
    return triage(EXAMPLES / f"{name}.yaml", catalog=catalog(), now=NOW)


def gate(found: Verdict, name: str) -> Gate:
    return next(item for item in found.gates if item.id == name)


def fact(found: Verdict, name: str) -> Fact:
    return next(item for item in found.facts if item.name == name)


def needed(found: Verdict, length: int) -> BreakEven:
    return next(point for point in found.break_even if point.draft_length == length)


def projected(found: Verdict, length: int) -> Projection:
    return next(point for point in found.projection if point.draft_length == length)


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_the_json_of_an_example_fits_the_published_schema(path: Path) -> None:
    schema = json.loads((ROOT / "schemas" / "triage.json").read_text(encoding="utf-8"))
    found = verdict(str(path.relative_to(EXAMPLES).with_suffix("")))
    Draft202012Validator(schema).validate(json.loads(to_json([found])))


class TestFrank:
    """A plain 27B on a second card, proposed as drafter for a server whose MTP head drafts already."""

    name = "frank-large-27b"

    @pytest.mark.parametrize(
        ("length", "tokens", "p", "r"),
        [(3, 2.7425, 0.7519, 0.5808), (4, 3.0425, 0.7486, 0.5106), (7, 3.9425, 0.7817, 0.4204)],
    )
    def test_what_acceptance_would_pay(self, length: int, tokens: float, p: float, r: float) -> None:
        point = needed(verdict(self.name), length)
        assert point.tokens_per_round == pytest.approx(tokens, abs=1e-9)
        assert point.conditional_acceptance == pytest.approx(p, abs=5e-5)
        assert point.accepted_ratio == pytest.approx(r, abs=5.1e-5)
        assert point.possible is True
        assert point.is_best is (length == 4)

    def test_one_token_cannot_pay_at_the_declared_step_and_can_at_the_low_end(self) -> None:
        point = needed(verdict(self.name), 1)
        assert point.tokens_per_round == pytest.approx(2.1425, abs=1e-9)
        assert (point.possible, point.settled) == (False, False)
        assert (point.conditional_acceptance, point.accepted_ratio) == (None, None)

    @pytest.mark.parametrize(("length", "p"), [(1, 0.752), (3, 0.651), (7, 0.745)])
    def test_with_the_floor_of_the_incumbents_round(self, length: int, p: float) -> None:
        low, high = needed(verdict(self.name), length).range.conditional_acceptance
        assert low == pytest.approx(p, abs=5e-4)
        assert high is None

    def test_the_json_has_one_three_seven_and_the_best(self) -> None:
        document = json.loads(to_json([verdict(self.name)]))
        assert [point["draft_length"] for point in document["break_even"]] == [1, 3, 4, 7]
        assert [point["draft_length"] for point in document["projection"]] == [1, 2, 3, 7]
        assert [point["draft_length"] for point in document["projection"] if point["is_best"]] == [2]
        assert document["speedup"]["probability_above_margin"] is None

    def test_the_rates_at_the_declared_step(self) -> None:
        point = projected(verdict(self.name), 3)
        assert (point.at_declared_step.low, point.at_declared_step.mid, point.at_declared_step.high) == pytest.approx(
            (14.80 / 25, 17.09 / 25, 19.84 / 25), abs=2e-4
        )

    def test_it_is_blocked_and_would_lose(self) -> None:
        found = verdict(self.name)
        assert (found.verdict, found.economics, found.best) == ("blocked", "keep-incumbent", "incumbent")
        assert found.deciding == "attachment-surface"
        assert found.speedup.high == pytest.approx(0.95508, abs=5e-6)
        assert found.speedup.low is None
        assert found.sentence == (
            "Blocked: halogen-flash-server has no method for a drafter of class model: its methods are mtp (mtp-head), "
            "pld (ngram) (attachment-surface). By the numbers alone: keep what runs today. Its best draft length "
            "reaches at most 0.955 of the incumbent's 25 tok/s."
        )
        assert gate(found, "device-routing").outcome == "fail"

    def test_the_step_and_the_round_are_no_disagreement(self) -> None:
        found = verdict(self.name)
        assert found.incumbent.round_ms == pytest.approx(66.8)
        assert fact(found, "target.step_ms").value == 67
        assert gate(found, "evidence-agrees").outcome == "pass"
        assert found.notices == ()

    def test_the_one_measurement(self) -> None:
        measurement = verdict(self.name).measurement
        assert measurement is not None
        assert measurement.recipe == "drafting-off"
        assert (measurement.expected.low, measurement.expected.high) == (pytest.approx(29.04, abs=0.005), 66.8)
        assert measurement.threshold == 40

    def test_the_other_kind_would_not_lose(self) -> None:
        assert verdict(self.name).acceptance_notes == (
            "Acceptance is 0.4 to 0.6 of kind conditional.",
            (
                "The same 0.4 to 0.6 read as ratio at K=7 would not be a sure loss: 26.0 to 33.1 tok/s at the best "
                "draft lengths (S 1.04 to 1.32). The kind decides."
            ),
        )


class TestFrankAsARatio:
    name = "frank-large-27b-ratio"

    def test_the_same_numbers_at_seven(self) -> None:
        point = projected(verdict(self.name), 7)
        found = (point.at_declared_step.low, point.at_declared_step.mid, point.at_declared_step.high)
        assert found == pytest.approx((24.1 / 25, 28.5 / 25, 33.0 / 25), abs=2e-3)

    def test_the_band_over_all_depths(self) -> None:
        band = verdict(self.name).band
        assert (band.low, band.high) == (pytest.approx(1.040, abs=5e-4), pytest.approx(1.322, abs=5e-4))
        assert (band.low * 25, band.high * 25) == pytest.approx((26.0, 33.1), abs=0.05)

    def test_it_is_blocked_and_could_pay(self) -> None:
        found = verdict(self.name)
        assert (found.verdict, found.economics, found.deciding) == ("blocked", "measure-first", "attachment-surface")
        assert found.speedup.low is None

    def test_the_other_kind_would_lose(self) -> None:
        notes = verdict(self.name).acceptance_notes
        assert notes[1].startswith("The same 0.4 to 0.6 read as conditional would lose: 16.3 to 20.1 tok/s")
        assert notes[2] == "That inverts to conditional acceptance p 0.769 to 0.872."


def test_without_a_kind_both_readings_are_shown(tmp_path: Path) -> None:
    text = (EXAMPLES / "frank-large-27b.yaml").read_text(encoding="utf-8")
    bare = tmp_path / "frank.yaml"
    bare.write_text(text.replace("    kind: conditional\n", ""), encoding="utf-8")
    with pytest.raises(LoadError) as error:
        load_case(bare)
    (problem,) = error.value.problems
    assert problem.where is not None
    assert problem.where.line == 1 + text.splitlines().index("  acceptance:")
    assert "has no 'kind', and 0.4 to 0.6 means different things" in problem.message
    assert "At K=7: read as 'conditional' (p) it commits 1.67 to 2.46 tokens per round" in problem.message
    assert "read as 'ratio' (accepted / drafted) it commits 3.80 to 5.20, which is p 0.769 to 0.872" in problem.message


class TestFleet:
    """A DFlash2 head at depth 7: 43.5 tok/s with it, 18.8 without, 41 % of what was drafted accepted."""

    name = "dflash2-fleet"

    def test_it_is_to_be_deployed_at_seven(self) -> None:
        found = verdict(self.name)
        assert (found.verdict, found.economics, found.best, found.deciding) == ("deploy", "deploy", "candidate", None)
        assert found.settings is not None
        assert found.settings.draft_length == 7
        assert found.settings.switch_on == (
            "--spec-type draft-dflash",
            "-md z-lab/Qwen3.8-27B-DFlash2",
            "--spec-draft-n-max 7",
        )
        assert found.settings.switch_off == ("--spec-type none",)
        assert {item.outcome for item in found.gates if item.severity == "block"} == {"pass", "not-applicable"}

    def test_the_numbers(self) -> None:
        found = verdict(self.name)
        point = projected(found, 7)
        assert point.tokens_per_round == pytest.approx(3.87)
        assert point.round_ms == pytest.approx(88.97, abs=0.005)
        assert found.speedup.mid == pytest.approx(2.314, abs=5e-4)
        assert fact(found, "candidate.conditional_acceptance").value == pytest.approx(0.7754, abs=5e-5)
        assert fact(found, "candidate.implied_draft_ms").value == pytest.approx(30.5, abs=0.06)

    def test_the_rate_stays_within_the_tokens_of_its_round(self) -> None:
        bound = fact(verdict(self.name), "candidate.rate_times_step")
        assert bound.value == pytest.approx(2.314, abs=5e-4)
        assert bound.substituted.endswith("held against 3.87")
        assert gate(verdict(self.name), "rate-within-tokens").outcome == "pass"

    def test_the_evidence_is_nine_days_old(self) -> None:
        assert gate(verdict(self.name), "evidence-fresh").message.startswith("The oldest measurement is 9 days old")

    def test_the_same_rate_against_a_step_it_cannot_have_is_invalid(self) -> None:
        path = EXAMPLES / "dflash2-fleet.yaml"
        found = triage(path, catalog=catalog(), now=NOW, settings=["incumbent.rate_tok_s=10"])
        assert (found.verdict, found.economics, found.best) == ("invalid-evidence", "invalid-evidence", "unknown")
        assert found.deciding == "rate-within-tokens"
        assert found.settings is None


class TestTwoHeadsAtOnce:
    name = "mtp-and-dflash"

    def test_the_combination_blocks_it(self) -> None:
        found = verdict(self.name)
        assert (found.verdict, found.deciding) == ("blocked", "combination-loads")
        message = gate(found, "combination-loads").message
        assert "dies at load" in message
        assert "llama.cpp source at build b11434, read file by file, 2026-11-29" in message

    def test_the_third_arm_is_one_token_per_plain_step(self) -> None:
        off = next(arm for arm in verdict(self.name).alternatives if arm.name == "off")
        assert (off.rate_tok_s, off.note) == (31.25, "one token per plain step, decoding alone")


class TestSelfDraft:
    """What a real server printed: the log, the counters, the slots and a response of one run each."""

    def test_a_run_that_drafted(self) -> None:
        found = verdict("smollm2-self-draft/drafting")
        values = {item.name: item.value for item in found.facts}
        assert values["candidate.drafting"] is True
        assert values["candidate.rounds"] == 13
        assert values["candidate.drafted"] == values["candidate.accepted"] == 50
        assert values["candidate.tokens_per_round"] == pytest.approx(4.846, abs=5e-4)
        assert values["candidate.position_acceptance"] == pytest.approx((1, 1, 0.923, 0.923), abs=5e-4)
        assert values["candidate.target_passes"] == 13
        assert values["incumbent.drafting"] is False

    def test_its_four_sources_agree(self) -> None:
        found = verdict("smollm2-self-draft/drafting")
        for name in ("evidence-agrees", "counters-consistent", "evidence-understood", "candidate-really-drafts"):
            assert gate(found, name).outcome == "pass"

    def test_a_copy_of_the_target_is_no_cheap_drafter(self) -> None:
        found = verdict("smollm2-self-draft/drafting")
        # Nobody says at which draft length; one run at 4 leaves open what 1 would do, and nothing says that it pays.
        assert (found.verdict, found.best) == ("measure-first", "unknown")
        assert found.speedup.mid is not None
        assert found.speedup.mid < 1
        assert fact(found, "candidate.rate_times_step").value == pytest.approx(0.704, abs=5e-4)
        at_depth = triage(
            EXAMPLES / "smollm2-self-draft" / "drafting.yaml",
            catalog=catalog(),
            now=NOW,
            settings=["engine.draft_length=4"],
        )
        assert at_depth.speedup.mid == pytest.approx(0.704, abs=5e-4)
        assert at_depth.verdict == "keep-incumbent"

    @pytest.mark.parametrize(
        ("name", "reason"),
        [
            ("refused", "draft model vocab type must match target model to use speculation"),
            ("md-only", "no implementations specified for speculative decoding"),
        ],
    )
    def test_a_healthy_server_that_does_not_draft_blocks(self, name: str, reason: str) -> None:
        found = verdict(f"smollm2-self-draft/{name}")
        assert found.verdict == "blocked"
        assert found.best == "incumbent"
        drafts = gate(found, "candidate-really-drafts")
        assert drafts.outcome == "fail"
        assert drafts.message == f"The measured candidate is healthy but drafted nothing: {reason}."

    def test_a_refused_pair_of_tokenizers_is_seen_before_any_run(self) -> None:
        found = verdict("smollm2-self-draft/refused")
        assert found.deciding == "tokenizers-compatible"
        assert (
            "token texts differ at an id of 5 or above (refused silently)"
            in gate(found, "tokenizers-compatible").message
        )

    def test_a_model_without_a_method_is_found_by_its_run_alone(self) -> None:
        assert verdict("smollm2-self-draft/md-only").deciding == "candidate-really-drafts"
