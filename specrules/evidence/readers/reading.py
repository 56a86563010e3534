"""Reading one evidence file: from its path to facts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from specrules.errors import EvidenceError, Problem
from specrules.evidence.readers.detect import Recognised, detect, recognise
from specrules.evidence.readers.facts import contradictions, notices, state_facts
from specrules.evidence.readers.observed import MAX_WARNINGS, Observed
from specrules.evidence.readers.recognition import Recognition
from specrules.evidence.readers.stream import Advance, Stream, open_stream, stream_of
from specrules.evidence.source import STDIN, Source, read_source
from specrules.model.engine import Engine
from specrules.model.fact import Fact, Facts


@dataclass(frozen=True, slots=True)
class Reading:
    """What one file says.

    `facts` bear the name of the arm in front, unless they are facts of the case or no arm was given. `unread` holds the
    first hundred of the `unread_lines` that look like evidence and have no known shape; `contradictions` what cannot
    all be true. `recognition` says why the file is taken for one of this engine, and of which era. `before` is the
    earlier dump that was subtracted; where nothing happened in between, `is_idle` holds and the arm has no facts.
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


def read_file(
    path: str,
    engine: Engine,
    arm: str | None = None,
    *,
    others: Iterable[Engine] = (),
    version: str | None = None,
    observed_at: datetime | None = None,
    before: str | None = None,
    advance: Advance | None = None,
) -> Reading:
    """Return what a file of an engine says about one arm. `-` is standard input.

    A log is read in pieces and may have any length. `others` are engines to name where this one does not know the file;
    `version` leaves out shapes that are known not to hold for it. `before` is an earlier dump of the same server: its
    counters are subtracted. `advance` is told how many more bytes were read. Raises EvidenceError for a file that
    cannot be read or is not one of this engine's, CatalogError for an engine whose readers are wrong.
    """
    earlier = _earlier(path, before)
    with open_stream(path, advance) as stream:
        return _reading(stream, recognise(stream, engine, others, version, earlier), arm, observed_at, before)


def read_text(
    source: Source,
    engine: Engine,
    arm: str | None = None,
    *,
    others: Iterable[Engine] = (),
    version: str | None = None,
    observed_at: datetime | None = None,
    before: Source | None = None,
) -> Reading:
    """Return what the text of an engine's file says about one arm. Raises what `read_file` raises."""
    stream = stream_of(source)
    found = recognise(stream, engine, others, version, before)
    return _reading(stream, found, arm, observed_at, None if before is None else before.name)


def read_any(
    path: str,
    engines: Iterable[Engine],
    arm: str | None = None,
    *,
    observed_at: datetime | None = None,
    before: str | None = None,
    advance: Advance | None = None,
) -> Reading:
    """Return what a file says, whichever of the engines it is of. Takes and raises what `read_file` does."""
    earlier = _earlier(path, before)
    with open_stream(path, advance) as stream:
        return _reading(stream, detect(stream, engines, earlier), arm, observed_at, before)


def _earlier(path: str, before: str | None) -> Source | None:
    if before is None:
        return None
    if path == before == STDIN:
        raise EvidenceError("standard input cannot be both dumps: name a file for one of them")
    return read_source(before)


def _reading(
    stream: Stream, found: Recognised, arm: str | None, observed_at: datetime | None, before: str | None
) -> Reading:
    reader, observed = found.reader, found.observed
    stated = [_named(fact, arm, absolute) for fact, absolute in state_facts(observed, stream.name, observed_at, before)]
    return Reading(
        path=stream.name,
        engine_id=reader.engine.id,
        reader_id=reader.spec.id,
        title=reader.spec.title,
        facts=Facts({fact.name: fact for fact in stated}),
        recognition=found.recognition,
        warnings=_short(
            [*stream.warnings, *_thinned(observed, stream), *observed.warnings, *notices(observed, stream.name)],
            observed,
            stream,
        ),
        unread=tuple(observed.unread),
        unread_lines=observed.unread_lines,
        contradictions=tuple(contradictions(observed, stream.name)),
        before=before,
        is_idle=observed.is_idle,
    )


def _named(fact: Fact, arm: str | None, absolute: bool) -> Fact:
    """Put the arm in front of the name of a fact that belongs to one."""
    return fact if absolute or arm is None else fact.model_copy(update={"name": f"{arm}.{fact.name}"})


def _thinned(observed: Observed, stream: Stream) -> list[Problem]:
    """Say that of very many requests not each one is kept."""
    samples = observed.samples
    if samples.step == 1:
        return []
    message = f"of {samples.requests} requests one in {samples.step} is kept as a sample; sums and means count all"
    return [Problem(message, stream.at())]


def _short(warnings: list[Problem], observed: Observed, stream: Stream) -> tuple[Problem, ...]:
    more = len(warnings) - MAX_WARNINGS + observed.more_warnings
    if more <= 0:
        return tuple(warnings)
    return (*warnings[:MAX_WARNINGS], Problem(f"{more} more warnings like these", stream.at()))
