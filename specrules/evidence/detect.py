"""Which reader of which engine a file is for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from specrules.errors import EvidenceError, Problem
from specrules.evidence import json_document, log, prometheus
from specrules.evidence.compiled import CompiledReader, compile_readers
from specrules.evidence.fields import Observed
from specrules.evidence.json_document import Document
from specrules.evidence.source import Source
from specrules.model.engine import Engine


@dataclass(frozen=True, slots=True)
class Recognised:
    """A reader that knows a file, and what it found in it."""

    reader: CompiledReader
    observed: Observed

    @property
    def strength(self) -> tuple[int, int]:
        """How sure this is: values that were found, then how much the reader asks of a file."""
        return self.observed.matched, len(self.reader.spec.requires)


class Candidate:
    """A file that readers are tried on. It is parsed as JSON once."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._parsed: Document | Problem | None = None

    @property
    def document(self) -> Document | Problem:
        """The file as JSON, or why it is none."""
        if self._parsed is None:
            self._parsed = json_document.parse(self.source)
        return self._parsed

    def observe(self, reader: CompiledReader) -> Observed | None:
        """Return what one reader finds, None where the file is not for it. Raises EvidenceError."""
        if reader.spec.kind == "log":
            return log.observe(reader, self.source)
        if reader.spec.kind == "prometheus":
            return prometheus.observe(reader, self.source)
        if isinstance(self.document, Problem):
            return None
        return json_document.observe(reader, self.source, self.document)

    def recognise(self, readers: Sequence[CompiledReader]) -> Recognised | None:
        """Return the reader that the file is for, None where it is for none of them.

        Dumps and documents come first, since a log reader may know single lines of them; of several log readers the
        one that knows most lines counts.
        """
        for reader in readers:
            if reader.spec.kind != "log":
                observed = self.observe(reader)
                if observed is not None:
                    return Recognised(reader, observed)
        best: Recognised | None = None
        for reader in readers:
            observed = self.observe(reader) if reader.spec.kind == "log" else None
            if observed is not None and (best is None or observed.matched > best.observed.matched):
                best = Recognised(reader, observed)
        return best


def recognise(source: Source, engine: Engine, others: Iterable[Engine] = (), version: str | None = None) -> Recognised:
    """Return the reader of an engine that a file is for, with what it found.

    Raises EvidenceError where the engine has none; the message names those of `others` that have one.
    """
    candidate = Candidate(source)
    found = candidate.recognise(compile_readers(engine, version))
    if found is not None:
        return found
    problem = _looks_like_json(candidate)
    known_to = [
        f"{other.title} recognises it as its {seen.reader.spec.title}"
        for other in others
        if other.id != engine.id and (seen := candidate.recognise(compile_readers(other))) is not None
    ]
    if version is not None and (seen := candidate.recognise(compile_readers(engine))) is not None:
        known_to.insert(0, f"its reader for {seen.reader.spec.title} knows it, but not for version {version}")
    if problem is not None and not known_to:
        raise EvidenceError(problem)
    titles = ", ".join(reader.title for reader in engine.readers) or "nothing"
    message = f"nothing in this file is known from {engine.title}, which reads: {titles}"
    raise EvidenceError(Problem(message, source.at(), "; ".join(known_to)))


def detect(source: Source, engines: Iterable[Engine]) -> Recognised:
    """Return the reader that a file is for, among all engines: the one that recognises most of it, then the first.

    Raises EvidenceError where no engine recognises the file.
    """
    candidate = Candidate(source)
    best: Recognised | None = None
    names = []
    for engine in engines:
        names.append(engine.title)
        found = candidate.recognise(compile_readers(engine))
        if found is not None and (best is None or found.strength > best.strength):
            best = found
    if best is not None:
        return best
    problem = _looks_like_json(candidate)
    message = f"nothing in this file is known from any engine ({', '.join(names) or 'there is none'})"
    raise EvidenceError(problem or Problem(message, source.at()))


def _looks_like_json(candidate: Candidate) -> Problem | None:
    """Return what is wrong with a file that was meant to be JSON. Lines of logs begin with `[` too."""
    text = candidate.source.text.lstrip()
    meant = text.startswith(("{", "[{", "[\n", "[ ", "[\r")) or candidate.source.name.endswith((".json", ".jsonl"))
    parsed = candidate.document
    return parsed if meant and isinstance(parsed, Problem) else None
