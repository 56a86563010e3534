"""What docs/writing-rules.md shows is what ships, and what it has a reader write works as it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.running import cli, put

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "writing-rules.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", PAGE, flags=re.DOTALL)
YAML = [text for language, text in BLOCKS if language == "yaml"]
SHIPPED = [text for text in YAML if text.startswith("  ")]
OWN, CASES = (text for text in YAML if text.startswith("schema:"))


@pytest.fixture(autouse=True)
def written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    put("our-rules/short-drafts.yaml", OWN)
    return put("our-rules/short-drafts.test.yaml", CASES)


@pytest.mark.parametrize("text", SHIPPED, ids=["rule", "message", "case"])
def test_what_is_shown_of_a_shipped_rule_is_what_ships(text):
    files = "".join((ROOT / "rules" / f"d-attachment{kind}.yaml").read_text(encoding="utf-8") for kind in ("", ".test"))
    assert text in files


def test_the_rule_of_ones_own_loads_and_its_cases_hold():
    assert cli("rules", "check", "--rules", "our-rules").code == 0
    ran = cli("rules", "test", "--rules", "our-rules")
    assert (ran.code, ran.err) == (0, "")


def test_the_diff_of_a_case_is_as_shown(written):
    written.write_text(CASES.replace("deployment.draft_length: 8}", "deployment.draft_length: 7}"), encoding="utf-8")
    (shown,) = (text for language, text in BLOCKS if not language)
    ran = cli("rules", "test", "--rules", "our-rules")
    assert ran.code == 1
    assert ran.err.startswith(shown)


def test_the_rule_judges_a_deployment():
    put("start.sh", "llama-server -m a.gguf --spec-type draft-mtp --spec-draft-n-max 8 -c 4096 --metrics\n")
    ran = cli("gate", "start.sh", "--rules", "our-rules")
    assert "WARN    drafts-stay-short" in ran.out
    assert "One sequence verifies 9 rows." in ran.out
