"""A server with the HTTP API of Prometheus: names, types and raw samples of series over a range of time."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from specrules.errors import EvidenceError, Problem
from specrules.live.http import LiveError, Server, TooLargeError, refusal

LONGEST_PIECE_S = 6 * 3600.0
SHORTEST_PIECE_S = 60.0
_MATCHERS = re.compile(r'\{(?:[^"{}]|"(?:[^"\\\n]|\\.)*")*\}')
_OK, _BAD_REQUEST, _NOT_FOUND, _UNPROCESSABLE = 200, 400, 404, 422


@dataclass(frozen=True, slots=True)
class Window:
    """A range of time, in seconds since 1970."""

    start: float
    end: float


@dataclass(frozen=True, slots=True)
class RawSeries:
    """The samples of a series in a piece of the range: times in seconds and values, by time."""

    labels: Mapping[str, str]
    samples: tuple[tuple[float, float], ...]

    @property
    def metric(self) -> str:
        """The name of the metric."""
        return self.labels.get("__name__", "")


class PrometheusApi:
    """What is asked of a Prometheus-compatible server.

    Every method raises LiveError for an answer that cannot be used, EvidenceError for a selector that is none.
    """

    def __init__(self, server: Server) -> None:
        self._server = server

    @property
    def place(self) -> str:
        """The address of the server as messages show it."""
        return self._server.place

    def names(self, selector: str, window: Window) -> frozenset[str]:
        """Return the names of the metrics that the selected series had in the range."""
        bounds = {"start": _time(window.start), "end": _time(window.end)}
        asked = {"match[]": self._selecting(matchers(selector), ()), **bounds}
        found = self._data("/api/v1/label/__name__/values", asked)
        return frozenset(name for name in _list(found) if isinstance(name, str))

    def types(self) -> dict[str, str]:
        """Return the types of metrics, none where the server does not know them: not every one keeps metadata."""
        try:
            found = self._data("/api/v1/metadata", {"limit_per_metric": "1"})
        except LiveError:
            return {}
        if not isinstance(found, dict):
            return {}
        said = {name: entries[0] for name, entries in found.items() if isinstance(entries, list) and entries}
        return {name: str(entry["type"]) for name, entry in said.items() if isinstance(entry, dict) and "type" in entry}

    def samples(self, selector: str, metrics: Iterable[str], window: Window) -> Iterator[list[RawSeries]]:
        """Yield the series of some metrics piece by piece of the range, in order of time.

        A piece is halved while its answer is larger than the limit. TooLargeError where a minute still is.
        """
        query = self._selecting(matchers(selector), sorted(metrics))
        at, step = window.start, LONGEST_PIECE_S
        while at < window.end:
            end = min(at + step, window.end)
            try:
                yield self._piece(query, at, end)
            except TooLargeError:
                if step <= SHORTEST_PIECE_S:
                    raise
                step = max(min(step, end - at) / 2, SHORTEST_PIECE_S)
                continue
            at = end

    def _piece(self, query: str, start: float, end: float) -> list[RawSeries]:
        length = max(1, math.ceil(end - start))
        found = self._data("/api/v1/query", {"query": f"{query}[{length}s]", "time": _time(end)})
        if not isinstance(found, dict) or found.get("resultType") != "matrix":
            raise LiveError("the answer holds no series over time", self.place)
        return [series for entry in _list(found.get("result")) if (series := _series(entry)) is not None]

    @staticmethod
    def _selecting(inside: str, metrics: Iterable[str]) -> str:
        names = "|".join(metrics)
        return f'{{__name__=~"{names}",{inside}}}' if names else f"{{{inside}}}"

    def _data(self, path: str, parameters: Mapping[str, str]) -> Any:
        answer = self._server.get(path, parameters)
        if answer.status == _NOT_FOUND:
            hint = "is this the address of a Prometheus server, with the path that is in front of /api/v1?"
            raise LiveError("404: there is no Prometheus API here", answer.place, hint, answer.status)
        if answer.status not in {_OK, _BAD_REQUEST, _UNPROCESSABLE}:
            raise refusal(answer)
        found = answer.json()
        if not isinstance(found, dict) or "status" not in found:
            raise LiveError("the answer is not that of a Prometheus API", answer.place, status=answer.status)
        if found["status"] != "success":
            reason = str(found.get("error", "no reason given"))[:300]
            raise LiveError(f"the query was refused: {reason}", answer.place, status=answer.status)
        return found.get("data")


def matchers(selector: str) -> str:
    """Return what stands between the braces of a selector; an empty one selects everything.

    EvidenceError for text that is no list of label matchers: a query would do something else than select.
    """
    text = selector.strip()
    whole = text if text.startswith("{") else f"{{{text}}}"
    if not _MATCHERS.fullmatch(whole):
        hint = """such as '{job="llm", instance=~"gpu.*"}'"""
        raise EvidenceError(Problem(f"{selector!r} is no selector: a list of label matchers in braces", hint=hint))
    inside = whole[1:-1].strip().rstrip(",")
    # A selector may not match everything that is there: one matcher has to ask for a label that is not empty.
    return inside or '__name__!=""'


def _series(entry: Any) -> RawSeries | None:
    """Return a series of an answer, None for one without finite samples. LiveError is not worth a broken entry."""
    if not isinstance(entry, dict) or not isinstance(entry.get("metric"), dict):
        return None
    labels = {str(name): str(value) for name, value in entry["metric"].items()}
    samples = []
    for pair in _list(entry.get("values")):
        try:
            at, value = float(pair[0]), float(pair[1])
        except (TypeError, ValueError, IndexError, KeyError):
            continue
        if math.isfinite(at) and math.isfinite(value):
            samples.append((at, value))
    return RawSeries(labels, tuple(samples)) if samples else None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _time(seconds: float) -> str:
    return f"{seconds:.3f}"
