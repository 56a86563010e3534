"""A gate run as SARIF 2.1.0.

Only what has to be told becomes a result: GitHub shows every result as an alert, also those of kind `pass` and
`notApplicable`. What was checked and is fine shows in the rules of the driver, the artifacts and a notification.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from specrules.model.deployment import Place
from specrules.model.finding import Finding, GateError, GateReport, Subject
from specrules.report.gate.counting import all_told, summary, titles
from specrules.report.gate.options import Options
from specrules.report.gate.plain import one_line

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
FINGERPRINT = "specrules/v1"
_ROOT = "%SRCROOT%"
_LEVELS: Mapping[str, str] = {"block": "error", "warn": "warning", "info": "note"}


def to_sarif(report: GateReport, options: Options) -> str:
    """Return the run as one SARIF log with one run."""
    rules = titles(finding for subject in report.subjects for finding in subject.findings)
    paths = _paths(report)
    writer = _Writer(options, list(rules), paths)
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": "specrules",
                "version": report.tool_version,
                "rules": [_rule(finding) for finding in rules.values()],
            }
        },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The root of the repository."}}},
        "invocations": [
            {
                "executionSuccessful": not report.errors,
                "endTimeUtc": report.now.replace("+00:00", "Z"),
                "toolExecutionNotifications": [*map(writer.error, report.errors), _checked(report)],
            }
        ],
        "artifacts": [{"location": writer.artifact(path), "roles": ["analysisTarget"]} for path in paths],
        "results": [writer.result(subject, finding) for subject, finding in all_told(report)],
        "properties": {"policy": report.policy, "outcome": report.outcome, "rulesDigest": report.rules_digest},
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=2, ensure_ascii=False) + "\n"


class _Writer:
    """Writes what refers to rules and artifacts by their index."""

    def __init__(self, options: Options, rules: Sequence[str], paths: Sequence[str]) -> None:
        self.options = options
        self.rules = {rule: index for index, rule in enumerate(rules)}
        self.artifacts = {path: index for index, path in enumerate(paths)}

    def result(self, subject: Subject, finding: Finding) -> dict[str, Any]:
        """One finding that has to be told."""
        is_open = finding.outcome == "unknown" and finding.level != "error"
        result: dict[str, Any] = {
            "ruleId": finding.rule,
            "ruleIndex": self.rules[finding.rule],
            "kind": "open" if is_open else "fail",
            "level": "none" if is_open else finding.level,
            "message": {"text": _message(f"{finding.message} {finding.fix}".strip())},
            "locations": [self._location(finding.place or Place(path=subject.path), subject.name)],
            "partialFingerprints": {FINGERPRINT: finding.fingerprint},
            "properties": dict(_properties(subject, finding)),
        }
        if finding.waiver is not None:
            use = finding.waiver
            ticket = f" ({use.ticket})" if use.ticket else ""
            text = f"{use.owner}, until {use.expires}: {use.reason}{ticket}"
            result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": _message(text)}]
        return result

    def error(self, error: GateError) -> dict[str, Any]:
        """A file that could not be judged."""
        hint = f" ({error.hint})" if error.hint else ""
        found: dict[str, Any] = {"level": "error", "message": {"text": _message(error.message + hint)}}
        if error.place is not None:
            found["locations"] = [self._location(error.place, "")]
        return found

    def artifact(self, path: str) -> dict[str, Any]:
        """Where a file is: inside the repository, or anywhere."""
        uri = self.options.uri(path)
        return {"uri": uri} if ":" in uri.partition("/")[0] else {"uri": uri, "uriBaseId": _ROOT}

    def _location(self, place: Place, name: str) -> dict[str, Any]:
        where = self.artifact(place.path)
        if place.path in self.artifacts:
            where["index"] = self.artifacts[place.path]
        location: dict[str, Any] = {"physicalLocation": {"artifactLocation": where, "region": _region(place)}}
        if name:
            location["logicalLocations"] = [{"fullyQualifiedName": one_line(name)}]
        return location


def _rule(finding: Finding) -> dict[str, Any]:
    rule: dict[str, Any] = {
        "id": finding.rule,
        "shortDescription": {"text": _message(finding.title)},
        "help": {"text": _message(finding.fix or finding.title)},
        "defaultConfiguration": {"level": _LEVELS[finding.severity]},
    }
    address = next((ref for ref in finding.refs if ref.startswith("https://") and " " not in ref), None)
    return rule if address is None else {**rule, "helpUri": address}


def _properties(subject: Subject, finding: Finding) -> Iterator[tuple[str, Any]]:
    yield "outcome", finding.outcome
    yield "subject", one_line(subject.name)
    if finding.expression:
        yield "expression", one_line(finding.expression)
        yield "observed", one_line(finding.observed)
    if finding.missing:
        yield "missing", list(finding.missing)


def _region(place: Place) -> dict[str, int]:
    """A region of text; the end column is the one after the last, for SARIF as for places."""
    region = {"startLine": max(place.line, 1)}
    if place.line and place.column:
        region["startColumn"] = place.column
    if place.line and place.end_line and place.end_column and place.column:
        region |= {"endLine": place.end_line, "endColumn": place.end_column}
    return region


def _checked(report: GateReport) -> dict[str, Any]:
    return {"level": "note", "message": {"text": _message(f"Policy {report.policy}: {summary(report)}.")}}


def _paths(report: GateReport) -> list[str]:
    paths = [subject.path for subject in report.subjects]
    paths += [error.place.path for error in report.errors if error.place is not None]
    return sorted(set(paths))


def _message(text: str) -> str:
    """Text that holds no link: SARIF reads `[words](place)` in plain text as one."""
    shown = one_line(text)
    if "](" not in shown:
        return shown
    return shown.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
