"""A gate run for a terminal or a CI log: one line per rule, and below what counts what was found and what to do."""

from __future__ import annotations

from collections.abc import Iterator

from specrules.model.deployment import Place
from specrules.model.finding import Finding, GateError, GateReport, Subject, WaiverNotice
from specrules.report.gate.counting import Mark, clean, mark, summary, told
from specrules.report.gate.options import Options
from specrules.report.gate.plain import one_line, place_text

_COLOURS = {
    "FAIL": "31;1",
    "ERROR": "31;1",
    "UNKNOWN": "33;1",
    "WARN": "33",
    "WAIVED": "36",
    "PASS": "32",
    "NOTE": "34",
}
_OUTCOMES = {"pass": "PASS", "warn": "WARN", "fail": "FAIL", "error": "ERROR"}
_WIDTH = 7


def to_text(report: GateReport, options: Options) -> str:
    """Return the run as text. Colours only where `options` ask for them."""
    lines = [line for subject in report.subjects for line in (*_subject(subject, options), "")]
    lines += [_error(error, options) for error in report.errors]
    lines += [_waiver(notice) for notice in report.waivers if notice.state != "active"]
    policy = f"policy {report.policy}"
    lines.append(f"{_marked(_OUTCOMES[report.outcome], options)} {policy}: {summary(report)}")
    return "\n".join(lines) + "\n"


def waiver_text(notice: WaiverNotice) -> str:
    """Return a waiver on one line: what became of it, rule, scope, last day, owner, reason, place."""
    days = notice.days_left
    when = f"{-days} d ago" if days < 0 else "today" if days == 0 else f"in {days} d"
    text = f"{notice.rule} ({notice.scope}): expires {notice.expires}, {when}; {notice.owner}: {notice.reason}"
    return f"{notice.state:14} {one_line(text)}{_at(notice.place)}"


def error_text(error: GateError) -> str:
    """Return what kept a file from being judged on one line, with its place."""
    hint = f" ({error.hint})" if error.hint else ""
    where = "" if error.place is None else f"{_place(error.place)}: "
    return one_line(where + error.message + hint)


def _subject(subject: Subject, options: Options) -> Iterator[str]:
    head = subject.path if subject.name in {subject.path, ""} else f"{subject.path}: {subject.name}"
    inputs = f"  [inputs {subject.inputs_digest}]" if subject.inputs_digest else ""
    yield f"{_marked(_OUTCOMES[subject.outcome], options)} {one_line(head)}: {one_line(subject.summary)}{inputs}"
    findings = [*told(subject), *clean(subject)]
    width = max((len(finding.rule) for finding in findings), default=0)
    for finding in findings:
        yield _rule(finding, width, options)
        if finding.level != "none":
            yield from (f"{' ' * (_WIDTH + 3)}{line}" for line in _details(finding))


def _rule(finding: Finding, width: int, options: Options) -> str:
    asked = one_line(finding.expression)
    observed = one_line(finding.observed)
    said = [asked, f"[{observed}]" if observed and observed != asked else ""]
    shown = "  ".join(filter(None, said)) or one_line(finding.title)
    return f"  {_marked(mark(finding), options)} {finding.rule:{width}}  {shown}{_at(finding.place)}"


def _details(finding: Finding) -> Iterator[str]:
    yield one_line(finding.message)
    if finding.waiver is not None:
        use = finding.waiver
        ticket = f" ({use.ticket})" if use.ticket else ""
        yield one_line(f"waived until {use.expires} by {use.owner}: {use.reason}{ticket}") + _at(use.place)
        return
    if finding.missing:
        yield f"needs: {', '.join(map(one_line, finding.missing))}"
    if finding.fix:
        yield f"fix: {one_line(finding.fix)}"


def _error(error: GateError, options: Options) -> str:
    return f"{_marked('ERROR', options)} {error_text(error)}"


def _waiver(notice: WaiverNotice) -> str:
    return f"{'WAIVER':{_WIDTH}} {waiver_text(notice)}"


def _at(place: Place | None) -> str:
    return "" if place is None else f"  {one_line(_place(place))}"


def _place(place: Place) -> str:
    return place_text(place.path, place.line, place.column)


def _marked(text: Mark | str, options: Options) -> str:
    padded = f"{text:{_WIDTH}}"
    return f"\x1b[{_COLOURS[text]}m{padded}\x1b[0m" if options.colour and text in _COLOURS else padded
