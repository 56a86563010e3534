"""What is expected of a source that nobody has seen: acceptance, slopes and prices, from the rows of a casebook.

Every quantity is fitted on a scale where sources scatter evenly, by the mixed model of `mixed_model`. README.md in this
folder says what is read off which rows, and why.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import mixed_model
from casebook_cases import groups_of, runs_for
from casebook_rows import CLASSES, Row
from mixed_model import Expected, Observation

from specrules.economics.acceptance import conditional_from_tokens, tokens_per_round

EXCLUDED = {"rlocal-5090-gemma31b-e2b-vocab-mismatch"}
"""Token translation made it eight times slower, which a gate of its own rejects."""
KINDS = ("dense", "moe")
FREE = ("ngram", "suffix")
TASKS = ("structured", "code", "math", "chat")
OFFSET = 0.1
"""Slopes are fitted on log(slope + this): far below it a slope hardly changes the round."""
GIVEN = {
    "class": 0.25**2,
    "reach": 0.7**2,
    "hardware": 0.1**2,
    "task": 0.4**2,
    "class and task": 0.3**2,
}
"""Variances of the random effects: the casebook holds too few levels of each to estimate them."""
START = {
    "slope": (0.35**2, 0.2**2),
    "acceptance": (0.5**2, 0.35**2),
    "price": (0.5**2, 0.2**2),
    "share": (0.1**2, 0.1**2),
}
"""Variance between sources and within one, before the data are asked."""
_TIMING = 0.05**2
"""Variance of log(A / speedup): both are rounded, and taken from different runs now and then."""
_COUNTING = 0.1**2
Effects = tuple[tuple[str, object], ...]
_LEAST = 0.5
"""Fewer tokens drafted per round than this say nothing about a round that drafts."""


@dataclass(frozen=True)
class Measured:
    """A row with the groups that its machine and its text belong to."""

    row: Row
    drafter: str
    hardware: str | None
    task: str | None

    @property
    def depth(self) -> float | None:
        """K that the round drafts on average."""
        return self.row.effective_depth

    @property
    def reach(self) -> str | None:
        """Which draft lengths of a block drafter the row is about."""
        return reach_of(self.drafter, self.depth)


def reach_of(drafter: str, depth: float | None) -> str | None:
    """The range of draft lengths that a slope of a block drafter is for; None for the others.

    A block costs once whatever K is, so that its slope falls with K.
    """
    if drafter != "block" or depth is None:
        return None
    return "first" if depth < 2.5 else "middle" if depth < 8.5 else "long"


@lru_cache(maxsize=4096)
def measured(row: Row) -> Measured | None:
    """A row as something to fit on; None where it contradicts itself, draws random tokens or is excluded by name."""
    if row.id in EXCLUDED or row.contradicts_itself:
        return None
    groups = groups_of(row)
    if groups.task == "random":
        return None
    return Measured(row, CLASSES[row.stated_class or ""], groups.hardware, groups.task)


class Acceptance:
    """log(p / (1 - p)) by class and task, from the rows that state tokens per round and depth."""

    def __init__(self, items: Sequence[Measured]) -> None:
        self.used = [item for item in items if item.row.tokens_per_round and (item.depth or 0) >= _LEAST]
        seen = [
            Observation(_logit(item), _COUNTING, "all", item.drafter, _texts(item.drafter, item.task), item.row.source)
            for item in self.used
        ]
        self.model = mixed_model.fit(seen, GIVEN, *START["acceptance"])

    def expected(self, drafter: str, task: str | None) -> Expected | None:
        """What a new source shows. Without a task its variance is that of a text of any kind."""
        if ("fixed", drafter) not in self.model.names:
            return None
        found = self.model.expected("all", drafter, _texts(drafter, task))
        if task in TASKS:
            return found
        return Expected(found.mean, math.sqrt(found.deviation**2 + GIVEN["task"] + GIVEN["class and task"]))

    def rows(self, drafter: str | None, task: str | None = None) -> list[Measured]:
        """The rows behind a prior."""
        return [item for item in self.used if drafter in {None, item.drafter} and task in {None, item.task}]


class Slope:
    """log(s + OFFSET), s = (round / t1 - 1) / K, by kind of target, class, draft lengths and hardware.

    From the rows that state K and the speedup: round / t1 = A / speedup. Where A is missing the expected one of the
    class and task stands in, with its error.
    """

    def __init__(self, items: Sequence[Measured], acceptance: Acceptance) -> None:
        found = [(item, seen) for item in items if (seen := _slope_of(item, acceptance)) is not None]
        self.used = [item for item, _ in found]
        self.model = mixed_model.fit([seen for _, seen in found], GIVEN, *START["slope"])

    def expected(self, drafter: str, kind: str | None, hardware: str | None, reach: str | None) -> Expected | None:
        """What a new source shows. Where the kind of target is unknown: dense and MoE targets alike."""
        if drafter == "model" or kind is not None:
            group = "model" if drafter == "model" else str(kind)
            if ("fixed", group) not in self.model.names:
                return None
            return self.model.expected(group, group, _machines(drafter, kind, hardware, reach))
        return either([self.expected(drafter, each, hardware, reach) for each in KINDS])

    def rows(self, drafter: str | None, kind: str | None, hardware: str | None, reach: str | None) -> list[Measured]:
        """The rows behind a prior."""
        return [
            item
            for item in self.used
            if drafter in {None, item.drafter}
            and kind in {None, item.row.kind}
            and hardware in {None, item.hardware}
            and reach in {None, item.reach}
        ]


class Simple:
    """A quantity of which only its class, or its kind of target, is known to matter."""

    def __init__(self, found: Sequence[tuple[Measured, str, float]], start: str) -> None:
        self.used = [(item, fixed) for item, fixed, _ in found]
        seen = [Observation(value, _TIMING, "all", fixed, (), item.row.source) for item, fixed, value in found]
        self.model = mixed_model.fit(seen, GIVEN, *START[start]) if seen else None

    def expected(self, fixed: str) -> Expected | None:
        """What a new source shows."""
        if self.model is None or ("fixed", fixed) not in self.model.names:
            return None
        return self.model.expected("all", fixed, ())

    def rows(self, fixed: str | None) -> list[Measured]:
        """The rows behind a prior."""
        return [item for item, of in self.used if fixed in {None, of}]


def verify_slopes(items: Iterable[Measured]) -> Simple:
    """log((V(K+1) / t1 - 1) / K + OFFSET) by kind of target, from the rows whose engine timed the verify pass."""
    found = []
    for item in items:
        row, kind = item.row, item.row.kind
        if row.step_ms is None or kind is None:
            continue
        for width, time in row.verify_times.items():
            if width > 1:
                slope = (time / row.step_ms - 1) / (width - 1)
                found.append((item, kind, math.log(max(slope, 0.01) + OFFSET)))
    return Simple(found, "slope")


def draft_costs(items: Iterable[Measured]) -> Simple:
    """log(d / t1) by class, per drafted token or per block, from the rows that publish a drafter's step."""
    found = []
    for item in items:
        row = item.row
        cost = row.drafter_step_ms
        if cost is None and row.draft_round_ms is not None and item.depth:
            cost = row.draft_round_ms if item.drafter == "block" else row.draft_round_ms / item.depth
        if cost is not None and row.step_ms is not None:
            found.append((item, item.drafter, math.log(cost / row.step_ms)))
    return Simple(found, "price")


