"""One file to its facts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from specrules.catalog.catalogue import Catalog
from specrules.model.engine import Engine

if TYPE_CHECKING:
    from specrules.evidence.reading import Reading


def read(path: str, engine: str | None = None, *, catalog: Catalog | None = None, arm: str | None = None) -> Reading:
    """Say what a log, metrics dump or response holds; `-` is standard input.

    Without an engine the one whose readers recognise most of the file is taken. Raises EvidenceError for a file that
    cannot be read or in which nothing is recognised, CatalogError for an engine that does not exist.
    """
    from specrules.evidence.reading import read_any, read_file

    catalog = catalog or Catalog.load()
    if engine is None:
        return read_any(path, [catalog.engine(name).model for name in catalog.engine_ids], arm)
    model = catalog.engine(engine).model
    return read_file(path, model, arm, others=other_engines(catalog, model.id))


def other_engines(catalog: Catalog, engine_id: str) -> Iterator[Engine]:
    """The engines beside this one, loaded when they are asked for: only a file that nobody knows asks."""
    return (catalog.engine(name).model for name in catalog.engine_ids if name != engine_id)
