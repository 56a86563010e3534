"""Verdicts as text: Markdown, JSON and a short summary."""

from specrules.report.formats import FORMATS, render
from specrules.report.json_writer import to_json

__all__ = ["FORMATS", "render", "to_json"]
