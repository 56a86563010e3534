"""What all writers tell alike: marks, order, and how much was checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from specrules.model.finding import Finding, GateReport, Level, Subject

Mark = Literal["PASS", "FAIL", "UNKNOWN", "WARN", "NOTE", "N-A", "WAIVED", "ERROR"]
_WEIGHT: tuple[Level, ...] = ("error", "warning", "note", "none")


@dataclass(frozen=True)
class Counts:
    """How many findings of a run are of a kind. `rules` counts rules that said something, each once per subject.

    `failed` and `unknown` are those that block.
    """

    files: int
    subjects: int
    rules: int
    failed: int
    unknown: int
    warned: int
    noted: int
    waived: int
    errors: int

    @property
    def is_clean(self) -> bool:
        """Whether there is nothing to be told."""
        return not (self.failed or self.unknown or self.warned or self.noted or self.waived or self.errors)


def counts(report: GateReport) -> Counts:
    """Count what was found."""
    findings = [finding for subject in report.subjects for finding in subject.findings]
    paths = {subject.path for subject in report.subjects}
    paths |= {error.place.path for error in report.errors if error.place is not None}
    return Counts(
        files=len(paths),
        subjects=len(report.subjects),
        rules=sum(len({finding.rule for finding in subject.findings}) for subject in report.subjects),
        failed=sum(finding.counts == "error" and finding.outcome != "unknown" for finding in findings),
        unknown=sum(finding.counts == "error" and finding.outcome == "unknown" for finding in findings),
        warned=sum(finding.counts == "warning" for finding in findings),
        noted=sum(finding.counts == "note" for finding in findings),
        waived=sum(finding.waiver is not None for finding in findings),
        errors=len(report.errors),
    )


def mark(finding: Finding) -> Mark:
    """Return the mark of a finding: what came out, and for what does not block what it counts for."""
    if finding.waiver is not None:
        return "WAIVED"
    if finding.outcome == "error":
        return "ERROR"
    if finding.outcome == "unknown" and finding.level != "note":
        return "UNKNOWN"
    if finding.level == "error":
        return "FAIL"
    if finding.level in {"warning", "note"}:
        return "WARN" if finding.level == "warning" else "NOTE"
    return "N-A" if finding.outcome == "not-applicable" else "PASS"


def told(subject: Subject) -> list[Finding]:
    """Return what has to be told of a subject, the worst first and the verdict before what made it.

    Waived findings come after those that count.
    """
    findings = [finding for finding in subject.findings if finding.level != "none"]
    return sorted(
        findings, key=lambda item: (_WEIGHT.index(item.counts), item.waiver is not None, item.rule != "verdict")
    )


def clean(subject: Subject) -> Iterator[Finding]:
    """Yield what is fine about a subject, one finding per rule that found nothing to tell."""
    noisy = {finding.rule for finding in subject.findings if finding.level != "none"}
    seen: set[str] = set()
    for finding in subject.findings:
        if finding.outcome == "pass" and finding.rule not in noisy | seen:
            seen.add(finding.rule)
            yield finding


def all_told(report: GateReport) -> list[tuple[Subject, Finding]]:
    """Return everything that has to be told, with its subject, the worst of all subjects first."""
    pairs = [(subject, finding) for subject in report.subjects for finding in told(subject)]
    return sorted(pairs, key=lambda pair: _WEIGHT.index(pair[1].counts))


def summary(report: GateReport) -> str:
    """Return the run in one sentence."""
    found = counts(report)
    checked = f"{_plural(found.files, 'file')}, {_plural(found.rules, 'rule')} checked"
    if found.is_clean:
        return f"{checked}: nothing found"
    parts = (
        (found.errors, _plural(found.errors, "file error")),
        (found.failed, f"{found.failed} failed"),
        (found.unknown, f"{found.unknown} unknown"),
        (found.warned, _plural(found.warned, "warning")),
        (found.noted, _plural(found.noted, "note")),
        (found.waived, f"{found.waived} waived"),
    )
    return f"{checked}: {', '.join(text for number, text in parts if number)}"


def titles(findings: Iterable[Finding]) -> dict[str, Finding]:
    """Return the first finding of every rule, in order of rule id."""
    first: dict[str, Finding] = {}
    for finding in findings:
        first.setdefault(finding.rule, finding)
    return dict(sorted(first.items()))


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
