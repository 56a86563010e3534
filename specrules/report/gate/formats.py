"""The formats of a gate run. Adding one is one entry here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module

from specrules.errors import Problem, UsageError, did_you_mean
from specrules.model.finding import GateReport
from specrules.report.gate.options import Options

Writer = Callable[[GateReport, Options], str]

FORMATS: Mapping[str, str] = {
    "text": "text:to_text",
    "json": "json_writer:to_json",
    "sarif": "sarif:to_sarif",
    "junit": "junit:to_junit",
    "github": "github:to_github",
    "gitlab": "gitlab:to_gitlab",
    "md": "markdown:to_markdown",
}
"""Every format with its writer, as module and function of this package. Modules load when they write."""


def known_format(name: str) -> None:
    """Raise UsageError for a format that does not exist."""
    if name not in FORMATS:
        hint = did_you_mean(name, FORMATS)
        raise UsageError(Problem(f"unknown format {name!r}: use one of {', '.join(FORMATS)}", hint=hint))


def render_gate(report: GateReport, format_name: str, options: Options | None = None) -> str:
    """Return a run as text in one of `FORMATS`. UsageError for another, CatalogError for a template that fails."""
    known_format(format_name)
    module, _, function = FORMATS[format_name].partition(":")
    writer: Writer = getattr(import_module(f"{__package__}.{module}"), function)
    return writer(report, options or Options())
