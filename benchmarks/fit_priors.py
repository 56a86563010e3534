"""Fit the priors of `rules/priors.yaml` on the casebook.

    python benchmarks/fit_priors.py            writes rules/priors.yaml
    python benchmarks/fit_priors.py --check    says whether the file is what the casebook gives

A prior has to hold what the next source will measure, so its interval adds up how unsurely the middle is known, how much
sources differ and how much measurements of one source differ. A source with forty rows counts little more than one with
four. What is read off which rows, and why, stands in README.md of this folder.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import mixed_model
from casebook_cases import groups_of
from casebook_rows import CLASSES, Row, read_rows
from mixed_model import Expected, MixedModel, Observation
from priors_file import written

from specrules.economics.acceptance import conditional_from_tokens, tokens_per_round
from specrules.model.prior import Prior, PriorFile

ROOT = Path(__file__).parents[1]
CASEBOOK = ROOT / "benchmarks" / "data" / "casebook.yaml"
PRIORS = ROOT / "rules" / "priors.yaml"
FITTED_ON = date(2026, 11, 29)
END = 1.6449
"""Standard deviations from the median to an end of a 90 % interval."""

EXCLUDED = {"rlocal-5090-gemma31b-e2b-vocab-mismatch"}
"""Token translation made it eight times slower, which a gate of its own rejects."""
LONG = 8
"""Longer drafts cost less per token: what a block costs once is shared by more of them."""
OFFSET = 0.1
"""Slopes are fitted on log(slope + this): far below it a slope hardly changes the round."""
GIVEN = {
    "class": 0.25**2,
    "long": 0.5**2,
    "hardware": 0.2**2,
    "task": 0.4**2,
    "class and task": 0.3**2,
}
"""Variances of the random effects: the casebook holds too few levels of each to estimate them."""
BETWEEN = {"slope": 0.35**2, "acceptance": 0.5**2}
WITHIN = {"slope": 0.2**2, "acceptance": 0.35**2}
SCALE = {"slope": 1.0, "acceptance": 1.0}
"""What the deviations of the fit are multiplied with."""
KINDS = {"dense": ("dense", "hybrid"), "moe": ("moe", "hybrid-moe")}
HEADS = ("mtp-head", "eagle-head", "block")
FREE = ("ngram", "suffix")
TASKS = ("structured", "code", "math", "chat")
_TIMING = 0.05**2
"""Variance of log(A / speedup): both are rounded, and taken from different runs now and then."""


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
    def is_long(self) -> bool:
        """Whether a block drafter drafts long."""
        return self.drafter == "block" and (self.depth or 0) > LONG


def measured(rows: Iterable[Row]) -> list[Measured]:
    """The rows that priors are fitted on: none that contradicts itself, draws random tokens or is excluded by name."""
    found = []
    for row in rows:
        if row.id in EXCLUDED or row.contradicts_itself:
            continue
        groups = groups_of(row)
        if groups.task != "random":
            found.append(Measured(row, CLASSES[row.stated_class or ""], groups.hardware, groups.task))
    return found


class Acceptance:
    """p by class and task, from the rows that state tokens per round and depth."""

    def __init__(self, items: Sequence[Measured]) -> None:
        self.used = [item for item in items if item.row.tokens_per_round and (item.depth or 0) >= 0.5]
        self.model = mixed_model.fit(
            [
                Observation(
                    value=_logit_of(item),
                    error=0.1**2,
                    group="all",
                    fixed=item.drafter,
                    effects=_task_effects(item.drafter, item.task),
                    source=item.row.source,
                )
                for item in self.used
            ],
            GIVEN,
            BETWEEN["acceptance"],
            WITHIN["acceptance"],
        )

    def expected(self, drafter: str, task: str | None) -> Expected | None:
        """log(p / (1 - p)) of a new source. Without a task its variance is that of a text of any kind."""
        if ("fixed", drafter) not in self.model.names:
            return None
        found = self.model.expected("all", drafter, _task_effects(drafter, task))
        if task in TASKS:
            return found
        return Expected(found.mean, math.sqrt(found.deviation**2 + GIVEN["task"] + GIVEN["class and task"]))

    def sources(self, drafter: str, task: str | None = None) -> list[Measured]:
        """The rows behind a prior."""
        return [item for item in self.used if item.drafter == drafter and (task is None or item.task == task)]


class Slope:
    """s = (round / t1 - 1) / K by kind of target, class, length and hardware.

    From the rows that state A, K and the speedup: round / t1 = A / speedup. Where A is missing the expected one of the
    class and task stands in, with its error.
    """

    def __init__(self, items: Sequence[Measured], acceptance: Acceptance) -> None:
        found = [(item, seen) for item in items if (seen := _slope_of(item, acceptance)) is not None]
        self.used = [item for item, _ in found]
        self.model = mixed_model.fit([seen for _, seen in found], GIVEN, BETWEEN["slope"], WITHIN["slope"])

    def expected(self, drafter: str, kind: str | None, hardware: str | None, *, is_long: bool) -> Expected | None:
        """log(s + OFFSET) of a new source. Where the kind of target is unknown: of dense and MoE targets alike."""
        if drafter == "model" or kind is not None:
            group = "model" if drafter == "model" else kind
            if ("fixed", group) not in self.model.names:
                return None
            return self.model.expected(str(group), group, _slope_effects(drafter, kind, hardware, is_long))
        both = [self.expected(drafter, each, hardware, is_long=is_long) for each in KINDS]
        known = [each for each in both if each is not None]
        if not known:
            return None
        mean = sum(each.mean for each in known) / len(known)
        apart = sum((each.mean - mean) ** 2 for each in known) / len(known)
        return Expected(mean, math.sqrt(apart + max(each.deviation for each in known) ** 2))

    def sources(self, drafter: str | None, kind: str | None, hardware: str | None, is_long: bool) -> list[Measured]:
        """The rows behind a prior."""
        return [
            item
            for item in self.used
            if (drafter is None or item.drafter == drafter)
            and (kind is None or item.row.kind == kind)
            and (hardware is None or item.hardware == hardware)
            and item.is_long == is_long
        ]


def _logit_of(item: Measured) -> float:
    depth = item.depth or 1.0
    tokens = min(max(item.row.tokens_per_round or 1.0, 1.02), depth + 1 - 0.03 * depth)
    return _logit(float(conditional_from_tokens(tokens, depth)))


def _task_effects(drafter: str, task: str | None) -> tuple[tuple[str, object], ...]:
    return (("task", task), ("class and task", (drafter, task))) if task in TASKS else ()


def _slope_of(item: Measured, acceptance: Acceptance) -> Observation | None:
    row, depth = item.row, item.depth
    group = "model" if item.drafter == "model" else row.kind
    if row.speedup is None or not depth or depth < 0.5 or group is None or item.drafter in FREE:
        return None
    tokens, error = row.tokens_per_round, _TIMING
    if tokens is None:
        believed = acceptance.expected(item.drafter, item.task)
        if believed is None:
            return None
        tokens = _tokens(believed.mean, depth)
        wide = math.log(_tokens(believed.mean + 0.1, depth) / _tokens(believed.mean - 0.1, depth)) / 0.2
        error += (wide * believed.deviation) ** 2
    round_steps = tokens / row.speedup
    slope = max((round_steps - 1) / depth, 0.01)
    lever = max(round_steps, 1.05) / depth / (slope + OFFSET)
    return Observation(
        value=math.log(slope + OFFSET),
        error=lever**2 * error,
        group=group,
        fixed=group,
        effects=_slope_effects(item.drafter, row.kind, item.hardware, item.is_long),
        source=row.source,
    )


def _slope_effects(drafter: str, kind: str | None, hardware: str | None, is_long: bool) -> tuple[tuple[str, object], ...]:
    effects: list[tuple[str, object]] = [("class", (drafter, kind))]
    if hardware is not None:
        effects.append(("hardware", hardware))
    if is_long:
        effects.append(("long", "block"))
    return tuple(effects)


def _tokens(logit: float, depth: float) -> float:
    share = 1 / (1 + math.exp(-logit))
    return float(tokens_per_round(share, depth))


def _logit(share: float) -> float:
    return math.log(share / (1 - share))
