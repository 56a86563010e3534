"""Samples of a series over a range of time, taken in piece by piece: how far it rose, what it was on average."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from specrules.live.prometheus_api import RawSeries, Window

START = "process_start_time_seconds"
MAX_LEVELS = 4096
TARGET_LABELS = ("job", "instance")
"""The labels that tell one scraped server from another."""

Labels = tuple[tuple[str, str], ...]


@dataclass(slots=True)
class Track:
    """One series. `rose` is the sum of its rises, a fall being a restart from zero, after which all counts again.

    `levels` counts the samples by value, up to 4096 different ones.
    """

    metric: str
    labels: Labels
    first_at: float = math.nan
    first: float = math.nan
    last_at: float = -math.inf
    last: float = math.nan
    rose: float = 0.0
    resets: int = 0
    total: float = 0.0
    count: int = 0
    levels: Counter[float] = field(default_factory=Counter)

    def take(self, samples: Iterable[tuple[float, float]]) -> None:
        """Take in samples by time. Those at a time that was seen already are those of the piece before."""
        for at, value in samples:
            if at <= self.last_at:
                continue
            if not self.count:
                self.first_at, self.first = at, value
            elif value < self.last:
                self.resets += 1
                self.rose += value
            else:
                self.rose += value - self.last
            self.last_at, self.last = at, value
            self.total += value
            self.count += 1
            if value in self.levels or len(self.levels) < MAX_LEVELS:
                self.levels[value] += 1

    @property
    def mean(self) -> float:
        """The mean of the samples."""
        return self.total / self.count

    @property
    def target(self) -> Labels:
        """The scraped server that the series is of."""
        return tuple((name, value) for name, value in self.labels if name in TARGET_LABELS)


class Tracks:
    """All series of a range."""

    def __init__(self, window: Window) -> None:
        self._window = window
        self._tracks: dict[tuple[str, Labels], Track] = {}
        # When each server was first seen, infinitely early where it says that it started in the range.
        self._seen: dict[Labels, float] = {}

    def take(self, pieces: Iterable[RawSeries]) -> None:
        """Take in the series of a piece of the range, later ones after earlier ones."""
        for series in pieces:
            labels = tuple(sorted((name, value) for name, value in series.labels.items() if name != "__name__"))
            key = (series.metric, labels)
            if key not in self._tracks:
                self._tracks[key] = Track(series.metric, labels)
            self._tracks[key].take(series.samples)
        self._seen.clear()

    def grouped(self, by: Iterable[str]) -> dict[Labels, list[Track]]:
        """Return the series by the values of some labels, in their order."""
        wanted = tuple(by)
        groups: dict[Labels, list[Track]] = {}
        for track in self._tracks.values():
            own = dict(track.labels)
            groups.setdefault(tuple((name, own[name]) for name in wanted if name in own), []).append(track)
        return dict(sorted(groups.items()))

    def increase(self, track: Track) -> float:
        """How far a counter rose in the range.

        What it stood at when it was first seen counts too where it was born in the range: where other series of its
        server were there before it, or where the server says that it started in the range.
        """
        return track.rose + (track.first if self._is_born(track) else 0.0)

    def _is_born(self, track: Track) -> bool:
        if not self._seen:
            for other in self._tracks.values():
                started = other.metric == START and other.first >= self._window.start
                first = -math.inf if started else other.first_at
                self._seen[other.target] = min(first, self._seen.get(other.target, math.inf))
        return track.first_at > self._seen[track.target]


def distribution(tracks: Iterable[Track]) -> Mapping[float, float]:
    """Return the share of the samples of some series at each level, by rising level."""
    levels: Counter[float] = Counter()
    for track in tracks:
        levels.update(track.levels)
    whole = sum(levels.values())
    return {level: levels[level] / whole for level in sorted(levels)}
