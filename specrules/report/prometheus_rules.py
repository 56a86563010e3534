"""What to record and to watch as a file of rules for Prometheus."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from importlib.resources.abc import Traversable
from typing import Any

from specrules.model.alerting import Watch
from specrules.report.templates import render, template_environment
from specrules.version import __version__

TEMPLATE = "prometheus-rules.yml.j2"


def prometheus_rules(watch: Watch, layers: Sequence[Traversable], now: datetime) -> str:
    """Return the rules as YAML. CatalogError for a template of a user's layer that fails."""
    made = template_environment(layers, _quoted)
    made.filters["comment"] = _comment
    values = {"watch": watch, "version": __version__, "day": now.date().isoformat()}
    return render(made, TEMPLATE, values).rstrip("\n") + "\n"


class _Bare(str):
    """Text that is printed as it is."""

    __slots__ = ()


def _comment(text: str) -> _Bare:
    """Return a text for a comment: on one line, whatever it holds."""
    return _Bare(" ".join(str(text).split()))


def _quoted(value: Any) -> str:
    """Return a value as a JSON string, which is one of YAML too and stays on its line."""
    if isinstance(value, _Bare):
        return value
    return json.dumps(value if isinstance(value, str) else str(value), ensure_ascii=False)
