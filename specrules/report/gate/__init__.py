"""A gate run in the formats that CI tools read, one small writer each."""

from specrules.report.gate.formats import FORMATS, render_gate
from specrules.report.gate.options import Options

__all__ = ["FORMATS", "Options", "render_gate"]
