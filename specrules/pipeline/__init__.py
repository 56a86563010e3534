"""The public functions that join the parts: a case to a verdict, a file to facts."""

from __future__ import annotations

from specrules.pipeline.reading import read
from specrules.pipeline.triage import triage

__all__ = ["read", "triage"]
