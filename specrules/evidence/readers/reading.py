"""Reading one evidence file: from its path to facts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from specrules.errors import EvidenceError, Location, Problem
from specrules.evidence.readers.compiled import CompiledReader
from specrules.evidence.readers.detect import Recognised, detect, recognise
from specrules.evidence.readers.facts import contradictions, notices, state_facts
from specrules.evidence.readers.observed import MAX_WARNINGS, Observed
from specrules.evidence.readers.recognition import Recognition
from specrules.evidence.readers.runs import Run, ambiguity, matching
from specrules.evidence.readers.stream import Advance, Stream, open_stream, stream_of
from specrules.evidence.source import STDIN, Source, read_source
from specrules.model.fact import Fact, Facts
from specrules.model.program import Program


@dataclass(frozen=True, slots=True)
class Reading:
    """What one file, or one of several runs in it, says.

    `facts` bear the name of the arm in front, unless they are facts of the case or no arm was given. `engine_id` names
    the engine or the bench tool whose reader knows the file. `unread` holds the first hundred of the `unread_lines`
    that look like evidence and have no known shape; `contradictions` what cannot all be true. `recognition` says why
    the file is taken for one of this engine, and of which era. `before` is the earlier dump that was subtracted; where
    nothing happened in between, `is_idle` holds and the arm has no facts. `run` holds the fields by which runs in one
    file are told apart.
    """

    path: str
    engine_id: str
    reader_id: str
    title: str
    facts: Facts
    recognition: Recognition
    warnings: tuple[Problem, ...] = ()
    unread: tuple[Problem, ...] = ()
    unread_lines: int = 0
    contradictions: tuple[Problem, ...] = ()
    before: str | None = None
    is_idle: bool = False
    run: Run = field(default_factory=dict)


def read_file(
    path: str,
    engine: Program,
    arm: str | None = None,
    *,
    others: Iterable[Program] = (),
    version: str | None = None,
    observed_at: datetime | None = None,
    before: str | None = None,
    advance: Advance | None = None,
    benches: Iterable[Program] = (),
    where: Run | None = None,
) -> Reading:
    """Return what a file of an engine says about one arm. `-` is standard input.

    A log is read in pieces and may have any length. `others` are engines to name where this one does not know the file,
    `benches` tools that may have printed it; `version` leaves out shapes that are known not to hold for it. `before` is
    an earlier dump of the same server: its counters are subtracted. `advance` is told how many more bytes were read.
    `where` chooses one of several runs. Raises EvidenceError for a file that cannot be read, is not one of this
    engine's, or holds several runs of which none or more than one is chosen; CatalogError for an engine whose readers
    are wrong.
    """
    return one_run(
        read_file_runs(
            path,
            engine,
            arm,
            others=others,
            version=version,
            observed_at=observed_at,
            before=before,
            advance=advance,
            benches=benches,
        ),
        where,
    )


def read_file_runs(
    path: str,
    engine: Program,
    arm: str | None = None,
    *,
    others: Iterable[Program] = (),
    version: str | None = None,
    observed_at: datetime | None = None,
    before: str | None = None,
    advance: Advance | None = None,
    benches: Iterable[Program] = (),
) -> tuple[Reading, ...]:
    """Return what each run in a file of an engine says. Takes and raises what `read_file` does."""
    earlier = _earlier(path, before)
    with open_stream(path, advance) as stream:
        found = recognise(stream, engine, others, version, earlier, benches=benches)
        return _readings(stream, found, arm, observed_at, before)


def read_text(
    source: Source,
    engine: Program,
    arm: str | None = None,
    *,
    others: Iterable[Program] = (),
    version: str | None = None,
    observed_at: datetime | None = None,
    before: Source | None = None,
    benches: Iterable[Program] = (),
    where: Run | None = None,
) -> Reading:
    """Return what the text of an engine's file says about one arm. Raises what `read_file` raises."""
    stream = stream_of(source)
    found = recognise(stream, engine, others, version, before, benches=benches)
    return one_run(_readings(stream, found, arm, observed_at, None if before is None else before.name), where)


