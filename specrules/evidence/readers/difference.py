"""What happened between two dumps: counters subtracted series by series."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from specrules.errors import EvidenceError, Problem
from specrules.evidence.readers.compiled import CompiledField
from specrules.evidence.readers.dump import Dump, Labels, Series, step_of

START = "process_start_time_seconds"
_CREATED = "_created"
_ROUGH = 0.005
_SAME_START = 1.0


@dataclass(slots=True)
class Difference:
    """The series of each field between two dumps. `inexact` are fields whose printed values were rounded too much."""

    series: dict[str, Sequence[Series]] = field(default_factory=dict)
    inexact: set[str] = field(default_factory=set)
    warnings: list[Problem] = field(default_factory=list)
    is_idle: bool = False


def created_of(metric: str) -> str:
    """Return the name of the metric that says when a counter was created."""
    return metric.removesuffix("_total").removesuffix("_sum").removesuffix("_count") + _CREATED


def difference(fields: Mapping[str, CompiledField], before: Dump, after: Dump) -> Difference:
    """Subtract the counters of one dump from those of a later one.

    Gauges are taken from the later dump; what is an average since the server started is unknown between two dumps.
    Where no counter moved, nothing was served: `is_idle`. Raises EvidenceError where the server was restarted in
    between: a counter went down or is gone, or another start time is stated.
    """
    result = Difference()
    is_short = before.is_short and after.is_short
    restarts = list(_other_starts(START, before, after))
    moved: list[bool] = []
    for name, item in fields.items():
        metric = item.spec.metric
        if metric is None:
            continue
        if not after.is_counter(item):
            if item.spec.kind != "lifetime" and after.of(metric):
                result.series[name] = latest(after.of(metric))
            continue
        restarts += _other_starts(created_of(metric), before, after)
        pairs, problems = _pairs(metric, before, after)
        restarts += problems
        if not pairs or problems:
            continue
        moved += [later.value != _value(earlier) for earlier, later in pairs]
        rough = [message for pair in pairs if (message := _roughness(*pair, is_short=is_short)) is not None]
        result.series[name] = [replace(later, value=later.value - _value(earlier)) for earlier, later in pairs]
        if rough:
            result.inexact.add(name)
            result.warnings.append(Problem(rough[0], after.source.at(pairs[0][1].line)))
    if restarts:
        raise EvidenceError(dict.fromkeys(restarts))
    result.is_idle = bool(moved) and not any(moved)
    return result


def latest(series: Sequence[Series]) -> list[Series]:
    """Return one sample per series: of two scrapes in one file the later one counts."""
    return list({item.labels: item for item in series}.values())


def _value(item: Series | None) -> float:
    """Return a value; a series that was not there yet had counted nothing."""
    return 0.0 if item is None else item.value


def _pairs(metric: str, before: Dump, after: Dump) -> tuple[list[tuple[Series | None, Series]], list[Problem]]:
    """Return each series of the later dump with the same one of the earlier dump, and those that went down or away."""
    earlier: dict[Labels, Series] = {item.labels: item for item in before.of(metric)}
    later: dict[Labels, Series] = {item.labels: item for item in after.of(metric)}
    problems = []
    for labels, item in later.items():
        old = earlier.get(labels)
        if old is not None and item.value < old.value:
            at = before.source.at(old.line)
            message = f"{item.name} went down from {old.printed} ({at}) to {item.printed}"
            problems.append(_restart(message, after, item.line))
    for labels, old in earlier.items():
        if labels not in later and old.value:
            at = before.source.at(old.line)
            problems.append(_restart(f"{old.name} stood at {old.printed} ({at}) and is gone", after, 0))
    return [(earlier.get(labels), item) for labels, item in later.items()], problems


def _restart(message: str, after: Dump, line: int) -> Problem:
    what = "the server was restarted between the two dumps, or they are in the wrong order"
    return Problem(f"{message}: {what}", after.source.at(line))


def _other_starts(metric: str, before: Dump, after: Dump) -> Iterator[Problem]:
    earlier = {item.labels: item for item in before.of(metric)}
    for item in latest(after.of(metric)):
        old = earlier.get(item.labels)
        if old is not None and abs(item.value - old.value) > _SAME_START:
            message = f"{item.name} is {old.printed} in {before.source.name} and {item.printed} here"
            yield _restart(message, after, item.line)


def _roughness(earlier: Series | None, later: Series, *, is_short: bool) -> str | None:
    """Return what is wrong with a difference of values that were rounded when printed, None where it is fine."""
    off = sum(step_of(item, is_short=is_short) for item in (earlier, later) if item is not None) / 2
    moved = later.value - _value(earlier)
    if off < 1 and not off > _ROUGH * moved > 0:
        return None
    return f"{later.name} is printed as {later.printed}: the difference {moved:.6g} may be off by {off:g}"
