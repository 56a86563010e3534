"""From what was found about one case or deployment to a subject of the report: weights, waivers, fingerprints."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from specrules.catalog.catalogue import Catalog
from specrules.decide.waive import Desk, Judged
from specrules.decide.weigh import OF_VERDICTS, gate_outcome, level
from specrules.model.finding import Finding, Level, Subject, WaiverUse
from specrules.model.policy import PolicyFile
from specrules.model.raw_finding import RawFinding
from specrules.model.rule import RuleOutcome, VerdictName

if TYPE_CHECKING:
    from specrules.pipeline.evidence import Progress
    from specrules.pipeline.sources import Sources

VERDICT = "verdict"
_LEVELS: tuple[Level, ...] = ("none", "note", "warning", "error")
_HEAVIEST: dict[str, Level] = {"block": "error", "warn": "warning", "info": "note"}

Redecide = Callable[[frozenset[str]], VerdictName]
"""The verdict where some gates count as settled."""


@dataclass(frozen=True, slots=True)
class Means:
    """What every file of a run is judged with. Without `sources` nothing is read from the web."""

    catalog: Catalog
    now: datetime
    progress: Progress | None = None
    sources: Sources | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """Everything that was found about one subject, before the policy weighs it."""

    name: str
    path: str
    kind: Literal["deployment", "case"]
    summary: str
    raw: tuple[RawFinding, ...]
    target: str | None = None
    drafter: str | None = None
    engine: str | None = None
    version: str | None = None
    case: str | None = None
    verdict: VerdictName | None = None
    inputs: str = ""
    redecide: Redecide | None = None


Prints = Counter[tuple[str, ...]]
"""How often something was found that nothing but its place tells from another: it then gets a number."""


def subject(found: Found, policy: PolicyFile, desk: Desk, root: str, prints: Prints) -> Subject:
    """Weigh the findings, lay waivers over them, and give each a fingerprint. `root` is where waived paths start."""
    path = os.path.relpath(found.path, root or ".").replace(os.sep, "/")
    judged = Judged(path, found.target, found.drafter, found.engine, found.inputs)
    desk.seen(judged)
    findings: list[Finding] = []
    for raw in sorted(found.raw, key=lambda item: item.rule == VERDICT):
        weight = policy.rules.get(raw.rule)
        if weight == "off":
            continue
        item = raw if weight is None else raw.model_copy(update={"severity": weight})
        if raw.rule == VERDICT:
            finding = _verdict(item, found, policy, findings)
        else:
            finding = _finding(item, level(item.outcome, item.severity, policy))
        use = finding.waiver or (None if finding.level == "none" else desk.cover(item.rule, item.outcome, judged))
        about = (item.rule, path, found.name, item.key)
        prints[about] += 1
        findings.append(finding.model_copy(update={"waiver": use, "fingerprint": fingerprint(about, prints[about])}))
    return Subject(
        name=found.name,
        path=found.path,
        kind=found.kind,
        target=found.target,
        drafter=found.drafter,
        engine=found.engine,
        version=found.version,
        case=found.case,
        summary=found.summary,
        verdict=found.verdict,
        inputs_digest=found.inputs,
        outcome=gate_outcome(findings),
        findings=tuple(findings),
    )


def fingerprint(about: Sequence[str], ordinal: int) -> str:
    """The same for the same finding wherever it moves in its file: 32 hex digits, without lines and messages."""
    parts = (*about, *([str(ordinal)] if ordinal > 1 else []))
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def verdict_outcome(verdict: VerdictName) -> RuleOutcome:
    """A verdict as the outcome of a rule: `deploy` passes, what waits for a measurement is unknown."""
    return {"deploy": "pass", "measure-first": "unknown"}.get(verdict, "fail")  # type: ignore[return-value]


def _finding(raw: RawFinding, weight: Level) -> Finding:
    return Finding(
        rule=raw.rule,
        title=raw.title,
        severity=raw.severity,
        outcome=raw.outcome,
        level=weight,
        message=raw.message,
        expression=raw.expression,
        observed=raw.observed,
        missing=raw.missing,
        fix=raw.fix,
        refs=raw.refs,
        place=raw.place,
        fingerprint="",
    )


def _verdict(raw: RawFinding, found: Found, policy: PolicyFile, before: list[Finding]) -> Finding:
    """The verdict by the policy. Where waived gates made it, what it would be without them counts."""
    assert found.verdict is not None  # noqa: S101
    own = _verdict_level(found.verdict, raw, policy)
    waived = {item.rule: item.waiver for item in before if item.waiver is not None and item.severity == "block"}
    if own == "none" or not waived or found.redecide is None:
        return _finding(raw, own)
    other = found.redecide(frozenset(waived))
    if other == found.verdict:
        return _finding(raw, own)
    without = f" Without the waived gates ({', '.join(waived)}): {other}."
    changed = raw.model_copy(update={"message": raw.message + without})
    rest = _verdict_level(other, raw, policy)
    if rest != "none":
        return _finding(changed, min(own, rest, key=_LEVELS.index))
    use: WaiverUse = next(item for item in waived.values() if item is not None)
    return _finding(changed, own).model_copy(update={"waiver": use})


def _verdict_level(verdict: VerdictName, raw: RawFinding, policy: PolicyFile) -> Level:
    """The level that the policy gives a verdict, and no more than it lets the rule `verdict` weigh."""
    return min(OF_VERDICTS[policy.verdicts.of(verdict)], _HEAVIEST[raw.severity], key=_LEVELS.index)
