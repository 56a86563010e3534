"""A gate run as a code quality report of GitLab. Nothing found is an empty list, which GitLab shows as clean."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from specrules.model.deployment import Place
from specrules.model.finding import GateError, GateReport, Level
from specrules.report.gate.counting import all_told
from specrules.report.gate.options import Options
from specrules.report.gate.plain import one_line

_SEVERITIES: dict[Level, str] = {"error": "critical", "warning": "minor", "note": "info"}


def to_gitlab(report: GateReport, options: Options) -> str:
    """Return the issues, waived ones left out. GitLab hides names of checks, so every description begins with one."""
    issues = [_error(error, options) for error in report.errors]
    for subject, finding in all_told(report):
        if finding.waiver is None:
            place = finding.place or Place(path=subject.path)
            severity = _SEVERITIES[finding.level]
            issues.append(_issue(finding.rule, finding.message, severity, finding.fingerprint, _where(place, options)))
    return json.dumps(issues, indent=2, ensure_ascii=False) + "\n"


def _error(error: GateError, options: Options) -> dict[str, Any]:
    place = error.place or Place(path=".")
    key = f"{options.repository_path(place.path)}\0{error.message}"
    hint = f" ({error.hint})" if error.hint else ""
    digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return _issue("cannot-be-judged", error.message + hint, "blocker", digest, _where(place, options))


def _issue(rule: str, message: str, severity: str, digest: str, where: dict[str, Any]) -> dict[str, Any]:
    return {
        "description": f"{rule}: {one_line(message)}",
        "check_name": rule,
        "fingerprint": digest,
        "severity": severity,
        "location": where,
    }


def _where(place: Place, options: Options) -> dict[str, Any]:
    return {"path": options.repository_path(place.path), "lines": {"begin": max(place.line, 1)}}
