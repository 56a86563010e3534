"""The weights of a policy reach the verdict: a gate that only warns does not block, one that is off is not asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from specrules.catalog.catalogue import Catalog
from specrules.derive.condition_examples import as_deployment
from specrules.errors import LoadError
from specrules.model.deployment import DeployedFact, Place
from specrules.model.verdict import Verdict
from specrules.pipeline.deployment_rules import deployment_rules
from specrules.pipeline.deployments import deployment_findings
from specrules.pipeline.rules import asked, compiled
from specrules.pipeline.triage import triage

from .build import DEPLOY, NOW, catalog, judge

WRONG_HEAD = tuple("drafter.trained_for=other" if item.startswith("drafter.trained_for") else item for item in DEPLOY)


def under(tmp_path: Path, rules: str) -> Catalog:
    file = tmp_path / "ours.yaml"
    file.write_text(f"schema: 1\nid: ours\nextends: default\nrules: {rules}\n", encoding="utf-8")
    return Catalog.load(policy=file, environ={}, cwd=tmp_path)


def verdict(tmp_path: Path, rules: str) -> Verdict:
    return triage(None, catalog=under(tmp_path, rules), now=NOW, settings=WRONG_HEAD)


def test_a_blocking_gate_that_warns(tmp_path: Path) -> None:
    assert judge(*WRONG_HEAD).verdict == "blocked"
    found = verdict(tmp_path, "{head-for-checkpoint: warn}")
    gate = next(item for item in found.gates if item.id == "head-for-checkpoint")
    assert (gate.outcome, gate.severity, found.verdict) == ("fail", "warn", "deploy")


def test_a_gate_that_is_off(tmp_path: Path) -> None:
    found = verdict(tmp_path, "{head-for-checkpoint: off}")
    assert found.verdict == "deploy"
    assert "head-for-checkpoint" not in {item.id for item in found.gates}
    assert len(found.gates) == len(judge(*WRONG_HEAD).gates) - 1


def test_a_warning_that_blocks(tmp_path: Path) -> None:
    assert judge(*DEPLOY).verdict == "deploy"
    stale = triage(None, catalog=under(tmp_path, "{evidence-fresh: block}"), now=NOW, settings=DEPLOY)
    assert stale.verdict == "measure-first"
    assert stale.deciding == "evidence-fresh"


def test_switching_everything_off_is_refused(tmp_path: Path) -> None:
    rules, _ = compiled(catalog())
    everything = ", ".join(f"{name}: off" for name in rules.ids)
    changed = under(tmp_path, f"{{{everything}}}")
    with pytest.raises(LoadError, match="the policy 'ours' switches off every rule: nothing would be checked"):
        asked(compiled(changed)[0], changed.policy)


def test_nothing_is_left_out_by_default() -> None:
    rules, _ = compiled(catalog())
    assert asked(rules, catalog().policy) is rules


def test_what_a_policy_weighs_a_rule_counts_for_its_unknown_too(tmp_path: Path) -> None:
    weights = {"warn": catalog(), "block": under(tmp_path, "{head-for-target: block}")}
    found = {weight: deployment_rules(changed).get("head-for-target") for weight, changed in weights.items()}
    assert [(one.rule.severity, one.rule.unknown) for one in found.values() if one is not None] == [
        ("block", "warn"),
        ("block", None),
    ]


def test_a_rule_of_deployments_that_is_off_is_not_asked(tmp_path: Path) -> None:
    deployed = as_deployment(catalog().engine("llama.cpp").model, {"-md": "small.gguf"})
    assert "drafter-enabled" not in {one.rule for one in deployment_findings(deployed, catalog()).findings}
    drafts = deployed.model_copy(
        update={"facts": (DeployedFact(name="drafter.file", value="small.gguf", written="-md", place=Place(path="f")),)}
    )
    assert [one.rule for one in deployment_findings(drafts, catalog()).findings] == ["drafter-enabled"]
    assert deployment_findings(drafts, under(tmp_path, "{drafter-enabled: off}")).findings == ()
