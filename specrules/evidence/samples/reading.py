"""A samples file as evidence: the facts of its arms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from statistics import mode

from specrules.errors import EvidenceError, Location, Problem
from specrules.evidence.readers.reading import Reading
from specrules.evidence.readers.recognition import Matches, Recognition
from specrules.evidence.samples.facts import Arm, remarks
from specrules.evidence.samples.lines import arms_of, counted, read_lines
from specrules.evidence.samples.outputs import same_outputs
from specrules.evidence.samples.request import request_of
from specrules.evidence.source import read_source
from specrules.model.engine import Engine
from specrules.model.fact import Fact, Facts
from specrules.model.sample import Sample

READER = "samples"
TITLE = "samples of measured requests"
EngineOf = Callable[[str], Engine]


def read_samples(path: str, engine_of: EngineOf, arm: str | None = None, *, concurrency: int | None = None) -> Reading:
    """Return what a samples file says of one arm, or of all arms in it.

    Of several levels of concurrency the one that is asked for counts, else the lowest. Raises EvidenceError for a file
    that holds no samples of the arm or whose lines are none, CatalogError for engines that are not known.
    """
    samples, warnings = read_lines(read_source(path))
    reading = samples_reading(path, samples, engine_of, arm, concurrency=concurrency)
    return replace(reading, warnings=(*reading.warnings, *warnings))


def samples_reading(
    path: str,
    samples: Sequence[Sample],
    engine_of: EngineOf,
    arm: str | None = None,
    *,
    concurrency: int | None = None,
) -> Reading:
    """Return what samples say; `path` is the file that they are from, or will be written to."""
    every = tuple(samples)
    known = arms_of(every)
    wanted = known if arm is None else tuple(name for name in known if name == arm)
    if not wanted:
        where = f"the samples are of {' and '.join(known)}" if known else "the file holds no samples"
        hint = f"measure it as {arm}=URL" if arm is not None and known else ""
        raise EvidenceError(Problem(f"nothing was measured of {arm or 'any arm'}: {where}", Location(path), hint))
    level, notes = _level(every, wanted, concurrency)
    at_level = tuple(item for item in every if item.concurrency == level)
    facts: dict[str, Fact] = {}
    for name in wanted:
        measured = arm_of(path, at_level, name, engine_of)
        if measured.requests:
            facts |= {fact.name: fact for fact in measured.facts()}
        notes += [*_failed(at_level, name), *remarks(measured)]
    for fact, text in same_outputs(path, at_level, wanted if arm is None else known):
        if arm is None or fact.name.startswith(f"{arm}."):
            facts[fact.name] = fact
            notes.append(text)
    engine = mode(item.engine for item in every)
    return Reading(
        path=path,
        engine_id=engine,
        reader_id=READER,
        title=TITLE,
        facts=Facts(facts),
        recognition=Recognition("certain", is_stated=True, unit="values", matches=(Matches(engine, len(every)),)),
        warnings=tuple(Problem(text, Location(path)) for text in notes),
    )


def arm_of(path: str, samples: Sequence[Sample], name: str, engine_of: EngineOf) -> Arm:
    """Return the counted requests of one arm."""
    used = tuple(counted(tuple(samples), name))
    observed = max((item.started_at for item in used), default=None)
    requests = [request_of(item, engine_of(item.engine)) for item in used]
    return Arm(name, requests, path, observed)


def _failed(samples: tuple[Sample, ...], name: str) -> Iterator[str]:
    failed = [item for item in samples if item.arm == name and item.error]
    if failed:
        yield f"{name}: {len(failed)} requests failed, the last with: {failed[-1].error}"


def _level(samples: tuple[Sample, ...], arms: tuple[str, ...], wanted: int | None) -> tuple[int, list[str]]:
    """Return the concurrency that counts, and a note where others were measured too."""
    levels = sorted({item.concurrency for item in samples if item.arm in arms})
    level = wanted if wanted in levels and wanted is not None else levels[0]
    others = [str(item) for item in levels if item != level]
    notes = [f"samples at concurrency {', '.join(others)} are left out: these are at {level}"] if others else []
    if wanted is not None and wanted != level:
        notes.append(f"measured at concurrency {level}, and the workload has {wanted}")
    return level, notes
