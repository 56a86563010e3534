"""Which reader of which engine or bench tool a file is for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from specrules.errors import EvidenceError, Problem
from specrules.evidence.readers import json_document, prometheus, table
from specrules.evidence.readers.compiled import CompiledReader
from specrules.evidence.readers.compiling import compile_readers
from specrules.evidence.readers.json_document import Document
from specrules.evidence.readers.observed import Observed
from specrules.evidence.readers.race import Race
from specrules.evidence.readers.recognition import (
    Matches,
    Recognition,
    Sureness,
    eras_of,
    lines_by_engine,
    log_sureness,
)
from specrules.evidence.readers.shape import may_be_structured
from specrules.evidence.readers.stream import Stream, stream_of
from specrules.evidence.source import MAX_BYTES, Source, source_from_bytes
from specrules.model.program import Program


@dataclass(frozen=True, slots=True)
class Found:
    """A reader that knows a file, and what it found in each run in it. Most files hold one."""

    reader: CompiledReader
    runs: tuple[Observed, ...]

    @property
    def matched(self) -> int:
        """How many values were found."""
        return sum(run.matched for run in self.runs)

    @property
    def strength(self) -> tuple[int, int]:
        """How well the reader fits: values that were found, then how much the reader asks of a file."""
        return self.matched, len(self.reader.spec.requires)


@dataclass(frozen=True, slots=True)
class Recognised(Found):
    """The reader that a file is for, and how sure that is."""

    recognition: Recognition


class Candidate:
    """A file that readers are tried on. It is parsed as JSON once.

    `before` is an earlier dump of the same server, to be subtracted.
    """

    def __init__(self, file: Stream | Source, before: Source | None = None) -> None:
        self.stream = stream_of(file) if isinstance(file, Source) else file
        self.before = before
        self._source: Source | None = None
        self._document: Document | Problem | None = None

    def recognise(self, readers: Sequence[CompiledReader], stated: str | None = None) -> Recognised | None:
        """Return the one of some readers that the file is for, None where it is for none of them.

        Dumps, documents and tables come first, since a log reader may know single lines of them; of each program the
        first reader that knows the file counts. A program that is `stated` comes before all others. Works once for a
        large file. Raises EvidenceError.
        """
        if self.stream.is_whole or may_be_structured(self.stream.head_text(), readers):
            self._source = self._source or self.stream.source()
        found = self._structured(readers, stated) or self._log(readers, stated)
        if found is not None and self.before is not None and found.reader.spec.kind != "prometheus":
            message = f"this is a {found.reader.spec.title}: only metrics dumps can be subtracted from each other"
            raise EvidenceError(Problem(message, self.stream.at()))
        return found

    def refuse_document(self) -> None:
        """Raise EvidenceError for a file that was meant to be JSON and is none. Lines of logs begin with `[` too."""
        text = self.stream.head_text()
        if not text.lstrip().startswith(("{", "[{", "[\n", "[ ", "[\r")) and not self.stream.name.endswith(
            (".json", ".jsonl")
        ):
            return
        if self.stream.is_too_large:
            message = f"the file is larger than {MAX_BYTES >> 20} MiB, and only logs may be"
            raise EvidenceError(Problem(message, self.stream.at(), "cut it to the requests that count"))
        if self._document is None and self._source is None:
            # What is wrong stands in the head, or it would have looked like the beginning of a document.
            self._document = json_document.parse(Source(self.stream.name, text.rpartition("\n")[0] or text))
        if isinstance(self._document, Problem):
            raise EvidenceError(self._document)

    def _structured(self, readers: Sequence[CompiledReader], stated: str | None) -> Recognised | None:
        found: dict[str, Found] = {}
        for reader in readers:
            if reader.engine.id not in found:
                runs = self._observe(reader)
                if runs is not None:
                    found[reader.engine.id] = Found(reader, runs)
        if stated in found:
            found = {stated: found[stated]}
        if not found:
            return None
        ordered = sorted(found.values(), key=lambda item: item.strength, reverse=True)
        best = ordered[0]
        is_tie = len(ordered) > 1 and ordered[1].strength == best.strength
        sureness: Sureness = "ambiguous" if is_tie else "likely" if len(ordered) > 1 else "certain"
        matches = tuple(Matches(item.reader.engine.id, item.matched) for item in ordered)
        eras = eras_of(best.reader, best.runs[0])
        runs = best.runs
        if self.before is not None and self._source is not None and best.reader.spec.kind == "prometheus":
            observed = prometheus.observe(best.reader, self._source, self.before)
            runs = runs if observed is None else (observed,)
        is_stated = best.reader.engine.id == stated
        return Recognised(best.reader, runs, Recognition(sureness, is_stated, "values", matches, eras))

    def _observe(self, reader: CompiledReader) -> tuple[Observed, ...] | None:
        if self._source is None or reader.spec.kind == "log":
            return None
        if reader.spec.kind == "prometheus":
            observed = prometheus.observe(reader, self._source)
            return None if observed is None else (observed,)
        if reader.spec.kind == "table":
            return table.observe(reader, self._source)
        if self._document is None:
            self._document = json_document.parse(self._source)
        if isinstance(self._document, Problem):
            return None
        return json_document.observe(reader, self._source, self._document)

    def _log(self, readers: Sequence[CompiledReader], stated: str | None) -> Recognised | None:
        logs = [reader for reader in readers if reader.spec.kind == "log"]
        if not logs:
            return None
        race = Race(logs, self.stream.name)
        try:
            race.read(self.stream.blocks())
        except EvidenceError:
            # A cut document may well be one endless line, but that is not what is wrong with it.
            self.refuse_document()
            raise
        best = race.finish()
        if best is None:
            return None
        winner = best.reader.engine.id
        counts: Counter[str] = Counter()
        for engines, count in lines_by_engine(logs, race.shared).items():
            counts.update(dict.fromkeys(engines, count))
        others = tuple(Matches(name, count) for name, count in counts.most_common() if name != winner)
        is_stated = winner == stated
        recognition = Recognition(
            sureness="certain" if is_stated else log_sureness(winner, logs, race.shared),
            is_stated=is_stated,
            unit="lines",
            matches=(Matches(winner, counts[winner]), *others),
            eras=eras_of(best.reader, best.observed),
            compared_lines=race.compared_lines,
        )
        return Recognised(best.reader, (best.observed,), recognition)


def recognise(
    file: Stream | Source,
    engine: Program,
    others: Iterable[Program] = (),
    version: str | None = None,
    before: Source | None = None,
    *,
    benches: Iterable[Program] = (),
) -> Recognised:
    """Return the reader of an engine that a file is for, or else that of one of `benches`, with what it found.

    `before` is an earlier dump of the same server, to be subtracted. Raises EvidenceError where the engine has no such
    reader; the message names those of `others` that know the beginning of the file.
    """
    candidate = Candidate(file, before)
    readers = [reader for bench in benches for reader in compile_readers(bench)]
    found = candidate.recognise([*compile_readers(engine, version), *readers], stated=engine.id)
    if found is not None:
        return found
    stream = candidate.stream
    known_to = [
        f"{other.title} recognises it as its {seen.reader.spec.title}"
        for other in others
        if other.id != engine.id and (seen := _recognise_head(stream, compile_readers(other))) is not None
    ]
    if version is not None and (seen := _recognise_head(stream, compile_readers(engine))) is not None:
        known_to.insert(0, f"its reader for {seen.reader.spec.title} knows it, but not for version {version}")
    if not known_to:
        candidate.refuse_document()
    titles = ", ".join(reader.title for reader in engine.readers) or "nothing"
    message = f"nothing in this file is known from {engine.title}, which reads: {titles}"
    raise EvidenceError(Problem(message, stream.at(), "; ".join(known_to)))


def detect(file: Stream | Source, programs: Iterable[Program], before: Source | None = None) -> Recognised:
    """Return the reader that a file is for, among all programs: the one that recognises most of it, then the first.

    Raises EvidenceError where none recognises the file.
    """
    programs = list(programs)
    candidate = Candidate(file, before)
    found = candidate.recognise([reader for program in programs for reader in compile_readers(program)])
    if found is not None:
        return found
    candidate.refuse_document()
    names = ", ".join(program.title for program in programs) or "there is none"
    raise EvidenceError(Problem(f"nothing in this file is known from any engine ({names})", candidate.stream.at()))


def _recognise_head(stream: Stream, readers: Sequence[CompiledReader]) -> Recognised | None:
    """Return the reader that knows the beginning of a file, which may have been read to its end already."""
    return Candidate(source_from_bytes(stream.name, stream.head)).recognise(readers)
