"""One file to its facts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from specrules.catalog.catalogue import Catalog
from specrules.errors import EvidenceError, Location
from specrules.model.engine import Engine
from specrules.model.fact import FactValue
from specrules.model.program import Bench

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
    where: Mapping[str, FactValue] | None = None,
) -> Reading:
    """Say what a log, metrics dump, response or bench output holds; `-` is standard input.

    Without an engine or a bench tool the one whose readers recognise most of the file is taken, and the reading says
    how sure that is. `before` is an earlier metrics dump of the same server, to be subtracted. `advance` is told how
    many more bytes were read. `where` chooses one of several runs in a file. Raises EvidenceError for a file that
    cannot be read, in which nothing is recognised, or with several runs of which not one is chosen; CatalogError for an
    engine that does not exist.
    """
    from specrules.evidence.readers.reading import one_run

    return one_run(read_runs(path, engine, catalog=catalog, arm=arm, before=before, advance=advance), where)


def read_runs(
    path: str,
    engine: str | None = None,
    *,
    catalog: Catalog | None = None,
    arm: str | None = None,
    before: str | None = None,
    advance: Callable[[int], None] | None = None,
) -> tuple[Reading, ...]:
    """Say what each run in a file holds: a bench writes many into one. Takes and raises what `read` does."""
    from specrules.evidence.readers.reading import read_any_runs, read_file_runs
    from specrules.evidence.samples.lines import is_samples_file

    catalog = catalog or Catalog.load()
    if before is None and is_samples_file(path):
        from specrules.evidence.samples.reading import read_samples

        known = catalog
        return (read_samples(path, lambda name: known.engine(name).model, arm),)
    if engine is None:
        models = [*(catalog.engine(name).model for name in catalog.engine_ids), *catalog.benches]
        return read_any_runs(path, models, arm, before=before, advance=advance)
    model = catalog.program(engine).model
    return read_file_runs(path, model, arm, others=other_programs(catalog, model.id), before=before, advance=advance)


def runs_where(readings: tuple[Reading, ...], where: Mapping[str, FactValue]) -> tuple[Reading, ...]:
    """The runs that are as `where` says. EvidenceError, which lists all, where none is."""
    from specrules.evidence.readers.runs import ambiguity, matching

    runs = [reading.run for reading in readings]
    found = matching(runs, where)
    if not found:
        raise EvidenceError(ambiguity(runs, where, Location(readings[0].path)))
    return tuple(readings[index] for index in found)


def size_of(path: str) -> int | None:
    """Return how many bytes a file holds, None where it cannot be told: for a pipe, or a file that cannot be opened."""
    from specrules.evidence.readers.stream import size_of as size

    return size(path)


def other_engines(catalog: Catalog, engine_id: str) -> Iterator[Engine]:
    """The engines beside this one, loaded when they are asked for: only a file that nobody knows asks."""
    return (catalog.engine(name).model for name in catalog.engine_ids if name != engine_id)


def other_programs(catalog: Catalog, program_id: str) -> Iterator[Engine | Bench]:
    """The engines and bench tools beside this one, loaded when they are asked for."""
    names = (*catalog.engine_ids, *catalog.bench_ids)
    return (catalog.program(name).model for name in names if name != program_id)
