"""Deployments of the shipped engines, judged by the shipped rules."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from specrules.catalog.case import load_case
from specrules.derive.condition_examples import as_deployment
from specrules.evidence.deployments import read_launches_text, recognise
from specrules.model.deployment import Deployment, Gap, Place
from specrules.pipeline.deployments import deployment_findings

from .build import catalog

CASE = """\
schema: 1
target: {name: Qwen3.8-27B, device: CUDA0}
drafter: {name: small, class: model}
engine: {id: llama.cpp, version: b11434, methods: [draft-simple], draft_length: 3}
incumbent: {drafting: true, method: draft-mtp}
"""


def command(text: str) -> Deployment:
    """What one shell command deploys."""
    (launch,) = read_launches_text(text, "start.sh").launches
    found = recognise(launch, [catalog().engine(name).model for name in catalog().engine_ids])
    assert found is not None
    return found


def outcomes(deployment: Deployment, **more) -> dict[str, str]:
    return {one.rule: one.outcome for one in deployment_findings(deployment, catalog(), **more).findings}


def test_where_nothing_drafts_there_is_one_line_and_no_finding() -> None:
    found = deployment_findings(command("llama-server -m big.gguf -c 4096"), catalog())
    assert (found.speculation, found.summary, found.findings) == ("off", "no speculation configured", ())


def test_where_nothing_drafts_what_is_wrong_is_told_all_the_same() -> None:
    deployed = command("llama-server -m big.gguf -md small.gguf --draft-max 8")
    found = deployment_findings(deployed, catalog())
    assert found.summary == "no speculation configured"
    assert [(one.rule, one.outcome) for one in found.findings] == [
        ("drafter-enabled", "fail"),
        ("setting-not-removed", "fail"),
    ]


def test_where_it_is_not_known_whether_anything_drafts_only_what_blocks_is_unknown() -> None:
    deployed = command("llama-server -m big.gguf $MORE")
    found = deployment_findings(deployed, catalog())
    assert (found.speculation, found.summary) == (
        "unknown",
        "llama.cpp: whether speculation is configured is not known",
    )
    unknown = [one for one in found.findings if one.outcome == "unknown"]
    assert {one.severity for one in unknown} == {"block"}
    assert "drafter-enabled" in {one.rule for one in unknown}


def test_a_clean_deployment_names_what_was_checked() -> None:
    text = (
        "docker run ghcr.io/ggml-org/llama.cpp:server-cuda-b11434 -m Qwen3.8-27B.gguf --spec-type draft-mtp "
        "--spec-draft-n-max 3 -np 2 -c 8192 --metrics"
    )
    found = deployment_findings(command(text), catalog())
    assert (found.speculation, found.summary) == ("on", "draft-mtp on llama.cpp b11434, 3 tokens")
    wrong = [one.rule for one in found.findings if one.outcome not in {"pass", "not-applicable"}]
    assert wrong in ([], ["no-known-issue"])
    passed = {one.rule: one.message for one in found.findings if one.outcome == "pass"}
    assert passed["server-starts"] == "Nothing that would end the server at start is set."
    assert passed["version-stated"] == "llama.cpp is pinned to b11434."


def test_every_rule_says_something_about_a_deployment_that_drafts() -> None:
    from specrules.pipeline.deployment_rules import deployment_rules

    found = outcomes(command("llama-server -m big.gguf --spec-type draft-mtp"))
    assert set(found) == set(deployment_rules(catalog()).ids)


def test_a_case_beside_a_deployment(tmp_path: Path) -> None:
    path = tmp_path / "case.yaml"
    path.write_text(CASE, encoding="utf-8")
    case = load_case(path)
    deployed = command("llama-server -m Qwen3.8-27B.gguf -md small.gguf --spec-type draft-simple --spec-draft-n-max 5")
    assert outcomes(deployed)["case-is-about-this"] == "not-applicable"
    found = {one.rule: one for one in deployment_findings(deployed, catalog(), case=case).findings}
    assert found["case-is-about-this"].message == "The case is about something else: the case drafts 3 tokens, not 5."
    assert found["incumbent-undrafted"].outcome == "fail"
    same = command("llama-server -m Qwen3.8-27B.gguf -md small.gguf --spec-type draft-simple --spec-draft-n-max 3")
    assert outcomes(same, case=case)["case-is-about-this"] == "pass"


def test_thresholds_of_the_callers_policy_count() -> None:
    deployed = command("llama-server -m big.gguf --spec-type draft-mtp")
    assert outcomes(deployed, thresholds={}) == outcomes(deployed)


WORDS = st.sampled_from(
    ["", "0", "1", "-1", "3", "7", "64", "2048", "1e9", "x", "none", "auto", "true", "false", "on", "off", "a,b",
     "[1, 2]", "{", "CUDA0", "ROCm0", "CPU", "mtp", "draft-mtp", "draft-simple", "ngram-mod", "EAGLE3", "NGRAM",
     "DFLASH", "Eagle3"]
)  # fmt: skip


def stated(engine: str, chosen: Mapping[str, str | bool], *, gap: bool) -> Deployment:
    made = as_deployment(catalog().engine(engine).model, chosen)
    gaps = (Gap(of="command", why="more", place=Place(path="f")),) if gap else ()
    return made.model_copy(update={"launch": made.launch.model_copy(update={"gaps": gaps})})


@pytest.mark.parametrize("engine", catalog().engine_ids)
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_no_settings_make_a_rule_err(engine: str, data: st.DataObject) -> None:
    model = catalog().engine(engine).model
    names = [name for flag in (*model.flags, *model.removed_flags) for name in (flag.name, *flag.aliases)]
    chosen = data.draw(st.dictionaries(st.sampled_from(names), WORDS | st.just(True), max_size=6))
    found = deployment_findings(stated(engine, chosen, gap=data.draw(st.booleans())), catalog())
    assert [one.message for one in found.findings if one.outcome == "error"] == []
    assert all(one.message for one in found.findings)
    keys = [(one.rule, one.key) for one in found.findings]
    assert len(set(keys)) == len(keys)
