"""Read the published tables under tests/data/tables."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

TABLES = Path(__file__).parents[2] / "data" / "tables"


def rows(name: str) -> list[dict[str, Any]]:
    """The rows of one CSV file; numbers as floats, `.` and an empty cell as None, other text as it is."""
    (path,) = TABLES.glob(f"{name}_*.csv")
    with path.open(encoding="utf-8", newline="") as file:
        return [{key: _cell(text) for key, text in row.items()} for row in csv.DictReader(file)]


def golden() -> dict[str, Any]:
    document: dict[str, Any] = json.loads((TABLES / "golden_seed.json").read_text(encoding="utf-8"))
    return document


def _cell(text: str) -> float | str | None:
    if text in {"", "."}:
        return None
    try:
        return float(text)
    except ValueError:
        return text
