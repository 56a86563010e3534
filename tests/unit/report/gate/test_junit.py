from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from specrules.model.finding import GateReport
from specrules.report.gate import Options, render_gate

from .reports import FILE, everything, finding, hostile, nothing_found, report, subject

SUITES = ("testsuites", "testsuite")
SCHEMA = Path(__file__).parents[3] / "data" / "formats" / "junit-10.xsd"


def text(found: GateReport, options: Options | None = None) -> str:
    return render_gate(found, "junit", options)


def cases(found: GateReport) -> dict[str, ET.Element]:
    return {case.get("name", ""): case for case in ET.fromstring(text(found)).iter("testcase")}  # noqa: S314


@pytest.mark.parametrize("made", [everything, nothing_found, hostile, report])
def test_it_is_valid(made: Any) -> None:
    xmlschema = pytest.importorskip("xmlschema")
    schema = xmlschema.XMLSchema(str(SCHEMA))
    document = ET.ElementTree(ET.fromstring(text(made())))  # noqa: S314
    assert [str(error.reason) for error in schema.iter_errors(document)] == []


def test_one_case_per_rule_and_what_became_of_it() -> None:
    found = cases(everything())
    assert {name: [child.tag for child in case] for name, case in found.items()} == {
        "fine": [],
        "beside-the-point": ["skipped"],
        "removed": ["failure"],
        "untold": ["failure"],
        "slow": ["system-out"],
        "unsure": ["skipped"],
        "odd": ["system-out"],
        "excused": ["skipped"],
        "readable": ["error"],
    }
    assert found["removed"][0].get("type") == "fail"
    assert found["untold"][0].get("type") == "unknown"
    assert found["excused"][0].get("message") == "waived until 2026-12-10 by infra: card swap"
    assert found["fine"].get("classname") == FILE


def test_a_failure_says_what_was_required_observed_and_where() -> None:
    assert (cases(everything())["removed"][0].text or "").split("\n") == [
        "What removed found.",
        "required: a < policy.limit",
        "observed: 2 < 1",
        "fix: Repair removed.",
        f"at: {FILE}:14:13",
    ]


def test_counts() -> None:
    root = ET.fromstring(text(everything()))  # noqa: S314
    assert [root.get(key) for key in ("tests", "failures", "errors")] == ["9", "2", "1"]
    first, unreadable = root.findall("testsuite")
    assert [first.get(key) for key in ("tests", "failures", "errors", "skipped")] == ["8", "2", "0", "3"]
    assert [unreadable.get(key) for key in ("tests", "failures", "errors", "skipped")] == ["1", "0", "1", "0"]
    assert first.get("timestamp") == "2026-11-29T00:00:00"


def test_a_rule_that_says_several_things_has_several_cases() -> None:
    twice = report(subject(finding("a", "fail", "error"), finding("b"), finding("a", "fail", "error")))
    assert list(cases(twice)) == ["a", "b", "a #2"]


def test_nothing_found_shows_the_rules_that_passed() -> None:
    assert {name: len(case) for name, case in cases(nothing_found()).items()} == {"fine": 0, "also-fine": 0}


def test_a_subject_without_findings_still_was_checked() -> None:
    (case,) = cases(report(subject(outcome="pass", summary="no speculation configured"))).values()
    assert (case.get("name"), case[0].text) == ("checked", "no speculation configured")


def test_text_from_files_stays_text() -> None:
    written = text(hostile())
    root = ET.fromstring(written)  # noqa: S314
    assert "<script>" not in written
    assert "&lt;script&gt;" in written
    assert "\x00" not in written
    assert {child.tag for child in root.iter("*")} == {*SUITES, "testcase", "failure", "skipped", "error"}
