"""Logs, metrics dumps and responses to facts, by the readers that an engine's file declares."""

from __future__ import annotations

from specrules.evidence.readers.examples import check_examples
from specrules.evidence.readers.reading import Reading, read_any, read_file, read_text
from specrules.evidence.readers.reconcile import agree, reconcile
from specrules.evidence.source import Source, read_source

__all__ = [
    "Reading",
    "Source",
    "agree",
    "check_examples",
    "read_any",
    "read_file",
    "read_source",
    "read_text",
    "reconcile",
]
