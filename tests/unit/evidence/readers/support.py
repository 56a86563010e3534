"""Engines for tests: the shipped ones, and small ones with readers of their own."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from specrules.catalog.catalogue import Catalog
from specrules.evidence.readers.reading import Reading, read_text
from specrules.evidence.source import source_from_bytes
from specrules.model.engine import Engine
from specrules.model.fact import FactValue

RECORDINGS = Path(__file__).parents[3] / "data" / "recordings"
RUNS = RECORDINGS / "llama.cpp-b11434"
PAIR = RECORDINGS / "llama.cpp-b11434-pair"


@cache
def shipped(name: str = "llama.cpp") -> Engine:
    return Catalog.load(environ={}, cwd=Path(__file__).parent).engine(name).model


def engine(*readers: dict[str, Any], name: str = "toy") -> Engine:
    return Engine.model_validate(
        {
            "schema": 1,
            "id": name,
            "title": name.title(),
            "description": "",
            "sources": [{"id": "seen", "by": "run", "title": "here", "on": "2026-11-29"}],
            "version": {"scheme": "build", "facts_from": "b1", "how_to_find": "ask"},
            "methods": [],
            "devices": {"draft_routing": {"possible": False, "effect": "none", "known": "seen"}},
            "readers": [{"known": "seen", "title": reader["id"], **reader} for reader in readers],
        }
    )


def log_reader(fields: dict[str, Any], facts: list[Any], patterns: list[Any], **more: Any) -> dict[str, Any]:
    """Patterns may be plain expressions; examples are filled in where a test is not about them."""
    shapes = [{"pattern": item} if isinstance(item, str) else item for item in patterns]
    return {
        "id": "log",
        "kind": "log",
        "fields": fields,
        "facts": facts,
        "patterns": [
            {"id": f"p{index}", "examples": [{"line": "x", "fields": {}, "source": "made up"}], **shape}
            for index, shape in enumerate(shapes)
        ],
        **more,
    }


def read(text: str | bytes, of: Engine, name: str = "file") -> Reading:
    data = text if isinstance(text, bytes) else text.encode()
    return read_text(source_from_bytes(name, data), of)


def values(reading: Reading) -> dict[str, FactValue]:
    return {name: fact.value for name, fact in reading.facts.items()}
