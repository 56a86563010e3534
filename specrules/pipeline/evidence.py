"""The evidence files of a case: read through the engine's readers and held against what the case states."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from specrules.catalog.case import LoadedCase
from specrules.catalog.catalogue import Catalog
from specrules.catalog.digest import FileDigest
from specrules.derive.stated import stated_facts
from specrules.derive.values import EvidenceState
from specrules.errors import CatalogError, EvidenceError, Problem, UserError
from specrules.model.case import EvidenceFile, PrometheusRange
from specrules.model.engine import Engine
from specrules.model.fact import Facts
from specrules.model.program import Bench
from specrules.pipeline.reading import other_engines

if TYPE_CHECKING:
    from specrules.evidence.readers.reading import Reading

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Gathered:
    """The facts of a case, and what gathering them turned up."""

    facts: Facts
    state: EvidenceState
    warnings: tuple[str, ...]
    digests: tuple[FileDigest, ...]


@dataclass(frozen=True, slots=True)
class Asking:
    """Whether servers may be asked, and at what time: a range of time without an end ends then."""

    web: bool = False
    now: datetime | None = None


def gather(
    loaded: LoadedCase, catalog: Catalog, progress: Progress | None = None, asking: Asking | None = None
) -> Gathered:
    """Read every evidence file and reconcile it with the stated facts.

    Files of an evidence folder that cannot be read are left out with a warning: a measurement may have been cut short.

    EvidenceError with the problems of all files: a missing file, a file of another engine, one in which nothing is
    recognised.
    """
    if not loaded.case.evidence:
        return Gathered(Facts(stated_facts(loaded.case, loaded.place)), EvidenceState(), (), ())
    from specrules.evidence.readers.reconcile import reconcile
    from specrules.evidence.readers.windows import widest_windows

    readings: list[Reading] = []
    problems: list[Problem] = []
    left_out: list[Problem] = []
    arms: list[str] = []
    digests: list[FileDigest] = []
    own = catalog.engine(loaded.case.engine.id).model.id
    for index, item in enumerate(loaded.case.evidence):
        if progress is not None:
            progress(f"reading {item.path}" if item.prometheus is None else "asking a Prometheus server")
        try:
            engine = _engine_of(item, index, loaded, catalog)
            if "-" in {item.path, item.before}:
                raise EvidenceError("standard input cannot be the evidence of a case: name a file")
            if item.prometheus is not None:
                found = _range(item, item.prometheus, engine, catalog, asking or Asking())
                reading = _run_of(found, item, loaded)
                digests.append(_digest_of(index, reading))
            else:
                reading = _reading(item, loaded, engine, own, catalog)
                digests += [
                    _digest(index, loaded.folder / name) for name in (item.path, item.before) if name is not None
                ]
            readings.append(reading)
            arms.append(item.arm)
        except UserError as error:
            complaints = [_at_case(problem, loaded, index) for problem in error.problems]
            if index in loaded.found:
                left_out += complaints
            else:
                problems += complaints
            continue
    if problems:
        raise EvidenceError(problems)
    comparable, notes = widest_windows(list(zip(arms, readings, strict=True)))
    facts, disagreements = reconcile(stated_facts(loaded.case, loaded.place), comparable)
    state = EvidenceState(
        disagreements=disagreements,
        contradictions=tuple(problem.render() for reading in readings for problem in reading.contradictions),
        unread_lines=sum(reading.unread_lines for reading in readings),
    )
    warned = [problem for reading in readings for problem in reading.warnings]
    warnings = tuple(problem.render() for problem in (*warned, *notes, *left_out))
    return Gathered(facts, state, warnings, tuple(digests))


def _reading(item: EvidenceFile, loaded: LoadedCase, engine: Engine | Bench, own: str, catalog: Catalog) -> Reading:
    """Read one evidence file: samples of measured requests, or what a server printed."""
    from specrules.evidence.readers.reading import read_file_runs
    from specrules.evidence.samples.lines import is_samples_file

    path = str(loaded.folder / item.path)
    if is_samples_file(path):
        if item.before is not None:
            raise EvidenceError("samples are no metrics dump: nothing can be subtracted from them")
        from specrules.evidence.samples.reading import read_samples

        concurrency = loaded.case.workload.concurrency
        return read_samples(path, lambda name: catalog.engine(name).model, item.arm, concurrency=concurrency)
    runs = read_file_runs(
        path,
        engine,
        item.arm,
        others=other_engines(catalog, engine.id),
        version=loaded.case.engine.version if engine.id == own else None,
        observed_at=item.observed_at,
        before=None if item.before is None else str(loaded.folder / item.before),
        benches=catalog.benches,
    )
    return _run_of(runs, item, loaded)


def _range(
    item: EvidenceFile, wanted: PrometheusRange, engine: Engine | Bench, catalog: Catalog, asking: Asking
) -> tuple[Reading, ...]:
    """Ask a Prometheus server, and return what each deployment did. EvidenceError where that is not allowed.

    A token from the environment is not sent: it is for a server that the user names, not for one that a case names.
    """
    from specrules.pipeline.prometheus import Range, read_range
    from specrules.pipeline.servers import Access

    if not asking.web:
        message = "this is a Prometheus server, and nothing is asked unless --fetch says so"
        raise EvidenceError(Problem(message, hint="say --fetch"))
    return read_range(
        Range(wanted.url, wanted.range, wanted.selector, wanted.until, wanted.by),
        engine.id,
        catalog=catalog,
        arm=item.arm,
        access=Access(token_variable=""),
        now=asking.now,
    )


def _run_of(runs: tuple[Reading, ...], item: EvidenceFile, loaded: LoadedCase) -> Reading:
    """The run in a file that counts: the one that the case names, else the only one at the workload's concurrency.

    EvidenceError, which lists the runs, where that is not one.
    """
    from specrules.evidence.readers.reading import one_run
    from specrules.evidence.readers.runs import matching

    fitting = [runs[index] for index in matching([run.run for run in runs], item.where)]
    wanted = loaded.case.workload.concurrency
    if len(fitting) > 1 and wanted is not None:
        at_load = [run for run in fitting if run.facts.number(f"{item.arm}.concurrency") == wanted]
        if len(at_load) == 1:
            return at_load[0]
    try:
        return one_run(runs, item.where)
    except EvidenceError as error:
        where = "under 'where' of this evidence"
        raise EvidenceError(
            replace(problem, hint=f"{problem.hint}, {where}" if problem.hint else "") for problem in error.problems
        ) from None


def _digest(index: int, path: Path) -> FileDigest:
    """The digest of an evidence file, which may be larger than memory."""
    with path.open("rb") as file:
        return FileDigest(f"{index}:{path.name}", hashlib.file_digest(file, "sha256").hexdigest())


def _digest_of(index: int, reading: Reading) -> FileDigest:
    """The digest of what a server said."""
    said = "\n".join(fact.model_dump_json() for fact in reading.facts.values())
    return FileDigest(f"{index}:prometheus", hashlib.sha256(said.encode()).hexdigest())


def _engine_of(item: EvidenceFile, index: int, loaded: LoadedCase, catalog: Catalog) -> Engine | Bench:
    """The engine or bench tool that an evidence file is of. CatalogError where the case names it and there is none."""
    if item.engine is None:
        return catalog.engine(loaded.case.engine.id).model
    try:
        return catalog.program(item.engine).model
    except CatalogError as error:
        here = loaded.location(("evidence", index, "engine"))
        raise CatalogError(replace(problem, where=problem.where or here) for problem in error.problems) from None


def _at_case(problem: Problem, loaded: LoadedCase, index: int) -> Problem:
    """A problem without a place of its own stands where the case names the file."""
    if problem.where is not None:
        return problem
    return replace(problem, where=loaded.location(("evidence", index, "path")))
