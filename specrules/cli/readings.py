"""Readings as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from specrules.evidence.readers.reading import Reading
    from specrules.evidence.readers.recognition import Recognition
    from specrules.model.fact import Fact


def text_of(readings: Sequence[Reading]) -> str:
    """One block for each run, with what tells it from the others."""
    from specrules.evidence.readers.runs import differing, shown

    names = differing([reading.run for reading in readings])
    runs = [shown({name: reading.run[name] for name in names if name in reading.run}) for reading in readings]
    return "\n".join(_text(reading, run) for reading, run in zip(readings, runs, strict=True))


def _text(reading: Reading, run: str) -> str:
    rows = [(fact.name, _spread(fact), fact.unit, fact.provenance.source) for fact in reading.facts.values()]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(3)]
    since = "" if reading.before is None else f" since {reading.before}"
    lines = [
        f"{reading.path}{since}: {reading.title} of {reading.engine_id} (reader {reading.reader_id})",
        f"  {reading.recognition.describe()}",
        *(f"  era: {era}" for era in reading.recognition.eras),
        *([f"  run: {run}"] if run else []),
    ]
    for row in rows:
        cells = "  ".join(cell.ljust(width) for cell, width in zip(row[:3], widths, strict=True))
        lines.append(f"  {cells}  {row[3]}")
    return "\n".join(lines)


def json_of(readings: Sequence[Reading]) -> str:
    """One object for one run, an array of them for several."""
    data = [_data(reading) for reading in readings]
    return json.dumps(data[0] if len(data) == 1 else data, indent=2, ensure_ascii=False)


def _data(reading: Reading) -> dict[str, Any]:
    return {
        "schema": 1,
        "path": reading.path,
        "before": reading.before,
        "engine": reading.engine_id,
        "reader": reading.reader_id,
        "recognition": _recognition(reading.recognition),
        "run": dict(reading.run),
        "idle": reading.is_idle,
        "facts": [fact.model_dump(mode="json") for fact in reading.facts.values()],
        "warnings": [problem.render() for problem in reading.warnings],
        "contradictions": [problem.render() for problem in reading.contradictions],
        "unread_lines": reading.unread_lines,
    }


def _recognition(recognition: Recognition) -> dict[str, Any]:
    return {
        "sureness": recognition.sureness,
        "stated": recognition.is_stated,
        "matches": [{"engine": item.engine_id, recognition.unit: item.count} for item in recognition.matches],
        "compared_lines": recognition.compared_lines,
        "eras": list(recognition.eras),
    }


def _spread(fact: Fact) -> str:
    text = _value(fact.value)
    return text if fact.low is None or fact.high is None else f"{text} ({fact.low:.6g} to {fact.high:.6g})"


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.6g}"
    return ", ".join(f"{item:.4g}" for item in value) if isinstance(value, tuple) else str(value)