def depth_shares(items: Sequence[Measured]) -> Simple:
    """How much of a round grows with K, from pairs of runs that differ in K alone.

    That is the g of round(K) = round(K0) + g (K/K0 - 1) (round(K0) - t1). Trees are left out, and drafters that stop
    early: their runs do not draft what they are set to. That leaves no draft model.
    """
    found = []
    by_row = {item.row.id: item for item in items}
    for item in items:
        for run in runs_for(item.row, [other.row for other in items]):
            shorter = by_row[run.id]
            if (shorter.depth or 0) < (item.depth or 0) and not (item.row.is_gated or _is_tree(item.row)):
                share = _share_between(shorter, item)
                if share is not None:
                    found.append((item, "block" if item.drafter == "block" else "heads", share))
    return Simple(found, "share")


def either(known: Iterable[Expected | None]) -> Expected | None:
    """One of several, nobody knows which."""
    found = [each for each in known if each is not None]
    if not found:
        return None
    mean = sum(each.mean for each in found) / len(found)
    apart = sum((each.mean - mean) ** 2 for each in found) / len(found)
    return Expected(mean, math.sqrt(apart + max(each.deviation for each in found) ** 2))


def _share_between(shorter: Measured, longer: Measured) -> float | None:
    first, second = (_round_steps(item) for item in (shorter, longer))
    if first is None or second is None or first < 1.1 or not shorter.depth or not longer.depth:
        return None
    return (second - first) / ((longer.depth / shorter.depth - 1) * (first - 1))


