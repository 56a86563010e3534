"""What a running server, a log, a metrics dump and a drafter's file say, gathered for a case to start from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from specrules.catalog.catalogue import Catalog
from specrules.errors import EvidenceError, Problem, UsageError
from specrules.model.engine import Engine
from specrules.model.fact import Facts
from specrules.pipeline.servers import Access, engines_of, opened

if TYPE_CHECKING:
    from specrules.evidence.gguf import Header
    from specrules.live.interview import Interview

MODEL_FILE = "engine.model_file"
GGUF = ".gguf"
INCUMBENT = "incumbent"
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What there is to learn from.

    `target` is the URL of the server that runs today; `drafter` a GGUF file, its URL, or the URL of a server that
    serves the drafter alone; `log` a file, `metrics` a file or a URL. `folder` is where the case will lie.
    """

    target: str | None = None
    drafter: str | None = None
    log: str | None = None
    metrics: str | None = None
    engine: str | None = None
    generates: bool = True
    folder: Path = Path()


@dataclass(frozen=True, slots=True)
class DrafterSeen:
    """What is known of a drafter: from its file's header, or from a server that serves it alone."""

    name: str
    kind: str
    file: str | None = None
    url: str | None = None


@dataclass(slots=True)
class Learned:
    """Everything that was learned. `evidence` are files and the earlier dumps, for the case to name."""

    engine: Engine
    version: str | None
    facts: Facts
    target: Interview | None = None
    url: str | None = None
    file: str | None = None
    header: Header | None = None
    kind: str | None = None
    drafter: DrafterSeen | None = None
    evidence: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


def learn(wanted: Wanted, *, now: datetime, access: Access, catalog: Catalog, say: Say = lambda _: None) -> Learned:
    """Ask and read everything that was named.

    Raises LiveError for servers, EvidenceError for files, CatalogError for an engine that does not exist, UsageError
    where there is nothing to learn from.
    """
    if not any((wanted.target, wanted.log, wanted.metrics)):
        hint = "name a server with --target URL, or a file with --log or --metrics"
        raise UsageError(Problem("nothing to learn from", hint=hint))
    learned = _from_server(wanted, now, access, catalog, say) if wanted.target else _from_files(wanted, catalog)
    _read_files(wanted, learned, now, access, catalog)
    _read_target(learned, catalog, say)
    if wanted.drafter is not None:
        learned.drafter = _drafter(wanted.drafter, wanted.engine, access, catalog, say)
    return learned


def _from_server(wanted: Wanted, now: datetime, access: Access, catalog: Catalog, say: Say) -> Learned:
    from specrules.live.interview import interview

    engines, stated = engines_of(catalog, wanted.engine)
    with opened(wanted.target or "", access) as server:
        found = interview(
            server, engines, INCUMBENT, stated=stated, generates=wanted.generates, observed_at=now, say=say
        )
    said = [f"{item.probe.id}: {item.means}" for item in found.probed if item.known is None or item.probe.shows]
    because = f" (known by its {' and '.join(found.because)})" if found.because else ""
    remarks = [f"{found.place} is {found.engine.title}{because}. It answered to", *(f"  {line}" for line in said)]
    return Learned(found.engine, found.version, found.facts, target=found, url=found.place, remarks=remarks)


def _from_files(wanted: Wanted, catalog: Catalog) -> Learned:
    """Tell the engine from the first file, where no server was named. EvidenceError where nothing knows it."""
    from specrules.pipeline.reading import read

    file = wanted.log or wanted.metrics or ""
    if wanted.engine is not None:
        return Learned(catalog.engine(wanted.engine).model, None, Facts())
    if file.startswith(("http://", "https://")):
        raise UsageError(Problem("the engine cannot be told from metrics alone", hint="say it with --engine"))
    return Learned(catalog.engine(read(file, catalog=catalog).engine_id).model, None, Facts())


def _read_files(wanted: Wanted, learned: Learned, now: datetime, access: Access, catalog: Catalog) -> None:
    """Read the log and the metrics. Files stay evidence of the case; metrics of a URL are read once, here."""
    from specrules.evidence.readers.reading import read_text
    from specrules.evidence.source import Source
    from specrules.live.http import refusal
    from specrules.pipeline.reading import read

    for file in (wanted.log, wanted.metrics):
        if file is None:
            continue
        if file.startswith(("http://", "https://")):
            address, _, path = file.partition("://")[2].partition("/")
            with opened(f"{file.partition('://')[0]}://{address}", access) as server:
                answer = server.get("/" + path)
            if answer.status != 200:
                raise refusal(answer)
            reading = read_text(Source(answer.place, answer.text), learned.engine, INCUMBENT, observed_at=now)
        else:
            reading = read(file, learned.engine.id, catalog=catalog, arm=INCUMBENT)
            learned.evidence.append(file)
        # A file that covers more than the probes do says more, and what is not known yet is taken from either.
        learned.facts = (
            reading.facts.extended(learned.facts) if file == wanted.log else learned.facts.extended(reading.facts)
        )


def _read_target(learned: Learned, catalog: Catalog, say: Say) -> None:
    """Read the header of the served file, where the server names one that lies on this machine."""
    named = learned.facts.value(MODEL_FILE)
    if not isinstance(named, str) or not named.endswith(GGUF) or not Path(named).is_file():
        return
    say(f"reading the header of {named}")
    from specrules.evidence.memory.kinds import target_kind

    header = _header(named)
    if header is not None:
        learned.file, learned.header, learned.kind = named, header, target_kind(header, catalog.memory)


def _header(file: str) -> Header | None:
    from specrules.evidence.gguf import load_model

    try:
        return load_model(file)
    except EvidenceError:
        return None


def _drafter(named: str, engine_id: str | None, access: Access, catalog: Catalog, say: Say) -> DrafterSeen:
    """Tell what a drafter is: a URL that ends in .gguf and every path is a file, another URL a server."""
    is_url = named.startswith(("http://", "https://"))
    if is_url and not named.partition("?")[0].endswith(GGUF):
        from specrules.live.interview import served_model
        from specrules.live.recognise import recognise

        engines, stated = engines_of(catalog, engine_id)
        with opened(named, access) as server:
            say(f"asking {server.place} what it is")
            engine = stated or recognise(server, engines).engine
            name = served_model(server, engine)
            return DrafterSeen(_short(name or "drafter"), "model", url=server.place)
    from specrules.evidence.gguf import load_model
    from specrules.evidence.memory.kinds import drafter_class, model_name

    header = load_model(named)
    return DrafterSeen(model_name(header) or _short(named), drafter_class(header, catalog.memory), file=named)


def _short(name: str) -> str:
    """Return the last part of a path that serves as a name."""
    return name.rstrip("/").rpartition("/")[2] or name
