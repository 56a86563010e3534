"""A gate run as Markdown: the summary page of a CI job, or a comment on a change."""

from __future__ import annotations

from specrules.model.finding import Finding, GateReport
from specrules.report.gate.counting import clean, mark, summary, told
from specrules.report.gate.options import Options
from specrules.report.gate.plain import place_text
from specrules.report.templates import markdown_environment, render_markdown

TEMPLATE = "gate.md.j2"


def to_markdown(report: GateReport, options: Options) -> str:
    """Return the run through the template `gate.md.j2`, which escapes whatever it prints."""
    made = markdown_environment(options.templates)
    made.filters.update(gate_mark=mark, told=told, clean=lambda subject: list(clean(subject)), at=_at)
    return render_markdown(made, TEMPLATE, {"report": report, "summary": summary(report)})


def _at(finding: Finding) -> str:
    return "" if finding.place is None else place_text(finding.place.path, finding.place.line, finding.place.column)
