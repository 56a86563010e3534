"""A server's counters around a request: only the series that the readers of its engine know."""

from __future__ import annotations

import time

from specrules.live.failures import LiveError, refused
from specrules.live.http import Server
from specrules.model.engine import Engine

_STARTS = ("process_start_time_seconds",)
_TRIES = 4
_PAUSE_S = 0.05


class Counters:
    """The counters of one server, cut to what its engine's readers ask for."""

    def __init__(self, server: Server, engine: Engine) -> None:
        self._server = server
        self._path = engine.serving.metrics if engine.serving is not None else None
        self._names = known_metrics(engine)

    def why_not(self, advice: str) -> str | None:
        """Ask once; return in one line why there are no counters to be had, None where there are."""
        if self._path is None:
            return "the engine's file names no metrics: counts come from the responses alone"
        try:
            answer = self._server.get(self._path)
        except LiveError as error:
            return error.problems[0].render()
        if answer.status != 200:
            problem = refused(answer.status, answer.place, sent_credentials=answer.sent_credentials).problems[0]
            return f"{problem.where}: {problem.message}" + (f" (no metrics: {advice})" if advice else " (no metrics)")
        return None if trimmed(answer.text, self._names) else f"{answer.place}: no series that the engine's file knows"

    def read(self, unlike: str = "") -> str:
        """Return the counters as text; an empty one where they cannot be had.

        Some servers count a request a moment after its answer: while the text is `unlike`, it is read again.
        """
        if self._path is None:
            return ""
        text = ""
        for _ in range(_TRIES):
            try:
                answer = self._server.get(self._path)
            except LiveError:
                return ""
            text = trimmed(answer.text, self._names) if answer.status == 200 else ""
            if not unlike or text != unlike:
                return text
            time.sleep(_PAUSE_S)
        return text


def known_metrics(engine: Engine) -> frozenset[str]:
    """Return the metrics that the Prometheus readers of an engine ask for."""
    names = {name for reader in engine.readers if reader.kind == "prometheus" for name in reader.requires}
    fields = (field for reader in engine.readers if reader.kind == "prometheus" for field in reader.fields.values())
    return frozenset(names | {field.metric for field in fields if field.metric} | set(_STARTS))


def trimmed(text: str, names: frozenset[str]) -> str:
    """Return the lines of a dump that are series of these metrics, or say their type."""
    kept = []
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            name = line.split(" ")[2] if line.count(" ") > 2 else ""
        else:
            name = line.partition("{")[0].partition(" ")[0]
        if name in names and not line.startswith("# HELP"):
            kept.append(line)
    return "\n".join(kept) + "\n" if any(not line.startswith("#") for line in kept) else ""
