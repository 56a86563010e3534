"""A gate run as JUnit XML: one suite per deployment or case, one test case per rule.

What the policy blocks on is a failure, of type `unknown` where it is one. Warnings pass and are printed; what does not
apply and what is waived is skipped. A run without findings has its passed rules to show.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from xml.etree import ElementTree as ET

from specrules.model.deployment import Place
from specrules.model.finding import Finding, GateError, GateReport, Subject
from specrules.report.gate.counting import mark
from specrules.report.gate.options import Options
from specrules.report.gate.plain import one_line, place_text, xml_text


def to_junit(report: GateReport, options: Options) -> str:
    """Return the run as one `testsuites` element."""
    suites = [_suite(subject, options) for subject in report.subjects]
    if report.errors:
        suites.append(_errors(report.errors, options))
    root = ET.Element("testsuites", name=f"specrules gate, policy {report.policy}")
    for suite in suites:
        suite.set("timestamp", report.now.removesuffix("+00:00"))
        root.append(suite)
    for key in ("tests", "failures", "errors"):
        root.set(key, str(sum(int(suite.get(key, "0")) for suite in suites)))
    ET.indent(root)
    text = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _suite(subject: Subject, options: Options) -> ET.Element:
    path = options.repository_path(subject.path)
    suite = ET.Element("testsuite", name=_attribute(f"{path}: {subject.name}"))
    seen: Counter[str] = Counter()
    for finding in subject.findings:
        seen[finding.rule] += 1
        ordinal = f" #{seen[finding.rule]}" if seen[finding.rule] > 1 else ""
        case = ET.SubElement(suite, "testcase", name=finding.rule + ordinal, classname=_attribute(path))
        _result(case, finding)
    if not subject.findings:
        case = ET.SubElement(suite, "testcase", name="checked", classname=_attribute(path))
        ET.SubElement(case, "system-out").text = xml_text(one_line(subject.summary))
    _count(suite)
    return suite


def _result(case: ET.Element, finding: Finding) -> None:
    what = mark(finding)
    if finding.waiver is not None:
        use = finding.waiver
        _child(case, "skipped", f"waived until {use.expires} by {use.owner}: {use.reason}", finding)
    elif what == "ERROR":
        _child(case, "error", finding.message, finding, kind="error")
    elif finding.level == "error":
        _child(case, "failure", finding.message, finding, kind=finding.outcome)
    elif finding.outcome in {"not-applicable", "unknown"}:
        _child(case, "skipped", finding.message, finding, kind=finding.outcome)
    elif finding.level != "none":
        ET.SubElement(case, "system-out").text = xml_text(f"{finding.level}: {_text(finding)}")


def _child(case: ET.Element, tag: str, message: str, finding: Finding, kind: str = "") -> None:
    child = ET.SubElement(case, tag, {"message": _attribute(message), **({"type": kind} if kind else {})})
    child.text = xml_text(_text(finding))


def _text(finding: Finding) -> str:
    return "\n".join(_lines(finding))


def _lines(finding: Finding) -> Iterator[str]:
    yield one_line(finding.message)
    if finding.expression:
        yield f"required: {one_line(finding.expression)}"
        yield f"observed: {one_line(finding.observed)}"
    if finding.missing:
        yield f"needs: {', '.join(map(one_line, finding.missing))}"
    if finding.fix and finding.level != "none":
        yield f"fix: {one_line(finding.fix)}"
    if finding.place is not None:
        yield f"at: {_place(finding.place)}"


def _errors(errors: tuple[GateError, ...], options: Options) -> ET.Element:
    suite = ET.Element("testsuite", name="files that could not be judged")
    for error in errors:
        path = "" if error.place is None else options.repository_path(error.place.path)
        case = ET.SubElement(suite, "testcase", name="readable", classname=_attribute(path or "specrules"))
        child = ET.SubElement(case, "error", type="unreadable", message=_attribute(error.message))
        where = "" if error.place is None else f"{_place(error.place)}: "
        hint = f" ({error.hint})" if error.hint else ""
        child.text = xml_text(one_line(f"{where}{error.message}{hint}"))
    _count(suite)
    return suite


def _count(suite: ET.Element) -> None:
    cases = suite.findall("testcase")
    suite.set("tests", str(len(cases)))
    for key, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(key, str(sum(case.find(tag) is not None for case in cases)))


def _place(place: Place) -> str:
    return one_line(place_text(place.path, place.line, place.column))


def _attribute(text: str) -> str:
    return xml_text(one_line(text))
