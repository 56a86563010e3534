"""What docs/gate.md shows is accepted as it stands there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from specrules.catalog.catalogue import Catalog
from specrules.report.gate import FORMATS

from .deployments import OLD_FLAG, PLAIN
from .running import NOW, ROOT, cli, put

PAGE = (ROOT / "docs" / "gate.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)


def block(part: str) -> str:
    (found,) = [text for text in BLOCKS if part in text]
    return found


def test_the_policy_and_the_waivers():
    put("production.yaml", block("id: production"))
    put("w.yaml", block("waivers:\n"))
    ran = cli("gate", put("llm.yaml", PLAIN), "--policy", "production.yaml", "--waivers", "w.yaml", *NOW)
    assert (ran.code, ran.err) == (0, "")
    listed = cli("waivers", "--waivers", "w.yaml", *NOW)
    assert "drafter-fits (engine llama.cpp, files deploy/eu/**): expires 2026-12-15, in 16 d; platform: " in listed.out


def test_the_cases_of_the_policy():
    put("rules/production.yaml", block("id: production"))
    put("rules/production.test.yaml", block("policy_cases:"))
    ran = cli("rules", "test", "--rules", "rules")
    assert (ran.code, ran.err) == (0, "")


def test_the_table_of_policies():
    rows = [line.strip("|").split("|") for line in PAGE.splitlines() if line.startswith("| a waiver reaches")]
    (cells,) = rows
    policies = [Catalog.load(policy=name, environ={}).policy for name in ("advisory", "default", "strict")]
    assert [cell.strip() for cell in cells[1:]] == [f"{policy.waivers.max_days} days" for policy in policies]
    assert {asked.max_age_days for asked in policies[2].evidence.values()} == {30}
    assert [policy.case for policy in policies] == ["optional", "optional", "required"]


def test_every_format_is_described():
    described = re.findall(r"^\| `(\w+)` \|", PAGE[PAGE.index("## Outputs") :], re.MULTILINE)
    assert described == list(FORMATS)


def test_the_finding_is_what_is_printed():
    shown = " ".join(cli("gate", put("deploy/llm.yaml", OLD_FLAG), *NOW).out.split())
    example = re.search(r"(?m)^    FAIL .*\n(?:    .*\n)+", PAGE).group()
    for part in re.split(r" \.\.\.\n|\n|\[inputs \w+\]", example):
        assert " ".join(part.split()) in shown


@pytest.mark.parametrize("path", re.findall(r"\]\(\.\./([\w./-]+)\)", PAGE))
def test_links_lead_somewhere(path: str):
    assert (ROOT / path).exists()


def test_hooks_and_inputs_that_are_shown_exist():
    hooks = {hook["id"] for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
    assert {hook["id"] for hook in yaml.safe_load(block("repos:"))["repos"][0]["hooks"]} == hooks
    inputs = yaml.safe_load((ROOT / "action.yml").read_text())["inputs"]
    (step,) = [step for step in yaml.safe_load(block("uses: platform/specrules")) if step.get("id") == "gate"]
    assert set(step["with"]) <= set(inputs)
    assert Path("llm.yaml").exists() is False
