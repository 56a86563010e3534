"""Facts from a Prometheus server: what each deployment did over a range of time, by the readers of engine files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from specrules.errors import EvidenceError, Location, Problem, did_you_mean
from specrules.evidence.readers.compiled import CompiledReader
from specrules.evidence.readers.compiling import compile_readers
from specrules.evidence.readers.dump import Series
from specrules.evidence.readers.observed import Observed
from specrules.evidence.readers.prometheus import counters_of, observe_window
from specrules.evidence.readers.reading import Reading, reading_of
from specrules.evidence.readers.recognition import Matches, Recognition
from specrules.live.prometheus_api import PrometheusApi, Window
from specrules.live.prometheus_tracks import START, TARGET_LABELS, Labels, Track, Tracks, distribution
from specrules.model.engine import Engine
from specrules.model.fact import Fact, FactValue
from specrules.model.quantity import Provenance

DEPLOYMENT_LABELS = TARGET_LABELS
_SHOWN_NAMES = 6
Advance = Callable[[float], None]


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of a server: series, a range of time, and by which labels deployments are told apart."""

    selector: str
    window: Window
    by: tuple[str, ...] = DEPLOYMENT_LABELS

    @property
    def until(self) -> datetime:
        """The end of the range."""
        return datetime.fromtimestamp(self.window.end, UTC)

    def describe(self, place: str, labels: Labels) -> str:
        """Return where the facts of a deployment are from."""
        inside = ",".join(f'{name}="{value}"' for name, value in labels)
        hours = f"{(self.window.end - self.window.start) / 3600:g} h"
        return f"{place} {{{inside}}} over {hours} until {self.until:%Y-%m-%dT%H:%M:%SZ}"


def deployments(
    api: PrometheusApi, engines: Iterable[Engine], asked: Asked, arm: str | None = None, advance: Advance | None = None
) -> tuple[Reading, ...]:
    """Return what each deployment did in the range, one reading for each, with the labels that tell it as its run.

    Of several engines the one that knows most series of a deployment is taken. `advance` is told how many more seconds
    of the range were read. Raises LiveError for a server that gives no answer, EvidenceError where no series of the
    selector in the range is one that the engines know.
    """
    readers = [reader for engine in engines for reader in compile_readers(engine) if reader.spec.kind == "prometheus"]
    names = api.names(asked.selector, asked.window)
    wanted = {field.spec.metric for reader in readers for field in reader.fields.values() if field.spec.metric}
    known = [reader for reader in readers if names.issuperset(reader.spec.requires)]
    if not known:
        raise EvidenceError(_nothing(api.place, asked, readers, names))
    tracks = Tracks(asked.window)
    at = asked.window.start
    for piece in api.samples(asked.selector, (wanted & names) | ({START} & names), asked.window):
        tracks.take(piece)
        latest = max((series.samples[-1][0] for series in piece), default=at)
        if advance is not None:
            advance(max(0.0, latest - at))
        at = max(at, latest)
    types = api.types()
    found = [
        reading
        for labels, group in tracks.grouped(asked.by).items()
        if (reading := _reading(_Group(tracks, labels, group, types), known, asked, api.place, arm)) is not None
    ]
    if not found:
        raise EvidenceError(_nothing(api.place, asked, known, names))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Group:
    """The series of one deployment."""

    tracks: Tracks
    labels: Labels
    members: Sequence[Track]
    types: Mapping[str, str]

    def series(self, value: Callable[[Track], float]) -> dict[str, list[Series]]:
        """Return a value of each series, by metric."""
        found: dict[str, list[Series]] = {}
        for track in self.members:
            found.setdefault(track.metric, []).append(Series(track.metric, track.labels, value(track), 0))
        return found


