from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from specrules.model.finding import GateReport
from specrules.report.gate import Options, render_gate

from .reports import FILE, HOSTILE, everything, finding, hostile, nothing_found, report, subject

SCHEMA = Path(__file__).parents[3] / "data" / "formats" / "sarif-schema-2.1.0.json"


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft7Validator:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    suppression = schema["definitions"]["suppression"]["properties"]
    # The standard calls it status; this file is older than that.
    suppression["status"] = suppression.pop("state")
    return jsonschema.Draft7Validator(schema, format_checker=jsonschema.FormatChecker())


def log(found: GateReport, options: Options | None = None) -> dict[str, Any]:
    return json.loads(render_gate(found, "sarif", options))


def run(found: GateReport, options: Options | None = None) -> dict[str, Any]:
    (only,) = log(found, options)["runs"]
    return only


def results(found: GateReport) -> dict[str, dict[str, Any]]:
    return {result["ruleId"]: result for result in run(found)["results"]}


@pytest.mark.parametrize("made", [everything, nothing_found, hostile, report])
def test_it_is_valid(validator: jsonschema.Draft7Validator, made: Any) -> None:
    assert [error.message for error in validator.iter_errors(log(made()))] == []


def test_the_schema_would_notice(validator: jsonschema.Draft7Validator) -> None:
    wrong = log(everything())
    wrong["runs"][0]["results"][0]["kind"] = "failed"
    assert not validator.is_valid(wrong)


def test_kinds_and_levels() -> None:
    found = results(everything())
    assert {rule: (item["kind"], item["level"]) for rule, item in found.items()} == {
        "removed": ("fail", "error"),
        "untold": ("fail", "error"),
        "slow": ("fail", "warning"),
        "unsure": ("open", "none"),
        "odd": ("fail", "note"),
        "excused": ("fail", "error"),
    }
    assert found["untold"]["properties"]["outcome"] == "unknown"
    assert found["untold"]["properties"]["missing"] == ["engine.version"]


def test_what_is_waived_is_suppressed_and_nothing_else() -> None:
    found = results(everything())
    (suppression,) = found["excused"]["suppressions"]
    assert suppression == {
        "kind": "external",
        "status": "accepted",
        "justification": "infra, until 2026-12-10: card swap (OPS-12)",
    }
    assert [rule for rule, item in found.items() if "suppressions" in item] == ["excused"]


def test_places_are_those_of_the_users_file() -> None:
    found = results(everything())
    where = found["removed"]["locations"][0]["physicalLocation"]
    assert where["artifactLocation"]["uri"] == FILE
    assert where["region"] == {"startLine": 14, "startColumn": 13, "endLine": 14, "endColumn": 30}
    assert found["slow"]["locations"][0]["physicalLocation"]["region"] == {"startLine": 12, "startColumn": 9}
    # GitHub refuses results without a region.
    assert found["unsure"]["locations"][0]["physicalLocation"]["region"] == {"startLine": 1}


def test_indices_lead_to_rules_and_artifacts() -> None:
    only = run(everything())
    rules, artifacts = only["tool"]["driver"]["rules"], only["artifacts"]
    for result in only["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        where = result["locations"][0]["physicalLocation"]["artifactLocation"]
        assert artifacts[where["index"]]["location"]["uri"] == where["uri"]
    assert rules[[rule["id"] for rule in rules].index("untold")]["helpUri"] == "https://example.com/issue"


def test_nothing_found_shows_what_was_checked() -> None:
    only = run(nothing_found())
    assert only["results"] == []
    assert [rule["id"] for rule in only["tool"]["driver"]["rules"]] == ["also-fine", "fine"]
    assert only["artifacts"][0]["location"]["uri"] == FILE
    (invocation,) = only["invocations"]
    assert invocation["executionSuccessful"] is True
    (notification,) = invocation["toolExecutionNotifications"]
    assert notification["message"]["text"] == "Policy default: 1 file, 2 rules checked: nothing found."


def test_a_file_that_cannot_be_judged_is_a_notification() -> None:
    (invocation,) = run(everything())["invocations"]
    assert invocation["executionSuccessful"] is False
    error = invocation["toolExecutionNotifications"][0]
    assert (error["level"], error["message"]["text"]) == ("error", "not valid YAML (check the indent)")
    assert error["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "deploy/bad.yaml"


def test_fingerprints_are_those_of_the_findings() -> None:
    made = everything()
    own = {item.rule: item.fingerprint for item in made.subjects[0].findings}
    for rule, result in results(made).items():
        assert result["partialFingerprints"] == {"specrules/v1": own[rule]}


@pytest.mark.parametrize(
    ("path", "base", "uri", "is_relative"),
    [
        ("a b/c%.yaml", "", "a%20b/c%25.yaml", True),
        ("llm.yaml", "services/llm", "services/llm/llm.yaml", True),
        ("../llm.yaml", "services", "llm.yaml", True),
        ("/etc/llm.yaml", "services", "file:///etc/llm.yaml", False),
        ("a:b.yaml", "", "a%3Ab.yaml", True),
    ],
)
def test_paths_start_at_the_root_of_the_repository(path: str, base: str, uri: str, is_relative: bool) -> None:
    only = run(report(subject(finding("x", place=None), path=path)), Options(base=base))
    location = only["artifacts"][0]["location"]
    assert location == ({"uri": uri, "uriBaseId": "%SRCROOT%"} if is_relative else {"uri": uri})


def test_text_from_files_makes_no_links() -> None:
    text = results(hostile())["removed"]["message"]["text"]
    assert "\\[x\\](https://evil.example)" in text
    assert not set(text) & set("\x00\x1b\r\n\u202e")
    assert HOSTILE not in text
