from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from specrules.catalog.case import load_case
from specrules.catalog.catalogue import Catalog
from specrules.model.raw_finding import RawFinding
from specrules.pipeline.gate_case import case_found, redecide
from specrules.pipeline.gate_subject import Found, Means
from specrules.pipeline.triage import triage

from .build import DEPLOY, NOW, catalog

CASE = """\
schema: 1
title: A head on the target's card
target: {name: big, checkpoint: big, kind: dense, device: CUDA0}
drafter:
  name: head
  class: block
  trained_for: other
  device: CUDA0
engine:
  id: llama.cpp
  version: b11434
  methods: [draft-dflash]
  backends: [CUDA]
  flags: [--spec-type draft-dflash, -md d.gguf, --spec-draft-n-max 7]
  draft_length: 7
workload: {concurrency: 1}
incumbent: {drafting: false, rate_tok_s: 18.8, rate_kind: decode}
measurements:
  candidate: {drafting: true, draft_length: 7, rate_tok_s: 43.5, rate_kind: decode, tokens_per_round: 3.87}
"""


def found(*settings: str, policy: Catalog | None = None) -> Found:
    return case_found(load_case(None, settings), Means(policy or catalog(), NOW))


def of(judged: Found, rule: str) -> RawFinding:
    (finding,) = [item for item in judged.raw if item.rule == rule]
    return finding


def with_policy(tmp_path: Path, text: str) -> Catalog:
    file = tmp_path / "ours.yaml"
    file.write_text(f"schema: 1\nid: ours\nextends: default\n{text}", encoding="utf-8")
    return Catalog.load(policy=file, environ={}, cwd=tmp_path)


def test_a_case_to_deploy_passes_every_gate() -> None:
    judged = found(*DEPLOY)
    assert (judged.kind, judged.verdict, judged.engine, judged.version) == ("case", "deploy", "llama.cpp", "b11434")
    assert {item.outcome for item in judged.raw if item.severity == "block"} <= {"pass", "not-applicable"}
    assert of(judged, "verdict").message.startswith("Deploy: ")
    assert len(judged.inputs) == 12


def test_a_blocked_case_names_gate_expression_and_place(tmp_path: Path) -> None:
    (tmp_path / "case.yaml").write_text(CASE, encoding="utf-8")
    judged = case_found(load_case(tmp_path / "case.yaml"), Means(catalog(), NOW))
    gate, verdict = of(judged, "head-for-checkpoint"), of(judged, "verdict")
    assert (gate.outcome, verdict.outcome, judged.verdict) == ("fail", "fail", "blocked")
    assert (verdict.expression, verdict.observed) == (gate.expression, gate.observed)
    line = CASE.splitlines()[gate.place.line - 1]
    assert line[gate.place.column - 1 :] == "trained_for: other"
    assert CASE.splitlines()[verdict.place.line - 1].startswith("drafter:")


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("incumbent-rate-known", "rate_tok_s: 18.8"),
        ("concurrency-known", "concurrency: 1"),
        ("flags-valid", "flags: ["),
        ("device-routing", "device: CUDA0"),
        ("candidate-really-drafts", "drafting: true"),
        ("attachment-surface", "class: block"),
        ("evidence-agrees", "drafter:"),
    ],
)
def test_places_are_where_the_case_states_what_a_rule_reads(tmp_path: Path, rule: str, text: str) -> None:
    (tmp_path / "case.yaml").write_text(CASE, encoding="utf-8")
    place = of(case_found(load_case(tmp_path / "case.yaml"), Means(catalog(), NOW)), rule).place
    assert CASE.splitlines()[place.line - 1][place.column - 1 :].startswith(text)


def test_waiting_for_a_measurement_is_unknown_and_says_what_to_measure() -> None:
    verdict = of(found(*(item for item in DEPLOY if not item.startswith("measurements.candidate"))), "verdict")
    assert verdict.outcome == "unknown"
    assert verdict.missing
    assert verdict.fix


def test_settled_gates_are_decided_once_more() -> None:
    settings = [*DEPLOY, "drafter.trained_for=other"]
    again = redecide(triage(None, catalog=catalog(), now=NOW, settings=settings), catalog())
    assert again(frozenset()) == "blocked"
    assert again(frozenset({"head-for-checkpoint"})) == "deploy"
    assert again(frozenset({"drafter-fits"})) == "blocked"


class TestConfidence:
    def test_only_a_deployment_has_to_be_sure(self) -> None:
        assert of(found(*DEPLOY), "confidence").outcome == "pass"
        blocked = found(*DEPLOY, "drafter.trained_for=other")
        assert not [item for item in blocked.raw if item.rule == "confidence"]

    def test_more_than_an_interval_or_a_probability_vouches_for(self, tmp_path: Path) -> None:
        sure = of(found(*DEPLOY), "confidence")
        asking = with_policy(tmp_path, "thresholds: {confidence: 0.999999999}\n")
        unsure = of(found(*DEPLOY, policy=asking), "confidence")
        known = triage(None, catalog=catalog(), now=NOW, settings=DEPLOY).speedup.probability_above_margin
        assert sure.outcome == "pass"
        assert unsure.outcome == ("unknown" if known is None else "pass" if known >= 0.999999999 else "fail")
        assert bool(unsure.missing) is (unsure.outcome == "unknown")

    def test_a_policy_that_does_not_ask(self, tmp_path: Path) -> None:
        asking = with_policy(tmp_path, "thresholds: {confidence: null}\n")
        assert not [item for item in found(*DEPLOY, policy=asking).raw if item.rule == "confidence"]


class TestEvidence:
    RULE = """\
evidence:
  rate: {title: The rate, facts: [incumbent.rate_tok_s], max_age_days: 30, severity: warn, fix: measure}
"""

    def test_reported_numbers_are_not_measured(self, tmp_path: Path) -> None:
        finding = of(found(*DEPLOY, policy=with_policy(tmp_path, self.RULE)), "evidence.rate")
        assert (finding.outcome, finding.severity, finding.fix) == ("fail", "warn", "measure")
        assert finding.message == (
            "The rate: incumbent.rate_tok_s is reported, and the policy takes measured or from-file."
        )

    @pytest.mark.parametrize(("days", "outcome"), [(30, "pass"), (31, "fail")])
    def test_age(self, tmp_path: Path, days: int, outcome: str) -> None:
        day = (NOW - timedelta(days=days)).date()
        rate = f"incumbent.rate_tok_s={{value: 18.8, kind: measured, observed_at: {day}}}"
        judged = found(*DEPLOY, rate, policy=with_policy(tmp_path, self.RULE))
        assert of(judged, "evidence.rate").outcome == outcome

    def test_strict_asks_for_measured_sides(self, tmp_path: Path) -> None:
        strict = Catalog.load(policy="strict", environ={}, cwd=tmp_path)
        outcomes = {item.rule: item.outcome for item in found(*DEPLOY, policy=strict).raw if "evidence." in item.rule}
        assert outcomes == {"evidence.incumbent-rate": "fail", "evidence.acceptance": "fail"}
