"""Recording and alerting rules for a Prometheus server, from a verdict's thresholds and an engine's metric map."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from specrules.catalog.case import LoadedCase
from specrules.catalog.catalogue import Catalog
from specrules.errors import EvidenceError, Problem, UsageError
from specrules.model.alerting import Alert, Record, Watch
from specrules.model.duration import seconds
from specrules.model.verdict import Verdict
from specrules.pipeline.sources import Sources
from specrules.pipeline.triage import triage
from specrules.templating import num

if TYPE_CHECKING:
    from specrules.evidence.readers.compiled import CompiledReader

TOKENS, ROUNDS = "specrules:tokens:rate", "specrules:rounds:rate"
PER_ROUND, ACCEPTED = "specrules:tokens_per_round:ratio", "specrules:accepted:ratio"
_RECORDED = {
    TOKENS: (("tokens",), "tokens generated per second"),
    ROUNDS: (("rounds", "drafted"), "rounds that drafted per second, or drafted tokens where rounds are not counted"),
    PER_ROUND: (("tokens_per_round",), "tokens committed per round, the bonus token included"),
    ACCEPTED: (("accepted_ratio",), "accepted over drafted tokens"),
    "specrules:drafted_per_round:ratio": (("mean_draft_length",), "tokens drafted per round"),
    "specrules:decode:rate": (("rate_tok_s",), "tokens per second and sequence while it decodes"),
}
"""Series by name: the facts of an engine's reader that give them, the first that can be queried, and what they are."""

_SEEN = '{{ $value | printf "%.2f" }}'
"""How an annotation shows the value that raised an alert."""


@dataclass(frozen=True, slots=True)
class Watching:
    """How a server shall be watched: over which window, how patiently, which series, told apart by which labels.

    `drop` is the share of the expected tokens per round whose loss is worth an alert.
    """

    window: str = "10m"
    patience: str = "30m"
    selector: str = "{}"
    by: Sequence[str] = ("job", "instance")
    drop: float = 0.1


def watch(
    loaded: LoadedCase,
    *,
    catalog: Catalog | None = None,
    watching: Watching | None = None,
    now: datetime,
    sources: Sources | None = None,
) -> Watch:
    """Return what to record and to watch once the candidate of a case is deployed.

    Raises what `triage` raises, UsageError for lengths of time that are none, EvidenceError for an engine without
    metrics and for a case whose break-even is not known or cannot be reached.
    """
    watching = watching or Watching()
    _check(watching)
    catalog = catalog or Catalog.load()
    verdict = triage(loaded, catalog=catalog, now=now, sources=sources)
    length = _draft_length(loaded, verdict)
    needed = _break_even(verdict, length)
    reader = _reader(loaded, catalog)
    # Prometheus takes labels for templates.
    name = " ".join((loaded.case.title or Path(loaded.path).stem).split()).replace("{{", "{ {")
    records = _records(reader, watching)
    recorded = {record.name for record in records}
    shown = _shown(recorded, length, needed, _expected(verdict, length))
    return Watch(
        case=name,
        engine=reader.engine.id,
        draft_length=length,
        title=f"{verdict.target}, drafted for by {verdict.drafter} on {verdict.engine}",
        patience=watching.patience,
        records=records,
        alerts=tuple(_alerts(recorded, name, shown, watching)),
        remarks=(f"The verdict: {verdict.sentence}", *_remarks(shown, watching)),
    )


def _check(watching: Watching) -> None:
    problems = []
    for option, text in (("--window", watching.window), ("--for", watching.patience)):
        try:
            seconds(text)
        except ValueError as error:
            problems.append(Problem(f"{option}: {error}"))
    if not 0 < watching.drop < 1:
        problems.append(Problem(f"--drop: {watching.drop:g} is no share between 0 and 1"))
    if problems:
        raise UsageError(problems)


def _draft_length(loaded: LoadedCase, verdict: Verdict) -> int:
    """The draft length that is deployed: as the case has it, else the best one of the verdict."""
    stated = loaded.case.engine.draft_length or (verdict.settings.draft_length if verdict.settings else None)
    best = next((point.draft_length for point in verdict.projection if point.is_best), None)
    if (length := stated or best) is None:
        raise EvidenceError(Problem("which draft length is deployed is not known", hint="state engine.draft_length"))
    return length


def _break_even(verdict: Verdict, length: int) -> float:
    """Tokens per round at which the candidate is as fast as what it replaced."""
    point = next((item for item in verdict.break_even if item.draft_length == length), None)
    needed = None if point is None else point.tokens_per_round
    if needed is None:
        round_ms = next((item.round_ms for item in verdict.projection if item.draft_length == length), None)
        rate = verdict.incumbent.rate_tok_s
        needed = None if round_ms is None or rate is None else rate * round_ms / 1000
    if needed is None:
        missing = ", ".join(point.missing) if point is not None and point.missing else "a round at this draft length"
        raise EvidenceError(Problem(f"the break-even at K = {length} is not known yet: it needs {missing}"))
    if needed > length + 1:
        message = f"at K = {length} no acceptance pays: {num(needed)} tokens per round are needed of {length + 1}"
        raise EvidenceError(Problem(message, hint="there is nothing to watch"))
    return needed


def _expected(verdict: Verdict, length: int) -> float | None:
    """Tokens per round that the verdict rests on."""
    return next((item.tokens_per_round for item in verdict.projection if item.draft_length == length), None)


def _reader(loaded: LoadedCase, catalog: Catalog) -> CompiledReader:
    from specrules.evidence.readers.compiling import compile_readers

    engine = catalog.engine(loaded.case.engine.id).model
    readers = compile_readers(engine, loaded.case.engine.version)
    found = next((reader for reader in readers if reader.spec.kind == "prometheus"), None)
    if found is None:
        raise EvidenceError(f"the file of {engine.title} knows no metrics for Prometheus")
    return found


