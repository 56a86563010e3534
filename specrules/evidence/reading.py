"""Reading one evidence file: from its path to facts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from specrules.errors import Problem
from specrules.evidence.detect import Recognised, detect, recognise
from specrules.evidence.facts import contradictions, state_facts
from specrules.evidence.source import Source, read_source
from specrules.model.engine import Engine
from specrules.model.fact import Fact, Facts

_MAX_WARNINGS = 20


@dataclass(frozen=True, slots=True)
class Reading:
    """What one file says.

    `facts` bear the name of the arm in front, unless they are facts of the case or no arm was given. `unread` holds the
    first hundred of the `unread_lines` that look like evidence and have no known shape; `contradictions` what cannot
    all be true.
    """

    path: str
    engine_id: str
    reader_id: str
    title: str
    facts: Facts
    warnings: tuple[Problem, ...] = ()
    unread: tuple[Problem, ...] = ()
    unread_lines: int = 0
    contradictions: tuple[Problem, ...] = ()


def read_file(
    path: str,
    engine: Engine,
    arm: str | None = None,
    *,
    others: Iterable[Engine] = (),
    version: str | None = None,
    observed_at: datetime | None = None,
) -> Reading:
    """Return what a file of an engine says about one arm. `-` is standard input.

    `others` are engines to name where this one does not know the file; `version` leaves out shapes that are known not
    to hold for it. Raises EvidenceError for a file that cannot be read or is not one of this engine's, CatalogError for
    an engine whose readers are wrong.
    """
    return read_text(read_source(path), engine, arm, others=others, version=version, observed_at=observed_at)


def read_text(
    source: Source,
    engine: Engine,
    arm: str | None = None,
    *,
    others: Iterable[Engine] = (),
    version: str | None = None,
    observed_at: datetime | None = None,
) -> Reading:
    """Return what the text of an engine's file says about one arm. Raises what `read_file` raises."""
    return _reading(source, recognise(source, engine, others, version), arm, observed_at)


def read_any(
    path: str, engines: Iterable[Engine], arm: str | None = None, *, observed_at: datetime | None = None
) -> Reading:
    """Return what a file says, whichever of the engines it is of. Raises what `read_file` raises."""
    source = read_source(path)
    return _reading(source, detect(source, engines), arm, observed_at)


def _reading(source: Source, found: Recognised, arm: str | None, observed_at: datetime | None) -> Reading:
    reader, observed = found.reader, found.observed
    stated = [_named(fact, arm, absolute) for fact, absolute in state_facts(reader, observed, source, observed_at)]
    return Reading(
        path=source.name,
        engine_id=reader.engine.id,
        reader_id=reader.spec.id,
        title=reader.spec.title,
        facts=Facts({fact.name: fact for fact in stated}),
        warnings=_short([*source.warnings, *observed.warnings], source),
        unread=tuple(observed.unread),
        unread_lines=observed.unread_lines,
        contradictions=tuple(contradictions(reader, observed, source)),
    )


def _named(fact: Fact, arm: str | None, absolute: bool) -> Fact:
    """Put the arm in front of the name of a fact that belongs to one."""
    return fact if absolute or arm is None else fact.model_copy(update={"name": f"{arm}.{fact.name}"})


def _short(warnings: list[Problem], source: Source) -> tuple[Problem, ...]:
    if len(warnings) <= _MAX_WARNINGS:
        return tuple(warnings)
    rest = len(warnings) - _MAX_WARNINGS
    return (*warnings[:_MAX_WARNINGS], Problem(f"{rest} more warnings like these", source.at()))
