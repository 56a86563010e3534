"""A memory fit as Markdown and as the published JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from importlib.resources.abc import Traversable

from specrules.errors import Problem, UsageError, did_you_mean
from specrules.model.fit import Fit, FitState, Span
from specrules.report.templates import markdown_environment, render_markdown
from specrules.templating import UNKNOWN

GIB = 1 << 30

TITLES: Mapping[FitState, str] = {
    "fits": "fits",
    "no-headroom": "no headroom",
    "does-not-fit": "does not fit",
    "unknown": "unknown",
}
KINDS: Mapping[str, str] = {
    "weights": "weights",
    "cache": "rows per token",
    "states": "recurrent states",
    "snapshots": "snapshots of the target's states",
    "compute": "buffers of a pass",
    "runtime": "context and libraries",
}


def gib(size: float | None) -> str:
    """Return bytes as GiB with 2 decimals, 3 below 0.1: `15.17 GiB`, `0.044 GiB`, `? GiB` for None."""
    if size is None:
        return f"{UNKNOWN} GiB"
    number = size / GIB
    return f"{number:.{2 if abs(number) >= 0.1 or not size else 3}f} GiB"


def span(size: Span) -> str:
    """Return a size as one number where both ends look alike, else as `1.20 to 1.45 GiB`."""
    low, high = gib(size.low), gib(size.high)
    return low if low == high else f"{low.removesuffix(' GiB')} to {high}"


def _markdown(fit: Fit, layers: Sequence[Traversable]) -> str:
    made = markdown_environment(layers)
    made.filters.update(gib=gib, span=span)
    return render_markdown(made, "fit.md.j2", {"fit": fit, "titles": TITLES, "kinds": KINDS})


def _json(fit: Fit, _layers: Sequence[Traversable]) -> str:
    return json.dumps(fit.model_dump(mode="json", by_alias=True), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


FORMATS: Mapping[str, Callable[[Fit, Sequence[Traversable]], str]] = {"md": _markdown, "json": _json}


def render_fit(fit: Fit, format_name: str, template_layers: Sequence[Traversable]) -> str:
    """Return a fit as text in one of `FORMATS`. UsageError for another, CatalogError for a template that fails."""
    writer = FORMATS.get(format_name)
    if writer is None:
        hint = did_you_mean(format_name, FORMATS)
        raise UsageError(Problem(f"unknown format {format_name!r}: use one of {', '.join(FORMATS)}", hint=hint))
    return writer(fit, template_layers)
