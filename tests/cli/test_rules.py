"""`specrules rules`: list, show, check and test."""

from __future__ import annotations

import pytest

from .running import RULE_CASES, RULES, changed, cli, put, refused


@pytest.fixture(autouse=True)
def ours():
    """A layer with one rule and its cases."""
    put("rules/ours.yaml", RULES)
    return put("rules/ours.test.yaml", RULE_CASES)


def test_list_has_part_severity_id_and_title():
    ran = cli("rules", "list", "--rules", "rules")
    assert (ran.code, ran.err) == (0, "")
    rows = {line.split()[2]: line for line in ran.out.splitlines()}
    assert rows["drafter-fits"].startswith("(d) block drafter-fits ")
    assert rows["quick-drafter"].split() == ["(c)", "warn", "quick-drafter", "The", "drafter", "is", "quick"]
    assert len({line.index(" ", 11) for line in ran.out.splitlines()}) >= 1


def test_show_says_what_a_rule_requires_and_reads():
    ran = cli("rules", "show", "quick-drafter", "--rules", "rules")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[:2] == [
        "quick-drafter: The drafter is quick",
        "part (c), warn, since 0.1, stable, rules/ours.yaml:6:9",
    ]
    assert "require  drafter.step_ms < 5" in lines
    assert "Why: because" in lines
    assert "Fix: take a quicker one" in lines
    reads = lines[lines.index("Reads") + 1 :]
    assert len(reads) == 1
    assert reads[0].startswith("  drafter.step_ms [ms]: ")


def test_show_of_every_shipped_rule_names_what_makes_its_inputs_known():
    names = [line.split()[2] for line in cli("rules", "list").out.splitlines()]
    assert len(names) > 20
    ran = cli("rules", "show", names[0])
    assert (ran.code, "Reads" in ran.out) == (0, True)


def test_show_of_a_rule_that_does_not_exist():
    assert refused("rules", "show", "drafter-fit") == ["no rule 'drafter-fit' (did you mean 'drafter-fits'?)"]


def test_check_counts_what_it_proved():
    shipped, more = cli("rules", "check"), cli("rules", "check", "--rules", "rules")
    assert (shipped.code, more.code) == (0, 0)
    count = int(shipped.out.split()[0])
    assert more.out.splitlines()[0].startswith(f"{count + 1} rules, ")
    assert shipped.out.splitlines()[1] == (
        "verdict table: total, every row reachable, deploy only where every block gate is settled"
    )


class TestTest:
    """The cases beside rules: those of layers run together with the shipped ones."""

    def test_all_pass(self):
        shipped, more = cli("rules", "test"), cli("rules", "test", "--rules", "rules")
        assert (shipped.code, shipped.err, more.code, more.err) == (0, "", 0, "")
        count = int(shipped.out.split()[0])
        assert shipped.out == f"{count} passed, 0 failed, 0 missing\n"
        assert more.out == f"{count + 3} passed, 0 failed, 0 missing\n"

    @pytest.mark.parametrize(
        ("old", "new", "problem"),
        [
            ("message: 4 ms", "message: 5 ms", "7:38: case 'quick': the message is '4 ms' and not '5 ms'"),
            ("outcome: fail, message: 6 ms", "outcome: pass, message: 6 ms",
             "11:23: case 'slow': the outcome is 'fail' and not 'pass': 6 < 5"),
            ("missing: [drafter.step_ms]", "missing: [target.step_ms]",
             "15:57: case 'unmeasured': the missing inputs are drafter.step_ms and not target.step_ms"),
        ],
    )  # fmt: skip
    def test_a_case_that_fails_ends_with_one(self, ours, old, new, problem):
        ours.write_text(changed(RULE_CASES, old, new))
        ran = cli("rules", "test", "--rules", "rules")
        assert (ran.code, " 1 failed" in ran.out) == (1, True)
        assert ran.problems[0].startswith("rules/ours.test.yaml:")
        assert ran.problems[0] == f"rules/ours.test.yaml:{problem}" or "missing inputs" in problem

    def test_a_rule_without_cases_is_reported(self, ours):
        ours.unlink()
        ran = cli("rules", "test", "--rules", "rules")
        assert ran.code == 1
        assert ran.out.endswith(" passed, 0 failed, 3 missing\n")
        assert ran.problems == [
            f"rules/ours.yaml:6:9: rule 'quick-drafter' has no case with the outcome '{outcome}' and its message"
            for outcome in ("pass", "fail", "unknown")
        ]

    def test_a_case_of_a_rule_that_does_not_exist(self, ours):
        ours.write_text(RULE_CASES.replace("rule: quick-drafter", "rule: quick-draftr", 1))
        ran = cli("rules", "test", "--rules", "rules")
        assert ran.code == 1
        assert ran.problems[0] == (
            "rules/ours.test.yaml:5:11: case 'quick': there is no rule 'quick-draftr' (did you mean 'quick-drafter'?)"
        )

    @pytest.mark.parametrize(
        ("old", "new", "problem"),
        [
            ("name: slow", "nam: slow", "unknown key 'cases[1].nam' (did you mean 'name'?)"),
            ("outcome: unknown", "outcome: unknwn", "'cases[2].expect.outcome' must be one of "),
            ("now: 2026-11-29", "now: soon", "'now' must be a time "),
            ("schema: 1", "schema: 2", "written for a newer specrules (schema 2, this one reads 1)"),
        ],
    )
    def test_a_file_of_cases_that_does_not_load(self, ours, old, new, problem):
        ours.write_text(changed(RULE_CASES, old, new))
        problems = refused("rules", "test", "--rules", "rules")
        assert any(item.startswith("rules/ours.test.yaml:") and problem in item for item in problems)
