"""Conditions and rules for deployments on the command line: what is refused, and how a failing case is shown."""

from __future__ import annotations

import pytest

from .running import ROOT, RULE_CASES, RULES, changed, cli, put

HALOGEN = (ROOT / "engines" / "halogen-server.yaml").read_text(encoding="utf-8")


def engine(old, new):
    text = changed(HALOGEN, old, new).replace("id: halogen-server\n", "id: halogen-server\noverrides: true\n", 1)
    return put("engines/halogen-server.yaml", text)


def test_an_example_that_does_not_give_what_it_says():
    engine(
        'settings: {HALOGEN_KV_SLOTS: "2", HALOGEN_DRAFTER: "0"}, holds: false',
        'settings: {HALOGEN_KV_SLOTS: "2"}, holds: false',
    )
    ran = cli("engines", "check", "halogen-server", "--engines", "engines")
    assert (ran.code, ran.out) == (2, "")
    (problem,) = ran.problems
    where, _, message = problem.partition(": ")
    assert where.startswith("engines/halogen-server.yaml:")
    assert message == "the condition of 'slots-end-drafting' gives true and not false"


def test_a_condition_that_reads_a_flag_that_is_not_there():
    engine("flag.halogen_kv_slots > 1 and", "flag.halogen_kv_slot > 1 and")
    ran = cli("engines", "check", "halogen-server", "--engines", "engines")
    assert ran.code == 2
    assert ran.problems[0].endswith("unknown name 'flag.halogen_kv_slot' (did you mean 'flag.halogen_kv_slots'?)")


def test_rules_of_deployments_are_marked():
    rows = {line.split()[2]: line for line in cli("rules", "list").out.splitlines()}
    assert rows["drafter-enabled"].endswith("A drafter that is given is switched on [deployment]")
    assert "[deployment]" not in rows["drafter-fits"]


def test_show_says_what_a_rule_is_asked_of():
    lines = cli("rules", "show", "head-for-target").out.splitlines()
    assert lines[1].startswith("deployment, part (d), block, ")
    assert lines[2] == "weighs as warn while it is unknown"
    assert any(line.startswith("  deployment.head_fits: ") for line in lines)
    each = cli("rules", "show", "server-starts").out.splitlines()
    assert each[2] == (
        "asked for each of the claims; where nothing is found: Nothing that would end the server at start is set."
    )


@pytest.fixture
def ours():
    put("rules/ours.yaml", RULES)
    return put("rules/ours.test.yaml", RULE_CASES)


def test_a_failing_case_is_shown_as_a_diff(ours):
    ours.write_text(changed(RULE_CASES, "outcome: fail, message: 6 ms", "outcome: pass, message: 7 ms"))
    ran = cli("rules", "test", "--rules", "rules")
    assert ran.code == 1
    shown = ran.err.splitlines()
    at = shown.index("    quick-drafter, asked with")
    assert shown[at : at + 8] == [
        "    quick-drafter, asked with",
        "        drafter.step_ms: 6",
        "    - outcome pass",
        "    + outcome fail",
        "    - message [7] ms",
        "    + message [6] ms",
        "      decided drafter.step_ms < 5",
        "      that is 6 < 5",
    ]


DEPLOYMENT_RULE = """\
schema: 1
id: ours
part: d
scope: deployment
title: Ours
rules:
  - id: short-drafts
    title: Drafts are short
    severity: warn
    each: settings
    require: setting.name != "--long"
    message: "{{ setting.name }}"
    why: because
    fix: shorten
    since: "0.1"
"""


def test_a_rule_per_item_has_to_say_what_it_checked():
    put("rules/ours.yaml", DEPLOYMENT_RULE)
    ran = cli("rules", "check", "--rules", "rules")
    assert (ran.code, ran.problems) == (
        2, ["rules/ours.yaml:10:11: a rule with `each` needs `clean`: what was checked, said where nothing was found"],
    )  # fmt: skip


def test_a_rule_of_a_case_cannot_read_a_deployment():
    put("rules/ours.yaml", RULES.replace("drafter.step_ms < 5", "deployment.metrics"))
    ran = cli("rules", "check", "--rules", "rules")
    assert ran.code == 2
    assert "unknown name 'deployment.metrics'" in ran.problems[0]
