"""Gate reports by hand: one with everything, one with nothing found, and one full of hostile text."""

from __future__ import annotations

from specrules.model.deployment import Place
from specrules.model.finding import Finding, GateError, GateReport, Subject, WaiverNotice, WaiverUse

FILE = "deploy/llm.yaml"
USE = WaiverUse(
    reason="card swap",
    owner="infra",
    expires="2026-12-10",
    ticket="OPS-12",
    place=Place(path=".specrules/waivers.yaml", line=3, column=3),
)


def finding(rule: str, outcome: str = "pass", level: str = "none", **more: object) -> Finding:
    about = {
        "rule": rule,
        "title": f"Title of {rule}",
        "severity": "block",
        "outcome": outcome,
        "level": level,
        "message": f"What {rule} found.",
        "expression": "a < policy.limit",
        "observed": "2 < 1",
        "fix": f"Repair {rule}." if level != "none" else "",
        "place": Place(path=FILE, line=12, column=9),
        "fingerprint": f"{sum(map(ord, rule)):032x}",
    }
    return Finding.model_validate(about | more)


def subject(*findings: Finding, outcome: str = "fail", **more: object) -> Subject:
    about = {
        "name": "Deployment/llm, container vllm",
        "path": FILE,
        "kind": "deployment",
        "engine": "vllm",
        "version": "0.11.0",
        "summary": "eagle3 on vLLM 0.11.0, 3 tokens",
        "inputs_digest": "0123456789ab",
        "outcome": outcome,
        "findings": findings,
    }
    return Subject.model_validate(about | more)


def report(*subjects: Subject, outcome: str = "fail", **more: object) -> GateReport:
    about = {
        "tool_version": "0.1.0",
        "now": "2026-11-29T00:00:00+00:00",
        "policy": "default",
        "policy_title": "Blocks what is wrong and what is unknown",
        "rules_digest": "abcdef012345",
        "outcome": outcome,
        "subjects": subjects,
    }
    return GateReport.model_validate(about | more)


def everything() -> GateReport:
    """Every outcome and level, an error and a waiver that is used up."""
    return report(
        subject(
            finding("fine"),
            finding("beside-the-point", "not-applicable"),
            finding("removed", "fail", "error", place=Place(path=FILE, line=14, column=13, end_line=14, end_column=30)),
            finding("untold", "unknown", "error", missing=("engine.version",), refs=("https://example.com/issue",)),
            finding("slow", "fail", "warning", severity="warn"),
            finding("unsure", "unknown", "warning", severity="warn", place=None),
            finding("odd", "fail", "note", severity="info"),
            finding("excused", "fail", "error", waiver=USE),
        ),
        outcome="error",
        errors=(
            GateError(message="not valid YAML", hint="check the indent", place=Place(path="deploy/bad.yaml", line=3)),
        ),
        waivers=(
            WaiverNotice(
                state="expired",
                rule="removed",
                scope="engine vllm",
                owner="infra",
                reason="old",
                expires="2026-11-01",
                days_left=-28,
                place=Place(path=".specrules/waivers.yaml", line=9, column=3),
            ),
            WaiverNotice(
                state="active", rule="excused", owner="infra", reason="swap", expires="2027-01-10", days_left=42, used=1
            ),
        ),
    )


def nothing_found() -> GateReport:
    """A run that checked something and found nothing."""
    return report(subject(finding("fine"), finding("also-fine"), outcome="pass"), outcome="pass")


HOSTILE = (
    "a|b `code` <script>alert(1)</script> [x](https://evil.example) ]]>&amp; %0A::error::pwned\r\n::error::line two\n"
    "\x1b[31mred\x00\ud800\u202eevil # heading @team"
)


def hostile() -> GateReport:
    """Names and messages that try to leave their place, in every field that a file can fill."""
    return report(
        subject(
            finding(
                "removed",
                "fail",
                "error",
                message=HOSTILE,
                title=HOSTILE,
                expression=HOSTILE,
                observed=HOSTILE,
                fix=HOSTILE,
                missing=(HOSTILE,),
                place=Place(path=f"deploy/a b,c:d%{HOSTILE[:40]}.yaml", line=3, column=1),
            ),
            finding("excused", "fail", "error", waiver=USE.model_copy(update={"reason": HOSTILE, "owner": HOSTILE})),
            name=HOSTILE,
            summary=HOSTILE,
        ),
        errors=(GateError(message=HOSTILE, hint=HOSTILE, place=Place(path=HOSTILE)),),
        waivers=(
            WaiverNotice(
                state="expired", rule="r", scope=HOSTILE, owner=HOSTILE, reason=HOSTILE, expires="x", days_left=-1
            ),
        ),
        outcome="error",
    )
