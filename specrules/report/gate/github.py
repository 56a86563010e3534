"""A gate run as workflow commands of GitHub: annotations at the places of the findings, the worst first.

GitHub shows ten errors, ten warnings and ten notices of a step. A run without findings says so in one notice.
"""

from __future__ import annotations

from collections.abc import Iterator

from specrules.model.deployment import Place
from specrules.model.finding import GateReport, Level
from specrules.report.gate.counting import all_told, counts, summary
from specrules.report.gate.options import Options
from specrules.report.gate.plain import one_line

_COMMANDS: dict[Level, str] = {"error": "error", "warning": "warning", "note": "notice"}


def to_github(report: GateReport, options: Options) -> str:
    """Return one workflow command per line. Waived findings are left to the summary."""
    return "\n".join(_lines(report, options)) + "\n"


def _lines(report: GateReport, options: Options) -> Iterator[str]:
    for error in report.errors:
        hint = f" ({error.hint})" if error.hint else ""
        yield _command("error", error.place, "cannot be judged", error.message + hint, options)
    for _, finding in all_told(report):
        if finding.waiver is None:
            fix = f" {finding.fix}" if finding.fix else ""
            yield _command(_COMMANDS[finding.level], finding.place, finding.rule, finding.message + fix, options)
    for notice in report.waivers:
        if notice.state in {"expired", "too-long", "inputs-changed"}:
            text = f"Waiver of {notice.owner} for {notice.rule} until {notice.expires}: {notice.reason}"
            yield _command("warning", notice.place, f"waiver {notice.state}", text, options)
    if counts(report).is_clean:
        yield _command("notice", None, "specrules", f"Policy {report.policy}: {summary(report)}.", options)


def _command(name: str, place: Place | None, title: str, text: str, options: Options) -> str:
    properties = [] if place is None else list(_place(place, options))
    properties.append(("title", title))
    shown = ",".join(f"{key}={_property(value)}" for key, value in properties)
    return f"::{name} {shown}::{_data(text)}"


def _place(place: Place, options: Options) -> Iterator[tuple[str, str]]:
    """A file as the repository has it, and where in it; columns only where the place lies on one line."""
    yield "file", options.repository_path(place.path)
    if not place.line:
        return
    yield "line", str(place.line)
    if place.end_line is not None and place.end_line != place.line:
        yield "endLine", str(place.end_line)
    elif place.column:
        yield "col", str(place.column)


def _data(text: str) -> str:
    return one_line(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
