"""What no case may lead to, however much of it is unknown."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from specrules.catalog.catalogue import Catalog
from specrules.model.verdict import Verdict
from specrules.pipeline.triage import triage
from specrules.report import to_json

from .build import DEPLOY, NOW, judge

ROOT = Path(__file__).parents[3]
CLASSES = st.sampled_from(["model", "block", "mtp-head", "ngram"])

VALUES: dict[str, st.SearchStrategy[Any]] = {
    "target.checkpoint": st.just("big"),
    "target.kind": st.sampled_from(["dense", "moe", "hybrid"]),
    "target.device": st.sampled_from(["CUDA0", "ROCm0"]),
    "target.step_ms": st.sampled_from([40, 67, "{value: 53, low: 50, high: 60}"]),
    "target.step_is": st.sampled_from(["plain", "incumbent-round"]),
    "drafter.trained_for": st.sampled_from(["big", "other"]),
    "drafter.device": st.sampled_from(["CUDA0", "ROCm0", "CPU"]),
    "drafter.step_ms": st.sampled_from([0, 2, "{value: 5, low: 4, high: 9}"]),
    "drafter.memory_gib": st.sampled_from([1, 30]),
    "drafter.coverage": st.sampled_from([0.3, 1]),
    "drafter.tokenizer_pair.last_differing_id": st.sampled_from([-1, 30000]),
    "engine.version": st.sampled_from(["b9000", "b11434"]),
    "engine.methods": st.sampled_from(["[draft-dflash]", "[draft-simple]", "[ngram-mod]", "[draft-mtp, draft-dflash]"]),
    "engine.flags": st.sampled_from(["[--draft-max 4]", "[--spec-type draft-dflash]"]),
    "engine.draft_length": st.sampled_from([3, 7]),
    "host.devices": st.just("[{name: CUDA0, backend: CUDA, free_gib: 4}]"),
    "workload.concurrency": st.sampled_from([1, 4]),
    "incumbent.drafting": st.sampled_from(["true", "false"]),
    "incumbent.draft_length": st.sampled_from([1, 3]),
    "incumbent.rate_tok_s": st.sampled_from([18.8, 40, "{value: 25, low: 20, high: 30}"]),
    "incumbent.rate_kind": st.sampled_from(["client", "decode"]),
    "incumbent.tokens_per_round": st.sampled_from([1.67, 2.5]),
    "measurements.acceptance": st.sampled_from(
        [
            "{kind: ratio, value: 0.41, draft_length: 7}",
            "{kind: conditional, low: 0.6, high: 0.9}",
            "{kind: position_vector, vector: [0.9, 0.8, 0.6]}",
        ]
    ),
    "measurements.off.rate_tok_s": st.sampled_from([15, 30]),
    "measurements.candidate.drafting": st.sampled_from(["true", "true", "false"]),
    "measurements.candidate.draft_length": st.just(7),
    "measurements.candidate.rate_tok_s": st.sampled_from([20, 43.5, 60]),
    "measurements.candidate.tokens_per_round": st.sampled_from([2, 3.87]),
    "measurements.verify_curve": st.just("[{width: 1, ms: 40}, {width: 4, ms: 48}, {width: 8, ms: 60}]"),
    "measurements.round_slope": st.just("[0.05, 0.1]"),
    "measurements.overhead": st.sampled_from(["{ms: 5, kind: unknown}", "{ms: 60, kind: per_token}"]),
    "measurements.synthetic_zero_tok_s": st.just(12),
}


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    """The shipped catalogue with a policy that looks at few draft lengths."""
    folder = tmp_path_factory.mktemp("rules")
    policy = (ROOT / "rules" / "policy.yaml").read_text(encoding="utf-8")
    policy = policy.replace("search_depth: 16", "search_depth: 1").replace(
        "id: default", "id: default\noverrides: true"
    )
    (folder / "policy.yaml").write_text(policy, encoding="utf-8")
    return Catalog.load(rules=[folder], environ={})


@cache
def validator() -> Draft202012Validator:
    return Draft202012Validator(json.loads((ROOT / "schemas" / "triage.json").read_text(encoding="utf-8")))


def check(found: Verdict) -> None:
    """What holds for every verdict."""
    blocking = {gate.outcome for gate in found.gates if gate.severity == "block"}
    if found.verdict == "deploy":
        assert blocking <= {"pass", "not-applicable"}
        assert found.speedup.low is not None
        assert found.speedup.low > 1.05
        assert found.settings is not None
    else:
        assert found.settings is None
    if "fail" in blocking:
        assert found.verdict in {"blocked", "invalid-evidence"}
    if found.speedup.low is not None and found.speedup.high is not None:
        assert found.speedup.low <= found.speedup.high
    for point in (*found.break_even, *found.projection):
        if point.basis == "the stated step time and an assumed factor" and point in found.projection:
            assert point.speedup.low is None
    validator().validate(json.loads(to_json([found])))


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.fixed_dictionaries({"drafter.class": CLASSES}, optional=VALUES))
def test_no_case_is_deployed_past_an_open_gate_or_without_a_speedup(quick: Catalog, stated: dict[str, Any]) -> None:
    stated = {"engine": "llama.cpp", **stated}
    found = triage(None, catalog=quick, now=NOW, settings=[f"{path}={value}" for path, value in stated.items()])
    check(found)


def _paths() -> list[str]:
    needed = {"drafter.class", "engine"}
    return [path for path in (setting.partition("=")[0] for setting in DEPLOY) if path not in needed]


@pytest.mark.parametrize("path", _paths())
def test_a_case_to_deploy_less_any_fact_still_has_its_speedup_or_waits(quick: Catalog, path: str) -> None:
    kept = [setting for setting in DEPLOY if setting.partition("=")[0] != path]
    found = triage(None, catalog=quick, now=NOW, settings=kept)
    check(found)
    assert found.verdict in {"deploy", "measure-first"}


@pytest.mark.parametrize(
    "path",
    [
        "incumbent.rate_tok_s",
        "measurements.candidate.rate_tok_s",
        "workload.concurrency",
        "target.checkpoint",
        "drafter.trained_for",
        "engine.flags",
    ],
)
def test_these_facts_no_deployment_can_do_without(path: str) -> None:
    assert judge(*DEPLOY, without=[path]).verdict == "measure-first"


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sets(st.sampled_from(_paths()), min_size=2, max_size=6))
def test_nor_is_it_deployed_less_several_without_one(quick: Catalog, left_out: set[str]) -> None:
    kept = [setting for setting in DEPLOY if setting.partition("=")[0] not in left_out]
    check(triage(None, catalog=quick, now=NOW, settings=kept))


WRONG = ("drafter.trained_for=other", "engine.flags=[--draft-max 7]", "measurements.candidate.rate_tok_s=10")


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(WRONG), st.sets(st.sampled_from(_paths()), max_size=3))
def test_what_says_not_to_deploy_is_not_deployed_with_less_known(
    quick: Catalog, wrong: str, left_out: set[str]
) -> None:
    """Otherwise what becomes known later would have to take a deployment back."""
    kept = [setting for setting in (*DEPLOY, wrong) if setting == wrong or setting.partition("=")[0] not in left_out]
    found = triage(None, catalog=quick, now=NOW, settings=kept)
    assert found.verdict != "deploy"
    check(found)