def _records(reader: CompiledReader, watching: Watching) -> tuple[Record, ...]:
    found = []
    for name, (facts, doc) in _RECORDED.items():
        query = next((query for fact in facts if (query := _query_of(reader, fact, watching)) is not None), None)
        if query is not None:
            found.append(Record(name=name, query=query, doc=doc))
    load = None if reader.spec.load is None else reader.spec.fields[reader.spec.load].metric
    if load is not None:
        query = _gauge(load, watching)
        found.append(Record(name="specrules:concurrency:mean", query=query, doc="sequences that are served at once"))
    return tuple(found)


def _query_of(reader: CompiledReader, fact: str, watching: Watching) -> str | None:
    """The query of a fact: by the first rule that only reads counters, else by the first that reads gauges as well."""
    rules = [rule for rule in reader.rules if rule.spec.fact == fact]
    for series in (_series(reader, watching, gauges=False), _series(reader, watching, gauges=True)):
        found = next((query for rule in rules if (query := rule.value.promql(series)) is not None), None)
        if found is not None:
            return found
    return None


def _series(reader: CompiledReader, watching: Watching, *, gauges: bool) -> Callable[[str], str | None]:
    """Return how a field of a reader is queried: counters by their rate over the window, gauges by their mean."""

    def query(name: str) -> str | None:
        field = reader.spec.fields[name]
        if field.metric is None or field.type != "number":
            return None
        is_counter = field.kind == "counter" or (field.kind is None and field.combine == "sum")
        if is_counter:
            return f"sum by ({', '.join(watching.by)}) (rate({_selected(field.metric, watching)}[{watching.window}]))"
        return _gauge(field.metric, watching) if gauges and field.kind != "lifetime" else None

    return query


def _gauge(metric: str, watching: Watching) -> str:
    return f"avg by ({', '.join(watching.by)}) (avg_over_time({_selected(metric, watching)}[{watching.window}]))"


def _selected(metric: str, watching: Watching) -> str:
    from specrules.live.prometheus_api import matchers

    inside = "" if watching.selector.strip() in {"", "{}"} else matchers(watching.selector)
    return f"{metric}{{{inside}}}" if inside else metric


@dataclass(frozen=True, slots=True)
class _Gauge:
    """The recorded series that shows whether drafting pays: what it has to be, and what the verdict expects of it."""

    series: str
    unit: str
    needed: float
    expected: float | None


def _shown(recorded: set[str], length: int, needed: float, expected: float | None) -> _Gauge | None:
    """Tokens per round where they are recorded, else accepted over drafted tokens: r = (A - 1) / K."""
    if PER_ROUND in recorded:
        return _Gauge(PER_ROUND, "tokens per round", needed, expected)
    if ACCEPTED in recorded:
        ratio = None if expected is None else (expected - 1) / length
        return _Gauge(ACCEPTED, "of the drafted tokens accepted", (needed - 1) / length, ratio)
    return None


def _alerts(recorded: set[str], case: str, shown: _Gauge | None, watching: Watching) -> Iterator[Alert]:
    """The alerts that can be raised on what is recorded."""
    served, where = f"{_of(TOKENS, case)} > 0", " ".join(f"{{{{ $labels.{label} }}}}" for label in watching.by)
    if ROUNDS in recorded:
        yield Alert(
            name="SpeculationSilentlyOff",
            query=f"{served} unless {_of(ROUNDS, case)} > 0",
            summary=f"Silently not drafting on {where}",
            description=f"{_SEEN} tokens per second are generated, and none of them is drafted.",
        )
    if shown is None:
        return
    if shown.needed > 0:
        needed = num(shown.needed)
        yield Alert(
            name="SpeculationLosing",
            query=f"{_of(shown.series, case)} < {shown.needed:.6g} and {served}",
            summary=f"Speculation is losing on {where}",
            description=f"{_SEEN} {shown.unit}, and {needed} are needed to be as fast as what it replaced.",
        )
    least = _least(shown, watching)
    if least is not None:
        yield Alert(
            name="SpeculationAcceptanceFell",
            query=f"{_of(shown.series, case)} < {least:.6g} and {served}",
            summary=f"Acceptance fell on {where}",
            description=f"{_SEEN} {shown.unit}, and the verdict rests on {num(shown.expected)}.",
        )


def _least(shown: _Gauge, watching: Watching) -> float | None:
    """Below what acceptance has fallen; None where that is not known, or below the break-even already."""
    least = None if shown.expected is None else (1 - watching.drop) * shown.expected
    return least if least is not None and least > shown.needed else None


def _remarks(shown: _Gauge | None, watching: Watching) -> Iterator[str]:
    """What is said of alerts that there are none of."""
    if shown is None:
        yield "The engine's metrics do not show how many drafted tokens are accepted: whether it pays is not watched."
    elif shown.expected is None:
        yield "What acceptance to expect is not known: whether it falls is not watched."
    elif _least(shown, watching) is None:
        expected = f"the expected {num(shown.expected)} {shown.unit}"
        yield f"With {watching.drop:.0%} less than {expected} it is losing already."
    if shown is not None and shown.needed <= 0:
        yield "Every acceptance pays: whether it is losing is not watched."
    if shown is not None and shown.series == ACCEPTED:
        yield "Rounds are not counted: the thresholds hold where every round drafts as many tokens."


def _of(series: str, case: str) -> str:
    return f"{series}{{case={json.dumps(case, ensure_ascii=False)}}}"
