"""How the engine does on public measurements that it has not seen.

    python benchmarks/casebook.py FILE [--json] [--rows] [--jobs N]

FILE is a casebook: a YAML list of rows of the shape of benchmarks/data/casebook.yaml. Each row is judged by the
shipped engine in two tasks: `before` from what was known before deploying, `after_one_run` with one speculative run of
the same pair at another depth. Rows whose source the shipped priors were fitted on are judged with priors fitted again
without that source. Beside the engine stands `ceiling`, the formula round = D + 1.1 t1 on the same rows.
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

from casebook_cases import NEUTRAL_ENGINE, after, before, groups_of, loaded, runs_for
from casebook_rows import Row, Skipped, read_rows
from casebook_scores import Judged, ceiling, scores, table
from fit_priors import CASEBOOK, fitted
from prior_models import usable

from specrules.catalog.catalogue import Catalog
from specrules.catalog.loaded import Loaded
from specrules.errors import SpecrulesError
from specrules.model.prior import PriorFile
from specrules.model.verdict import Verdict
from specrules.pipeline.triage import triage

TASKS = ("before", "after_one_run")
NOW = datetime(2026, 11, 29, tzinfo=UTC)


@dataclass(frozen=True)
class Answer:
    """What the engine says of a row in each task that it can be judged in, or why it cannot."""

    row: Row
    tasks: Mapping[str, Judged]
    problem: str = ""


@lru_cache(maxsize=1)
def shipped() -> Catalog:
    """The shipped catalogue, whatever folders of their own the reader has."""
    return Catalog.load(cwd=Path(os.devnull).parent, environ={})


@lru_cache(maxsize=1)
def fitting_rows() -> tuple[Row, ...]:
    """The rows that the shipped priors were fitted on."""
    return tuple(item.row for item in usable(read_rows(CASEBOOK)[0]))


def catalogue_without(source: str) -> Catalog:
    """The shipped catalogue; with priors fitted without a source where they were fitted on it."""
    left = [row for row in fitting_rows() if row.source != source]
    if len(left) == len(fitting_rows()):
        return shipped()
    priors = fitted(left)
    catalogue = copy.copy(shipped())
    models = tuple(
        Loaded(priors, item.document) if isinstance(item.model, PriorFile) else item for item in shipped().rule_models
    )
    catalogue.__dict__["rule_models"] = models
    return catalogue


def judged_rows(rows: Sequence[Row], jobs: int) -> list[Answer]:
    """Judge every row, those of one source together."""
    by_source: dict[str, list[Row]] = {}
    for row in rows:
        by_source.setdefault(row.source, []).append(row)
    groups = sorted(by_source.values(), key=len, reverse=True)
    if jobs == 1:
        found = [answer for group in groups for answer in judged_source(group)]
    else:
        with ProcessPoolExecutor(jobs) as pool:
            found = [answer for answers in pool.map(judged_source, groups) for answer in answers]
    order = {row.id: number for number, row in enumerate(rows)}
    return sorted(found, key=lambda answer: order[answer.row.id])


def judged_source(rows: Sequence[Row]) -> list[Answer]:
    """Judge the rows of one source with priors that have not seen it."""
    catalogue = catalogue_without(rows[0].source)
    return [_answer(row, rows, catalogue) for row in rows]


def _answer(row: Row, rows: Sequence[Row], catalogue: Catalog) -> Answer:
    tasks = {}
    try:
        tasks["before"] = _judged(row, before(row), catalogue)
        runs = runs_for(row, rows)
        if runs:
            tasks["after_one_run"] = _judged(row, after(row, runs[0]), catalogue)
    except (SpecrulesError, ValueError, ArithmeticError) as error:
        return Answer(row, {}, " ".join(str(error).split()))
    return Answer(row, tasks)


def _judged(row: Row, data: dict[str, object], catalogue: Catalog) -> Judged:
    verdict = triage(loaded(data, row.id), catalog=catalogue, now=NOW)
    if row.depth is not None and verdict.projection and not _is_at(verdict, row.depth):
        data = {**data, "engine": {"id": NEUTRAL_ENGINE, "draft_length": row.depth}}
        verdict = triage(loaded(data, row.id), catalog=catalogue, now=NOW)
    low, high = _interval(row, verdict)
    return Judged(verdict.economics, low, verdict.speedup.mid, high)


def _is_at(verdict: Verdict, depth: int) -> bool:
    """Whether the verdict is about this depth, and not about the greatest that the engine drafts."""
    return any(item.draft_length == depth and item.is_best for item in verdict.projection)


def _interval(row: Row, verdict: Verdict) -> tuple[float | None, float | None]:
    """The 90 % interval of the row's speedup: at its depth, and where nobody states that, over all depths shown."""
    if row.depth is not None:
        return verdict.speedup.low, verdict.speedup.high
    spans = [(item.speedup.low, item.speedup.high) for item in verdict.projection]
    known = [(low, high) for low, high in spans if low is not None and high is not None]
    if not known:
        return None, None
    return min(low for low, _ in known), max(high for _, high in known)


def report(answers: Iterable[Answer]) -> dict[str, object]:
    """The figures of both tasks: overall, by class, by group of hardware and by kind of target."""
    found = list(answers)
    tasks = {}
    for task in TASKS:
        judged = [(answer.row, answer.tasks[task]) for answer in found if task in answer.tasks]
        tasks[task] = {
            "overall": _both(judged),
            "by_class": _parts(judged, lambda row: row.stated_class or "unknown"),
            "by_hardware": _parts(judged, lambda row: groups_of(row).hardware or "unknown"),
            "by_moe": _parts(judged, lambda row: {"moe": "true", "dense": "false"}.get(row.kind or "", "unknown")),
        }
    return {"schema": 1, "tasks": tasks}


def _both(judged: Sequence[tuple[Row, Judged]]) -> dict[str, object]:
    return {"engine": scores(judged), "ceiling": scores([(row, ceiling(row)) for row, _ in judged])}


def _parts(judged: Sequence[tuple[Row, Judged]], part: Callable[[Row], str]) -> dict[str, object]:
    names = sorted({part(row) for row, _ in judged})
    return {name: _both([(row, said) for row, said in judged if part(row) == name]) for name in names}


def main() -> int:
    """Judge a casebook and print the figures."""
    parser = argparse.ArgumentParser(description="Judge a casebook with priors that have not seen it.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--rows", action="store_true", help="print what is said of each row")
    parser.add_argument("--jobs", type=int, default=min(4, os.cpu_count() or 1), help="processes")
    asked = parser.parse_args()
    try:
        rows, skipped = read_rows(asked.file)
    except (OSError, ValueError) as error:
        print(f"casebook: {error}", file=sys.stderr)
        return 2
    answers = judged_rows(rows, max(1, asked.jobs))
    skipped += [Skipped(answer.row.id, answer.problem) for answer in answers if answer.problem]
    found = report(answer for answer in answers if not answer.problem)
    if asked.json:
        found["skipped"] = [{"id": item.id, "reason": item.reason} for item in skipped]
        print(json.dumps(found, indent=2))
        return 0
    if asked.rows:
        for answer in answers:
            for task, said in answer.tasks.items():
                print(said.line(answer.row, task))
    print(table(found))
    for item in skipped:
        print(f"not judged: {item.id}: {item.reason}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
