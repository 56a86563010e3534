"""The formats of a triage report. Adding one is one entry here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.resources.abc import Traversable

from specrules.errors import Problem, UsageError, did_you_mean
from specrules.model.verdict import Verdict
from specrules.report.context import context
from specrules.report.json_writer import to_json
from specrules.report.ranking import ranking
from specrules.report.templates import markdown_environment, render_markdown

Writer = Callable[[Sequence[Verdict], Sequence[Traversable], bool], str]

_BETWEEN_CASES = "\n---\n\n"


def _markdown(verdicts: Sequence[Verdict], layers: Sequence[Traversable], template: str) -> str:
    made = markdown_environment(layers)
    parts = [render_markdown(made, template, context(verdict)) for verdict in verdicts]
    if len(verdicts) > 1:
        parts.append(render_markdown(made, "ranking.md.j2", {"rows": ranking(verdicts)}))
    return _BETWEEN_CASES.join(parts)


def _report(verdicts: Sequence[Verdict], layers: Sequence[Traversable], _several: bool) -> str:
    return _markdown(verdicts, layers, "report.md.j2")


def _summary(verdicts: Sequence[Verdict], layers: Sequence[Traversable], _several: bool) -> str:
    return _markdown(verdicts, layers, "summary.md.j2")


def _json(verdicts: Sequence[Verdict], _layers: Sequence[Traversable], several: bool) -> str:
    return to_json(verdicts, several=several)


FORMATS: dict[str, Writer] = {"md": _report, "json": _json, "summary": _summary}


def render(
    verdicts: Sequence[Verdict],
    format_name: str,
    template_layers: Sequence[Traversable],
    *,
    several: bool | None = None,
) -> str:
    """Return the verdicts as text in one of `FORMATS`.

    `template_layers` are folders with templates, the one that wins first and the built-in one last; a file replaces
    the file of the same name in later layers. Several cases end with a ranking by rate. `several` says whether more
    than one case was asked for, where not every one of them gave a verdict: JSON is then an array all the same.

    Raises UsageError for an unknown format and CatalogError for a template that is missing or fails.
    """
    writer = FORMATS.get(format_name)
    if writer is None:
        known = ", ".join(FORMATS)
        raise UsageError(
            Problem(f"unknown format {format_name!r}: use one of {known}", hint=did_you_mean(format_name, FORMATS))
        )
    return writer(verdicts, template_layers, len(verdicts) > 1 if several is None else several)
