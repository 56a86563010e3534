from __future__ import annotations

import json

from specrules.report.gate import Options, render_gate

from .reports import everything, hostile, nothing_found


def test_issues_as_gitlab_reads_them() -> None:
    issues = json.loads(render_gate(everything(), "gitlab"))
    assert [(issue["check_name"], issue["severity"]) for issue in issues] == [
        ("cannot-be-judged", "blocker"),
        ("removed", "critical"),
        ("untold", "critical"),
        ("slow", "minor"),
        ("unsure", "minor"),
        ("odd", "info"),
    ]
    for issue in issues:
        assert set(issue) == {"description", "check_name", "fingerprint", "severity", "location"}
        assert issue["description"].startswith(f"{issue['check_name']}: ")
        assert set(issue["location"]) == {"path", "lines"}
        assert issue["location"]["lines"]["begin"] >= 1
    assert len({issue["fingerprint"] for issue in issues}) == len(issues)
    assert issues[1]["location"] == {"path": "deploy/llm.yaml", "lines": {"begin": 14}}


def test_a_finding_without_a_place_belongs_to_its_file() -> None:
    (unsure,) = [item for item in json.loads(render_gate(everything(), "gitlab")) if item["check_name"] == "unsure"]
    assert unsure["location"] == {"path": "deploy/llm.yaml", "lines": {"begin": 1}}


def test_nothing_found_is_an_empty_list() -> None:
    assert render_gate(nothing_found(), "gitlab") == "[]\n"


def test_paths_start_at_the_root_of_the_repository() -> None:
    issues = json.loads(render_gate(everything(), "gitlab", Options(base="services")))
    assert issues[1]["location"]["path"] == "services/deploy/llm.yaml"


def test_descriptions_stay_on_one_line() -> None:
    for issue in json.loads(render_gate(hostile(), "gitlab")):
        assert not set(issue["description"]) & set("\x00\x1b\r\n\u202e")
