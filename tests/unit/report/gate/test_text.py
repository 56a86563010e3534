from __future__ import annotations

import re

from specrules.report.gate import Options, render_gate
from specrules.report.gate.text import waiver_text

from .reports import everything, finding, hostile, nothing_found, report, subject

EVERYTHING = """\
FAIL    deploy/llm.yaml: Deployment/llm, container vllm: eagle3 on vLLM 0.11.0, 3 tokens  [inputs 0123456789ab]
  FAIL    removed  a < policy.limit  [2 < 1]  deploy/llm.yaml:14:13
          What removed found.
          fix: Repair removed.
  UNKNOWN untold   a < policy.limit  [2 < 1]  deploy/llm.yaml:12:9
          What untold found.
          needs: engine.version
          fix: Repair untold.
  WARN    slow     a < policy.limit  [2 < 1]  deploy/llm.yaml:12:9
          What slow found.
          fix: Repair slow.
  UNKNOWN unsure   a < policy.limit  [2 < 1]
          What unsure found.
          fix: Repair unsure.
  NOTE    odd      a < policy.limit  [2 < 1]  deploy/llm.yaml:12:9
          What odd found.
          fix: Repair odd.
  WAIVED  excused  a < policy.limit  [2 < 1]  deploy/llm.yaml:12:9
          What excused found.
          waived until 2026-12-10 by infra: card swap (OPS-12)  .specrules/waivers.yaml:3:3
  PASS    fine     a < policy.limit  [2 < 1]  deploy/llm.yaml:12:9

ERROR   deploy/bad.yaml:3: not valid YAML (check the indent)
WAIVER  expired        removed (engine vllm): expires 2026-11-01, 28 d ago; infra: old  .specrules/waivers.yaml:9:3
ERROR   policy default: 2 files, 8 rules checked: 1 file error, 1 failed, 1 unknown, 2 warnings, 1 note, 1 waived
"""


def test_everything() -> None:
    assert render_gate(everything(), "text") == EVERYTHING


def test_nothing_found_shows_what_was_checked() -> None:
    written = render_gate(nothing_found(), "text").splitlines()
    assert [line.split()[:2] for line in written[1:3]] == [["PASS", "fine"], ["PASS", "also-fine"]]
    assert written[-1] == "PASS    policy default: 1 file, 2 rules checked: nothing found"


def test_one_line_for_no_speculation() -> None:
    nothing = finding("speculation-configured", "not-applicable", expression="", observed="")
    written = render_gate(
        report(subject(nothing, outcome="pass", summary="no speculation configured"), outcome="pass"), "text"
    )
    assert written.splitlines()[:2] == [
        "PASS    deploy/llm.yaml: Deployment/llm, container vllm: no speculation configured  [inputs 0123456789ab]",
        "",
    ]


def test_a_rule_that_passes_many_times_has_one_line() -> None:
    twice = report(subject(finding("a"), finding("a"), finding("b"), finding("b", "fail", "error")))
    lines = [line.split()[:2] for line in render_gate(twice, "text").splitlines() if line.startswith("  ")]
    assert [line for line in lines if line[0] in {"PASS", "FAIL"}] == [["FAIL", "b"], ["PASS", "a"]]


def test_the_verdict_stands_before_what_made_it() -> None:
    made = report(subject(finding("a", "fail", "error"), finding("verdict", "fail", "error")))
    marks = [line.split()[1] for line in render_gate(made, "text").splitlines() if line.startswith("  FAIL")]
    assert marks == ["verdict", "a"]


def test_colours_change_nothing_else() -> None:
    coloured = render_gate(everything(), "text", Options(colour=True))
    assert coloured != EVERYTHING
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == EVERYTHING


def test_nothing_steers_the_terminal() -> None:
    written = render_gate(hostile(), "text")
    assert not set(written) & set("\x00\x1b\r\u202e\ud800")
    assert "::error::line two" in written
    assert not any(line.startswith("::") for line in written.splitlines())


def test_days_of_a_waiver() -> None:
    expired, active = everything().waivers
    today = expired.model_copy(update={"days_left": 0, "place": None})
    assert waiver_text(today) == "expired        removed (engine vllm): expires 2026-11-01, today; infra: old"
    assert ", in 42 d; " in waiver_text(active)