def read_any(
    path: str,
    programs: Iterable[Program],
    arm: str | None = None,
    *,
    observed_at: datetime | None = None,
    before: str | None = None,
    advance: Advance | None = None,
    where: Run | None = None,
) -> Reading:
    """Return what a file says, whichever program printed it. Takes and raises what `read_file` does."""
    runs = read_any_runs(path, programs, arm, observed_at=observed_at, before=before, advance=advance)
    return one_run(runs, where)


def read_any_runs(
    path: str,
    programs: Iterable[Program],
    arm: str | None = None,
    *,
    observed_at: datetime | None = None,
    before: str | None = None,
    advance: Advance | None = None,
) -> tuple[Reading, ...]:
    """Return what each run in a file says, whichever program printed it. Takes and raises what `read_file` does."""
    earlier = _earlier(path, before)
    with open_stream(path, advance) as stream:
        return _readings(stream, detect(stream, programs, earlier), arm, observed_at, before)


def one_run(readings: Sequence[Reading], where: Run | None = None) -> Reading:
    """Return the one reading whose run is as `where` says. EvidenceError, which lists the runs, unless it is one."""
    runs = [reading.run for reading in readings]
    fitting = matching(runs, where or {})
    if len(fitting) != 1:
        raise EvidenceError(ambiguity(runs, where or {}, Location(readings[0].path)))
    return readings[fitting[0]]


def _earlier(path: str, before: str | None) -> Source | None:
    if before is None:
        return None
    if path == before == STDIN:
        raise EvidenceError("standard input cannot be both dumps: name a file for one of them")
    return read_source(before)


def _readings(
    stream: Stream, found: Recognised, arm: str | None, observed_at: datetime | None, before: str | None
) -> tuple[Reading, ...]:
    return tuple(
        reading_of(
            found.reader,
            run,
            found.recognition,
            stream.name,
            arm=arm,
            observed_at=observed_at,
            before=before,
            lost=stream.warnings,
        )
        for run in found.runs
    )


def reading_of(
    reader: CompiledReader,
    observed: Observed,
    recognition: Recognition,
    name: str,
    *,
    arm: str | None = None,
    observed_at: datetime | None = None,
    before: str | None = None,
    lost: Sequence[Problem] = (),
) -> Reading:
    """Return what a reader found as a reading. `name` is where it was found, `lost` what was lost on the way there."""
    stated = [_named(fact, arm, absolute) for fact, absolute in state_facts(observed, name, observed_at, before)]
    return Reading(
        path=name,
        engine_id=reader.engine.id,
        reader_id=reader.spec.id,
        title=reader.spec.title,
        facts=Facts({fact.name: fact for fact in stated}),
        recognition=recognition,
        warnings=_short(
            [*lost, *_thinned(observed, name), *observed.warnings, *notices(observed, name)], observed, name
        ),
        unread=tuple(observed.unread),
        unread_lines=observed.unread_lines,
        contradictions=tuple(contradictions(observed, name)),
        before=before,
        is_idle=observed.is_idle,
        run=observed.run,
    )


def _named(fact: Fact, arm: str | None, absolute: bool) -> Fact:
    """Put the arm in front of the name of a fact that belongs to one."""
    return fact if absolute or arm is None else fact.model_copy(update={"name": f"{arm}.{fact.name}"})


def _thinned(observed: Observed, name: str) -> list[Problem]:
    """Say that of very many requests not each one is kept."""
    samples = observed.samples
    if samples.step == 1:
        return []
    message = f"of {samples.requests} requests one in {samples.step} is kept as a sample; sums and means count all"
    return [Problem(message, Location(name))]


def _short(warnings: list[Problem], observed: Observed, name: str) -> tuple[Problem, ...]:
    more = len(warnings) - MAX_WARNINGS + observed.more_warnings
    if more <= 0:
        return tuple(warnings)
    return (*warnings[:MAX_WARNINGS], Problem(f"{more} more warnings like these", Location(name)))
