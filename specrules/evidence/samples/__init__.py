"""Samples of measured requests: one JSON line each, and the facts of their arms."""

from __future__ import annotations

from specrules.evidence.samples.lines import is_samples_file, read_lines, written
from specrules.evidence.samples.reading import read_samples, samples_reading

__all__ = ["is_samples_file", "read_lines", "read_samples", "samples_reading", "written"]
