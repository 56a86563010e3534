"""Verdicts as text: Markdown, JSON and a short summary. Names load when they are first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from specrules.report.formats import FORMATS, render
    from specrules.report.json_writer import to_json

__all__ = ["FORMATS", "render", "to_json"]

_HOMES = {"FORMATS": "formats", "render": "formats", "to_json": "json_writer"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
