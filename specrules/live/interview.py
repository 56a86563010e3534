"""Asking a server what it is, what it offers and whether it drafts, with the probes of its engine's file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from specrules.errors import EvidenceError
from specrules.evidence.readers.json_document import values
from specrules.evidence.readers.reading import read_text
from specrules.evidence.source import Source
from specrules.live.failures import LiveError
from specrules.live.http import Answer, Server
from specrules.live.probes import Probed, ask, can_be_asked
from specrules.live.recognise import Recognised, paths_to_ask, recognise
from specrules.model.engine import Engine, Probe
from specrules.model.fact import Fact, Facts

BUILD = "engine.build"
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Interview:
    """What a server said. `facts` bear the arm in front; `model` is the name that it serves under."""

    place: str
    engine: Engine
    because: tuple[str, ...]
    probed: tuple[Probed, ...]
    facts: Facts
    model: str | None
    version: str | None


def interview(
    server: Server,
    engines: Iterable[Engine],
    arm: str,
    *,
    stated: Engine | None = None,
    generates: bool = True,
    observed_at: datetime | None = None,
    say: Say = lambda _: None,
) -> Interview:
    """Ask a server with every probe of its engine; without `stated` the engine is recognised first.

    Probes that make it generate are left out unless `generates`. `say` is told what will be asked before it is. Raises
    LiveError where the server is not there or is not recognised.
    """
    known = tuple(engines)
    if stated is None:
        say(f"asking {server.place} what it is: {len(paths_to_ask(known))} short GET requests")
        found = recognise(server, known)
    else:
        say(f"asking {server.place}, said to be {stated.title}")
        found = Recognised(stated, (), {})
    engine = found.engine
    model = served_model(server, engine, found.answers)
    words = {} if model is None else {"target": model}
    version = _version(_facts(engine, found.answers.items(), server.place, arm, observed_at), engine)
    wanted = [
        probe
        for probe in engine.probes
        if (generates or not probe.generates) and can_be_asked(probe, words, version, engine)
    ]
    costly = [probe for probe in wanted if probe.generates]
    if costly:
        say(f"  and with {len(costly)} small requests that generate: {', '.join(probe.id for probe in costly)}")
    probed = tuple(_asked(server, probe, words, found.answers) for probe in wanted)
    answers = [
        (item.probe.path, item.answer)
        for item in sorted(probed, key=lambda item: item.probe.generates)
        if item.answer is not None
    ]
    facts = _facts(
        engine,
        answers,
        server.place,
        arm,
        observed_at,
        single=[item.probe.path for item in probed if item.probe.generates],
    )
    return Interview(server.place, engine, found.because, probed, facts, model, _version(facts, engine) or version)


def _asked(server: Server, probe: Probe, words: dict[str, str], earlier: dict[str, Answer]) -> Probed:
    """Send one probe. Once a server has answered at all, one that brings nothing is noted and not the end."""
    try:
        return ask(server, probe, words, earlier)
    except LiveError as error:
        if not earlier:
            raise
        return Probed(probe, None, None, error.problems[0].message)


def served_model(server: Server, engine: Engine, earlier: dict[str, Answer] | None = None) -> str | None:
    """Return the first name that a server lists, None where it lists none or does not say."""
    serving = engine.serving
    if serving is None or serving.models is None:
        return None
    try:
        answer = (earlier or {}).get(serving.models) or server.get(serving.models)
        listed = answer.json() if answer.status == 200 else None
    except LiveError:
        return None
    names = [found for _, found in values(listed, serving.model_id) if isinstance(found, str) and found]
    return names[0] if names else None


def _facts(
    engine: Engine,
    answers: Iterable[tuple[str, Answer]],
    place: str,
    arm: str,
    observed_at: datetime | None,
    *,
    single: Iterable[str] = (),
) -> Facts:
    """Read each answer with the engine's readers; the first that knows a fact counts.

    Of one request that a probe made only what is no number counts: a rate over a few tokens says nothing.
    """
    facts: dict[str, Fact] = {}
    alone = frozenset(single)
    for path, answer in answers:
        if answer.status != 200:
            continue
        with suppress(EvidenceError):
            reading = read_text(Source(place + path, answer.text), engine, arm, observed_at=observed_at)
            for name, fact in reading.facts.items():
                is_number = isinstance(fact.value, float | tuple) and not isinstance(fact.value, bool)
                if path not in alone or not is_number:
                    facts.setdefault(name, fact)
    return Facts(facts)


def _version(facts: Facts, engine: Engine) -> str | None:
    build = facts.value(BUILD)
    if not isinstance(build, str):
        return None
    return f"b{build}" if engine.version.scheme == "build" and build.isdigit() else build
