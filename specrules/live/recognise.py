"""Which engine a server is: the probes of every engine file, each path asked once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from specrules.live.failures import LiveError, ServerGoneError
from specrules.live.failures import refused as refused_as
from specrules.live.http import Answer, Server
from specrules.live.probes import known_answer, placeholders
from specrules.model.engine import Engine


@dataclass(frozen=True, slots=True)
class Recognised:
    """The engine of a server, the probes whose answers say so, and every answer by its path."""

    engine: Engine
    because: tuple[str, ...]
    answers: dict[str, Answer] = field(default_factory=dict)


def paths_to_ask(engines: Iterable[Engine]) -> tuple[str, ...]:
    """Return the paths of all probes that generate nothing and need nothing filled in, those of most engines first."""
    counts: dict[str, int] = {}
    for engine in engines:
        for path in {probe.path for probe in engine.probes if probe.method == "GET" and not placeholders(probe)}:
            counts[path] = counts.get(path, 0) + 1
    return tuple(sorted(counts, key=lambda path: (-counts[path], path)))


def recognise(server: Server, engines: Iterable[Engine]) -> Recognised:
    """Ask a server what it is. LiveError where it is not there, is no known engine, or could be several."""
    candidates = tuple(engines)
    answers = _answers(server, paths_to_ask(candidates))
    found = {engine.id: _hits(engine, answers) for engine in candidates}
    most = max((len(hits) for hits in found.values()), default=0)
    best = [engine for engine in candidates if most and len(found[engine.id]) == most]
    if len(best) == 1:
        return Recognised(best[0], found[best[0].id], answers)
    refused = sorted({answer.status for answer in answers.values()} & {401, 403})
    if refused:
        raise refused_as(refused[0], server.place)
    if best:
        names = " or ".join(engine.id for engine in best)
        raise LiveError(f"the server could be {names}", server.place, "say which with --engine")
    said = ", ".join(f"{path} {answer.status}" for path, answer in sorted(answers.items())[:6])
    message = f"no known engine answers like this server ({said})"
    raise LiveError(message, server.place, "say which it is with --engine, or check the address")


def _answers(server: Server, paths: Iterable[str]) -> dict[str, Answer]:
    """Ask each path. A single answer may break; where none comes, the first failure is that of the server."""
    answers: dict[str, Answer] = {}
    failures: list[LiveError] = []
    for path in paths:
        try:
            answers[path] = server.get(path)
        except LiveError as error:
            failures.append(error)
            if isinstance(error, ServerGoneError) and not answers:
                break
    if not answers and failures:
        raise failures[0]
    return answers


def _hits(engine: Engine, answers: dict[str, Answer]) -> tuple[str, ...]:
    hits = []
    for probe in engine.probes:
        answer = answers.get(probe.path) if probe.method == "GET" else None
        known = None if answer is None else known_answer(probe, answer.status, answer.text)
        if known is not None and known.identifies:
            hits.append(probe.id)
    return tuple(hits)
