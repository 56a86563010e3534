"""Verdicts on numbers that contradict each other, or that are of another workload."""

from __future__ import annotations

import pytest

from specrules.model.verdict import Verdict

from .build import DEPLOY, gate, judge

AT = "measurements.candidate.conditions"


def changed(*settings: str, without: str = "") -> Verdict:
    """The verdict on the case to deploy with other values for some of its settings."""
    replaced = {setting.partition("=")[0] for setting in settings} | {without}
    return judge(*(setting for setting in DEPLOY if setting.partition("=")[0] not in replaced), *settings)


def test_a_deployment_that_was_measured_as_it_is_served() -> None:
    both = (f"{AT}={{concurrency: 1, context_tokens: 4096, temperature: 0, prompts: traffic}}",)
    found = judge(*DEPLOY, *both, "workload.context_tokens=4096", "workload.temperature=0")
    assert found.verdict == "deploy"
    assert found.scope.text == "Holds for: concurrency 1, context 4k, temperature 0; says nothing about others"
    assert (found.scope.concurrency, found.scope.context_tokens, found.scope.temperature) == (1, 4096, 0)
    assert gate(found, "acceptance-from-traffic").outcome == "pass"
    # The incumbent says nothing: its rate is taken to be of the workload, and the report says so.
    assert gate(found, "conditions-stated").outcome == "fail"
    assert "context of the incumbent" in gate(found, "conditions-stated").message


@pytest.mark.parametrize(
    ("settings", "rule", "message"),
    [
        (
            (f"{AT}.concurrency=1", "workload.concurrency=16"),
            "measured-at-concurrency",
            (
                "Measurements of another concurrency say nothing about this workload: the candidate at 1, the workload "
                "has 16."
            ),
        ),
        (
            (f"{AT}.context_tokens=2048", "workload.context_tokens=131072"),
            "measured-at-context",
            (
                "Measurements at another context say nothing about this workload: "
                "the candidate at 2048, the workload has 131072."
            ),
        ),
        (
            (f"{AT}.temperature=0", "workload.temperature=0.8"),
            "measured-at-temperature",
            (
                "Acceptance at another temperature says nothing about this workload: "
                "the candidate at 0, the workload has 0.8."
            ),
        ),
        (
            (f"{AT}.prompts=random-tokens",),
            "acceptance-from-traffic",
            "The acceptance was seen on prompts of the kind random-tokens: it says nothing about traffic.",
        ),
        (
            ("measurements.verify_curve=[{width: 1, ms: 84.6}, {width: 7, ms: 88}]",),
            "curve-starts-at-step",
            (
                "The curve's pass of one row takes 1.59 plain steps: the widths may be draft lengths, one too small, "
                "or the two were measured under different conditions."
            ),
        ),
        (
            ("incumbent.drafting=false", "incumbent.tokens_per_round=1.67"),
            "incumbent-counters-alive",
            "The incumbent commits 1.67 tokens per round and drafts nothing: the two contradict each other.",
        ),
    ],
)
def test_a_contradiction_is_no_evidence(settings: tuple[str, ...], rule: str, message: str) -> None:
    found = changed(*settings)
    assert gate(found, rule).message == message
    assert gate(found, rule).outcome == "fail"
    assert (found.verdict, found.deciding, found.best) == ("invalid-evidence", rule, "unknown")


def test_the_commit_of_one_request_and_the_rate_of_another() -> None:
    drafting = ("incumbent.drafting=true", "incumbent.method=mtp", "incumbent.tokens_per_round=1.0")
    off = ("measurements.off.rate_tok_s=12", "measurements.off.rate_kind=decode")
    found = changed(*drafting, *off)
    assert gate(found, "incumbent-round-holds-a-step").outcome == "fail"
    assert found.verdict == "invalid-evidence"
    right = changed(*drafting[:2], "incumbent.tokens_per_round=1.9", *off)
    assert gate(right, "incumbent-round-holds-a-step").outcome == "pass"


def test_a_round_that_is_not_tokens_over_rate() -> None:
    drafting = ("incumbent.drafting=true", "incumbent.tokens_per_round=1.67", "incumbent.round_ms=66.8")
    found = changed(*drafting)
    assert gate(found, "round-adds-up").outcome == "fail"
    assert found.verdict == "invalid-evidence"
    assert "1.67 tokens at 18.8 tok/s are rounds of 88.83 ms" in gate(found, "round-adds-up").message


def test_an_acceptance_of_1_on_a_hybrid_target_needs_a_build() -> None:
    hybrid = ("target.kind=hybrid", "measurements.acceptance={kind: ratio, value: 1, draft_length: 7}")
    tokens = "measurements.candidate.tokens_per_round"
    at = "engine={{id: llama.cpp, version: {}, methods: [draft-dflash], backends: [CUDA]}}"
    outcomes = {
        build: gate(changed(at.format(build), *hybrid, without=tokens), "counters-trusted").outcome
        for build in ("b9000", "b11434")
    }
    assert outcomes == {"b9000": "fail", "b11434": "pass"}
    unknown = "engine={id: llama.cpp, methods: [draft-dflash], backends: [CUDA]}"
    found = changed(unknown, *hybrid, without=tokens)
    assert gate(found, "counters-trusted").outcome == "unknown"
    assert found.verdict != "deploy"


def test_what_is_not_stated_blocks_nothing() -> None:
    found = judge(*DEPLOY)
    assert found.verdict == "deploy"
    stated = {"rounds-within-passes", "round-adds-up", "curve-starts-at-step", "measured-at-context"}
    assert {gate(found, rule).outcome for rule in stated} == {"not-applicable"}
    assert found.scope.text.startswith("Holds for: concurrency 1, context unstated, temperature unstated")
