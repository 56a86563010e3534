"""The records of a file, sorted by the runs that they are of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from specrules.errors import EvidenceError, Location, Problem
from specrules.evidence.readers.compiled import CompiledReader
from specrules.evidence.readers.observed import Observed, Record
from specrules.evidence.source import Source
from specrules.model.fact import FactValue

MAX_RUNS = 256
MAX_LISTED = 8
Run = Mapping[str, FactValue]
"""The fields by which the runs in a file differ, as they are in one of them."""


class Runs:
    """What a reader finds in the records of one file: one `Observed` for each run.

    Without `split` all records are of one run. Records in which `only` does not hold count for nothing.
    """

    def __init__(self, reader: CompiledReader, source: Source) -> None:
        self._reader = reader
        self._source = source
        self._runs: dict[tuple[FactValue | None, ...], Observed] = {}
        self._warnings: list[Problem] = []
        self._left_out = 0

    def fold(self, record: Record) -> None:
        """Take in a record to which nothing will be added. EvidenceError for a file of more than 256 runs."""
        record.settle(self._reader)
        if self._reader.only is not None and self._reader.only.evaluate(record.values) is not True:
            self._left_out += 1
            return
        key = tuple(record.values.get(name) for name in self._reader.spec.split)
        run = self._runs.get(key)
        if run is None:
            if len(self._runs) >= MAX_RUNS:
                message = f"the file holds more than {MAX_RUNS} runs"
                raise EvidenceError(Problem(message, self._source.at(), "cut it to those that count"))
            run = self._runs[key] = Observed(self._reader)
            run.run = {
                name: value for name, value in zip(self._reader.spec.split, key, strict=True) if value is not None
            }
        run.matched += sum(len(found) for found in record.found.values())
        run.fold(record)

    def warn(self, problem: Problem) -> None:
        """Note a warning of the file as a whole."""
        self._warnings.append(problem)

    def finish(self) -> tuple[Observed, ...]:
        """Return the runs in the order in which they begin; one without facts where no record counts."""
        runs = tuple(self._runs.values())
        if not runs:
            runs = (Observed(self._reader),)
            if self._left_out:
                message = f"none of its {self._left_out} records counts: {self._reader.spec.only}"
                runs[0].warn(Problem(message, self._source.at()))
        for problem in self._warnings:
            runs[0].warn(problem)
        return runs


def chosen(runs: Sequence[Observed], where: Mapping[str, FactValue], source: Source) -> Observed:
    """Return the one run of a file that is as `where` says. EvidenceError where none is, or several are.

    The message lists what the runs can be told apart by.
    """
    fitting = matching([run.run for run in runs], where)
    if len(fitting) == 1:
        return runs[fitting[0]]
    raise EvidenceError(ambiguity([run.run for run in runs], where, source.at()))


def matching(runs: Sequence[Run], where: Mapping[str, FactValue]) -> list[int]:
    """Return which runs are as `where` says. Numbers are compared as numbers, also where one of them is a text."""
    return [
        index
        for index, run in enumerate(runs)
        if all(name in run and _same(run[name], wanted) for name, wanted in where.items())
    ]


def ambiguity(runs: Sequence[Run], where: Mapping[str, FactValue], at: Location) -> Problem:
    """Return what is wrong where `where` does not choose exactly one of some runs."""
    names = differing(runs) or tuple(dict.fromkeys(name for run in runs for name in run))
    fitting = [runs[index] for index in matching(runs, where)] or list(runs)
    listed = "; ".join(shown({name: run[name] for name in names if name in run}) for run in fitting[:MAX_LISTED])
    more = f"; and {len(fitting) - MAX_LISTED} more" if len(fitting) > MAX_LISTED else ""
    if not matching(runs, where):
        return Problem(f"no run in this file has {shown(where)}; there are: {listed}{more}", at)
    hint = f"choose one by {' or '.join(names)}" if names else ""
    return Problem(f"the file holds {len(fitting)} runs: {listed}{more}", at, hint)


def differing(runs: Sequence[Run]) -> tuple[str, ...]:
    """Return the fields by which some runs can be told apart."""
    names = dict.fromkeys(name for run in runs for name in run)
    return tuple(name for name in names if len({run.get(name) for run in runs}) > 1)


def shown(run: Run) -> str:
    """Return the fields of a run as text."""
    return ", ".join(f"{name}={_text(value)}" for name, value in run.items())


def _same(one: FactValue, other: FactValue) -> bool:
    return one == other or _text(one) == _text(other)


def _text(value: FactValue) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float | int):
        return f"{value:.10g}"
    return value if isinstance(value, str) else ",".join(map(_text, value))
