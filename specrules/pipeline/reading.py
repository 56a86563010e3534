"""One file to its facts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from specrules.catalog.catalogue import Catalog
from specrules.model.engine import Engine

if TYPE_CHECKING:
    from specrules.evidence.readers.reading import Reading


def read(
    path: str,
    engine: str | None = None,
    *,
    catalog: Catalog | None = None,
    arm: str | None = None,
    before: str | None = None,
    advance: Callable[[int], None] | None = None,
) -> Reading:
    """Say what a log, metrics dump or response holds; `-` is standard input.

    Without an engine the one whose readers recognise most of the file is taken, and the reading says how sure that is.
    `before` is an earlier metrics dump of the same server, to be subtracted. `advance` is told how many more bytes were
    read. Raises EvidenceError for a file that cannot be read or in which nothing is recognised, CatalogError for an
    engine that does not exist.
    """
    from specrules.evidence.readers.reading import read_any, read_file
    from specrules.evidence.samples import is_samples_file, read_samples

    catalog = catalog or Catalog.load()
    if before is None and is_samples_file(path):
        known = catalog
        return read_samples(path, lambda name: known.engine(name).model, arm)
    if engine is None:
        models = [catalog.engine(name).model for name in catalog.engine_ids]
        return read_any(path, models, arm, before=before, advance=advance)
    model = catalog.engine(engine).model
    others = other_engines(catalog, model.id)
    return read_file(path, model, arm, others=others, before=before, advance=advance)


def size_of(path: str) -> int | None:
    """Return how many bytes a file holds, None where it cannot be told: for a pipe, or a file that cannot be opened."""
    from specrules.evidence.readers.stream import size_of as size

    return size(path)


def other_engines(catalog: Catalog, engine_id: str) -> Iterator[Engine]:
    """The engines beside this one, loaded when they are asked for: only a file that nobody knows asks."""
    return (catalog.engine(name).model for name in catalog.engine_ids if name != engine_id)
