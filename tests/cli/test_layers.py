"""Layers on the command line: which documents count, and what the report says about it."""

from __future__ import annotations

import json
import os

import pytest

from .running import BARE, CASE, ENGINE, NOW, ROOT, RULES, changed, cli, put, refused

OUR_LLAMA = "schema: 1\nextends: llama.cpp\ntitle: Our llama.cpp\n"
STRICT = "schema: 1\nextends: default\nthresholds: {margin: 0.25}\n"
SHIPPED_TABLE = (ROOT / "rules" / "verdict.yaml").read_text(encoding="utf-8")
IN_PLACE = "id: verdict\noverrides: true"
CARELESS = """\
schema: 1
id: verdict
overrides: true
classes:
  - {speedup: win, when: candidate.speedup_low > 1, doc: faster}
rows:
  - {d: [fail], verdict: blocked, because: cannot be attached}
  - {speedup: [win], verdict: deploy, because: it is faster}
  - {verdict: measure-first, because: otherwise}
"""


def judged(*arguments: object) -> dict:
    ran = cli("triage", "case.yaml", "--format", "json", *NOW, *arguments)
    assert (ran.code, ran.err) == (0, ""), ran
    return json.loads(ran.out)


@pytest.fixture(autouse=True)
def case():
    put("case.yaml", BARE)


def overridden(found: dict) -> list[str]:
    return found["footer"]["overridden"]


def test_without_layers_nothing_is_overridden():
    found = judged()
    assert (found["engine"], overridden(found)) == ("llama.cpp", [])
    assert "no built-in is overridden" in cli("triage", "case.yaml", *NOW).out


def test_an_engine_with_one_changed_key_counts_and_stands_in_the_footer():
    put("ours/llama.yaml", OUR_LLAMA)
    ran = cli("triage", "case.yaml", *NOW, "--engines", "ours")
    assert ran.code == 0
    assert "Our llama.cpp" in ran.out
    footer = ran.out[ran.out.rindex("\n---\n") :]
    assert "overridden built-ins: `llama.cpp (ours/llama.yaml)`" in footer


def test_all_places_of_layers():
    put("path/engines/llama.yaml", OUR_LLAMA)
    put(".specrules/engines/llama.yaml", OUR_LLAMA)
    by_option = put("option/llama.yaml", OUR_LLAMA)
    os.environ["SPECRULES_PATH"] = "path"
    try:
        assert overridden(judged("--engines", "option")) == ["llama.cpp (option/llama.yaml)"]
        assert overridden(judged()) == ["llama.cpp (.specrules/engines/llama.yaml)"]
        os.rename(".specrules", "elsewhere")
        assert overridden(judged()) == ["llama.cpp (path/engines/llama.yaml)"]
    finally:
        del os.environ["SPECRULES_PATH"]
    assert overridden(judged()) == []
    assert by_option.exists()


def test_the_folder_of_a_repository_is_found_from_below(folder, monkeypatch):
    (folder / ".git").mkdir()
    put(".specrules/engines/llama.yaml", OUR_LLAMA)
    put("deep/er/case.yaml", BARE)
    monkeypatch.chdir(folder / "deep" / "er")
    assert overridden(judged()) == ["llama.cpp (../../.specrules/engines/llama.yaml)"]


def test_specrules_path_that_leads_nowhere(monkeypatch):
    monkeypatch.setenv("SPECRULES_PATH", "gone")
    assert refused("triage", "case.yaml") == ["gone: SPECRULES_PATH: no such folder"]


def test_a_new_engine_and_a_new_rule_override_nothing():
    put("case.yaml", changed(BARE, "engine: llama.cpp", "engine: ours"))
    put("layer/engines/ours.yaml", ENGINE)
    put("layer/rules/ours.yaml", RULES)
    os.environ["SPECRULES_PATH"] = "layer"
    try:
        found = judged()
    finally:
        del os.environ["SPECRULES_PATH"]
    assert (found["engine"], overridden(found)) == ("Ours", [])
    assert "quick-drafter" in [gate["id"] for gate in found["gates"]]


def test_a_changed_threshold_counts():
    put("case.yaml", CASE)
    put("rules/policy.yaml", STRICT)
    found = judged("--rules", "rules")
    assert overridden(found) == ["default (rules/policy.yaml)"]
    win = next(line for line in found["decision"] if line["name"] == "win")
    assert win["substituted"].endswith("> 1 + 0.25")


def test_the_digest_of_the_rules_follows_the_layers():
    plain = judged()["footer"]["rules_digest"]
    put("rules/policy.yaml", STRICT)
    strict = judged("--rules", "rules")["footer"]["rules_digest"]
    assert strict != plain
    put("rules/policy.yaml", STRICT + "# the same with a comment\n")
    assert judged("--rules", "rules")["footer"]["rules_digest"] not in {plain, strict}


def test_an_unsafe_verdict_table_is_refused_with_the_message_of_the_proof():
    put("rules/verdict.yaml", CARELESS)
    problems = refused("triage", "case.yaml", "--rules", "rules")
    assert problems[0].startswith(
        "rules/verdict.yaml:8:5: verdict row 2 (deploy): `deploy` needs every part settled and a win"
    )


def test_a_table_that_says_no_too_early_is_refused_with_the_message_of_the_proof():
    early = "  - {e: [unknown], verdict: keep-incumbent, because: nobody looked}\n  - a:"
    put("rules/verdict.yaml", f"{SHIPPED_TABLE.replace('id: verdict', IN_PLACE).replace('  - a:', early, 1)}")
    (problem,) = refused("triage", "case.yaml", "--rules", "rules")
    assert "`keep-incumbent` could still become `deploy` as unknowns are settled" in problem
    line = SHIPPED_TABLE[: SHIPPED_TABLE.index("  - a:")].count("\n") + 2
    assert problem.startswith(f"rules/verdict.yaml:{line}:5: ")


def test_a_table_with_a_gap_is_refused():
    put("rules/verdict.yaml", changed(CARELESS, "  - {verdict: measure-first, because: otherwise}\n", ""))
    assert any("has no row for" in problem for problem in refused("rules", "check", "--rules", "rules"))


def test_a_safe_table_of_a_layer_counts():
    put("rules/verdict.yaml", changed(SHIPPED_TABLE, "id: verdict", IN_PLACE))
    assert overridden(judged("--rules", "rules")) == ["verdict (rules/verdict.yaml)"]


def test_a_template_of_a_layer_counts():
    put("templates/parts/footer.md.j2", "Signed by us\n")
    ran = cli("triage", "case.yaml", *NOW, "--templates", "templates")
    assert (ran.code, ran.out.endswith("Signed by us\n")) == (0, True)


def test_what_a_layer_prints_is_escaped():
    put("templates/parts/footer.md.j2", "{{ verdict.target }}\n")
    put("case.yaml", changed(BARE, "name: big", 'name: "<b>*big*"'))
    ran = cli("triage", "case.yaml", *NOW, "--templates", "templates")
    assert ran.out.splitlines()[-1] == "&lt;b>\\*big\\*"