def _round_steps(item: Measured) -> float | None:
    tokens, speedup = item.row.tokens_per_round, item.row.speedup
    return tokens / speedup if tokens is not None and speedup is not None else None


def _is_tree(row: Row) -> bool:
    return "topk" in (row.text("settings", "tree") or "")


def _logit(item: Measured) -> float:
    """The middle of p, kept away from the ends by what rounding hides."""
    depth = item.depth or 1.0
    tokens = min(max(item.row.tokens_per_round or 1.0, 1.02), depth + 1 - 0.03 * depth)
    share = float(conditional_from_tokens(tokens, depth))
    return math.log(share / (1 - share))


def _texts(drafter: str, task: str | None) -> Effects:
    return (("task", task), ("class and task", (drafter, task))) if task in TASKS else ()


def _machines(
    drafter: str, kind: str | None, hardware: str | None, reach: str | None
) -> tuple[tuple[str, object], ...]:
    effects: list[tuple[str, object]] = [("class", (drafter, kind))]
    if hardware is not None:
        effects.append(("hardware", hardware))
    if reach in {"first", "long"}:
        effects.append(("reach", reach))
    return tuple(effects)


def _slope_of(item: Measured, acceptance: Acceptance) -> Observation | None:
    row, depth = item.row, item.depth
    group = "model" if item.drafter == "model" else row.kind
    if row.speedup is None or depth is None or depth < _LEAST or group is None or item.drafter in FREE:
        return None
    tokens, error = row.tokens_per_round, _TIMING
    if tokens is None:
        believed = acceptance.expected(item.drafter, item.task)
        if believed is None:
            return None
        tokens = _tokens(believed.mean, depth)
        per_logit = math.log(_tokens(believed.mean + 0.1, depth) / _tokens(believed.mean - 0.1, depth)) / 0.2
        error += (per_logit * believed.deviation) ** 2
    round_steps = tokens / row.speedup
    slope = max((round_steps - 1) / depth, 0.01)
    per_round = max(round_steps, 1.05) / depth / (slope + OFFSET)
    effects = _machines(item.drafter, row.kind, item.hardware, item.reach)
    return Observation(math.log(slope + OFFSET), per_round**2 * error, group, group, effects, row.source)


def _tokens(logit: float, depth: float) -> float:
    return float(tokens_per_round(1 / (1 + math.exp(-logit)), depth))


def usable(rows: Iterable[Row]) -> list[Measured]:
    """The rows to fit on."""
    return [item for row in rows if (item := measured(row)) is not None]


def by_source(items: Iterable[Measured]) -> Mapping[str, int]:
    """Rows per source, in alphabetical order."""
    counts: dict[str, int] = {}
    for item in items:
        counts[item.row.source] = counts.get(item.row.source, 0) + 1
    return dict(sorted(counts.items()))