def _reading(
    group: _Group, readers: Sequence[CompiledReader], asked: Asked, place: str, arm: str | None
) -> Reading | None:
    """Return what a deployment did, None where no reader knows its series."""
    name = asked.describe(place, group.labels)
    rose, means = group.series(group.tracks.increase), group.series(lambda track: track.mean)
    found: dict[str, tuple[CompiledReader, Observed]] = {}
    for reader in readers:
        if reader.engine.id not in found:
            observed = observe_window(reader, name, rose, means, group.types)
            if observed is not None:
                found[reader.engine.id] = (reader, observed)
    if not found:
        return None
    ordered = sorted(found.values(), key=lambda item: item[1].matched, reverse=True)
    reader, observed = ordered[0]
    observed.run = dict(group.labels)
    _warn(observed, reader, group, name)
    matches = tuple(Matches(other.engine.id, seen.matched) for other, seen in ordered)
    is_tie = len(ordered) > 1 and ordered[1][1].matched == observed.matched
    recognition = Recognition("ambiguous" if is_tie else "certain", len(readers) == 1, "values", matches)
    reading = reading_of(reader, observed, recognition, name, arm=arm, observed_at=asked.until)
    load = {} if observed.is_idle else _load(reader, group, asked, name, arm)
    return replace(reading, facts=reading.facts.extended(load))


def _warn(observed: Observed, reader: CompiledReader, group: _Group, name: str) -> None:
    at = Location(name)
    # Gauges fall whenever they like.
    counters = counters_of(reader, group.types)
    resets = max((track.resets for track in group.members if track.metric in counters), default=0)
    if resets:
        message = f"counters began again {resets} times: the server was restarted, and its lives were added up"
        observed.warn(Problem(message, at))
    if all(track.count == 1 for track in group.members):
        observed.warn(Problem("it was scraped only once in the range: how far counters rose is unknown", at))
    elif observed.is_idle:
        observed.warn(Problem("nothing was served in the range: whether the server drafts is unknown", at))


def _load(reader: CompiledReader, group: _Group, asked: Asked, name: str, arm: str | None) -> dict[str, Fact]:
    """Return how many sequences were served at once: the mean while any were, and the share of the time at each."""
    if reader.spec.load is None:
        return {}
    metric = reader.spec.fields[reader.spec.load].metric
    levels = distribution([track for track in group.members if track.metric == metric])
    busy = sum(share for level, share in levels.items() if level > 0)
    if not busy:
        return {}
    mean = sum(level * share for level, share in levels.items() if level > 0) / busy
    stated: dict[str, tuple[FactValue, str]] = {
        "mean_concurrency": (mean, "count"),
        "busy_share": (busy, "share"),
        "concurrency_levels": (tuple(levels), "count"),
        "concurrency_shares": (tuple(levels.values()), "share"),
    }
    source = Provenance(kind="from-file", source=f"{name} at {metric}", observed_at=asked.until)
    prefix = "" if arm is None else f"{arm}."
    facts = (
        Fact(name=f"{prefix}{key}", value=value, unit=unit, provenance=source) for key, (value, unit) in stated.items()
    )
    return {fact.name: fact for fact in facts}


def _nothing(place: str, asked: Asked, readers: Sequence[CompiledReader], names: frozenset[str]) -> Problem:
    """Return what is wrong where nothing was found: which metrics were looked for, and what there is instead."""
    required = list(dict.fromkeys(name for reader in readers for name in reader.spec.requires))
    hours = f"{(asked.window.end - asked.window.start) / 3600:g} h until {asked.until:%Y-%m-%dT%H:%M:%SZ}"
    looked = ", ".join(required) or "none"
    if not names:
        message = f"no series matches {asked.selector or '{}'} in the {hours}; looked for {looked}"
        return Problem(message, Location(place), "is the selector right, and was anything scraped then?")
    missing = [name for name in required if name not in names]
    near = next((hint for name in missing if (hint := did_you_mean(name, names))), "")
    there = ", ".join(sorted(names)[:_SHOWN_NAMES]) + (", .." if len(names) > _SHOWN_NAMES else "")
    message = (
        f"none of the {len(names)} metrics that match {asked.selector or '{}'} in the {hours} is looked for: "
        f"looked for {looked}; there are {there}"
    )
    return Problem(message, Location(place), near)
