"""The gate over all deployments of the corpus at once: what is expected of each file reaches every report."""

from __future__ import annotations

import json
import re
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml

from specrules.model.finding import GateReport

from .running import NOW, ROOT, cli

CORPUS = ROOT / "tests" / "cases" / "deployments"
SUFFIX = ".expect.yaml"
SECRET = re.compile(r"\b(?:sk-|hf_)[\w-]{8,}")
FILES = sorted(path.name for path in CORPUS.iterdir() if not path.name.endswith(SUFFIX))
FORMATS = ("json", "sarif", "junit", "github", "gitlab", "md", "text")


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The reports of one run over the whole corpus, by format."""
    folder = tmp_path_factory.mktemp("reports")
    targets = [part for name in FORMATS for part in ("-o", f"{name}={folder / name}")]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(CORPUS)
        ran = cli("gate", *FILES, *NOW, *targets)
    # One file of the corpus does not parse.
    assert ran.code == 2
    return {name: (folder / name).read_text(encoding="utf-8") for name in FORMATS}


@pytest.fixture(scope="module")
def report(written: dict[str, str]) -> GateReport:
    return GateReport.model_validate_json(written["json"])


def expected(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((CORPUS / f"{name}{SUFFIX}").read_text(encoding="utf-8"))
    return found


def wanted(name: str) -> set[tuple[str, str, str]]:
    """Rule, outcome and place of everything that is expected of a file."""
    deployments = expected(name).get("deployments", ())
    return {(item["rule"], item["outcome"], item["at"]) for found in deployments for item in found.get("findings", ())}


@pytest.mark.parametrize("name", FILES)
def test_what_is_expected_of_a_file_is_reported_at_its_place(report: GateReport, name: str) -> None:
    found = {
        (finding.rule, finding.outcome, f"{finding.place.line}:{finding.place.column}")
        for subject in report.subjects
        if subject.path == name
        for finding in subject.findings
        if finding.place is not None
    }
    assert wanted(name) <= found


def test_half_of_the_corpus_is_wrong(report: GateReport) -> None:
    assert len(FILES) >= 30
    failing = {subject.path for subject in report.subjects if subject.outcome == "fail"}
    failing |= {error.place.path for error in report.errors if error.place is not None}
    assert 0.35 < len(failing) / len(FILES) < 0.65


def test_places_lie_in_the_files(report: GateReport) -> None:
    texts = {name: (CORPUS / name).read_text(encoding="utf-8").splitlines() for name in FILES}
    places = [(finding.rule, finding.place) for subject in report.subjects for finding in subject.findings]
    assert len(places) > 500
    for rule, place in places:
        assert place is not None, rule
        lines = texts[place.path]
        assert 0 <= place.line <= len(lines), (rule, place)
        assert 0 <= place.column <= len(lines[place.line - 1]) + 1, (rule, place)


def test_fingerprints_tell_findings_apart(report: GateReport) -> None:
    prints = [finding.fingerprint for subject in report.subjects for finding in subject.findings]
    assert len(set(prints)) == len(prints)


def test_every_report_tells_the_same(written: dict[str, str], report: GateReport) -> None:
    told = sum(finding.level != "none" for subject in report.subjects for finding in subject.findings)
    results = json.loads(written["sarif"])["runs"][0]["results"]
    assert len(results) == told
    assert len(json.loads(written["gitlab"])) == told + len(report.errors)
    assert len(written["github"].splitlines()) == told + len(report.errors)
    cases = ET.fromstring(written["junit"]).findall(".//testcase")  # noqa: S314
    assert len(cases) == sum(len(subject.findings) or 1 for subject in report.subjects) + len(report.errors)
    for subject in report.subjects:
        assert f"{subject.path}: {subject.name}" in written["text"] or subject.name == subject.path


def test_a_file_that_starts_nothing_wrong_passes(report: GateReport) -> None:
    clean = [name for name in FILES if not {item for item in wanted(name) if item[1] != "pass"}]
    assert clean
    for subject in report.subjects:
        if subject.path in clean and subject.engine is not None:
            blocked = [finding.rule for finding in subject.findings if finding.counts == "error"]
            assert blocked == [], subject.path


def test_secrets_reach_no_report(written: dict[str, str]) -> None:
    secrets = {found for name in FILES for found in SECRET.findall((CORPUS / name).read_text(encoding="utf-8"))}
    assert secrets
    for name, text in written.items():
        assert not [secret for secret in secrets if secret in text], name
