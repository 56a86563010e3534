"""Rows of a casebook: public measurements of speculative decoding, read with whatever they leave out.

A row holds what was known before deploying (target step, drafter step, acceptance, hardware, K) and what came out of
it. A field that is missing, null or of the wrong type is unknown; a row is skipped, with the reason, only where it does
not state what drafts or for what, or has nothing to hold a verdict against.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import yaml

Outcome = Literal["win", "loss", "neutral"]
NEUTRAL = 0.03
CLASSES = {
    "plain-model": "model",
    "mtp": "mtp-head",
    "eagle": "eagle-head",
    "eagle2": "eagle-head",
    "eagle3": "eagle-head",
    "medusa": "block",
    "dflash": "block",
    "dspark": "block",
    "ngram": "ngram",
    "suffix": "suffix",
    "other": "parallel-model",
}
"""The drafter class of the catalogue for each class of the casebook. Medusa's heads draft all positions in one pass; of
`other` nothing is known, and of the class that stands for it no more."""
LOOK_UP = frozenset({"ngram", "suffix"})
"""Classes that draft in a share of the rounds only."""
_NOT_STATED = re.compile(r"^(not stated|not in the excerpt|unknown|n/?a|none|-)?( \(.*\))?$", re.IGNORECASE)
_ANNOTATION = re.compile(r"[\s(].*$", re.DOTALL)


class RowError(Exception):
    """A row cannot be judged. The message says why."""


@dataclass(frozen=True)
class Skipped:
    """A row that was not judged, and why."""

    id: str
    reason: str


@dataclass(frozen=True, eq=False)
class Row:
    """One measured configuration. None is unknown. `data` is the row as it was read."""

    id: str
    data: Mapping[str, Any]

    def text(self, *path: object) -> str | None:
        """A text, or None where there is none."""
        value = self._at(path)
        return value if isinstance(value, str) and value.strip() else None

    def number(self, *path: object) -> float | None:
        """A finite number, or None where there is none."""
        value = self._at(path)
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            return None
        return float(value)

    def computed(self, name: str) -> float | None:
        """A number that the casebook's author worked out."""
        return self.number("computed", name, "value")

    def _at(self, path: Iterable[object]) -> Any:
        value: Any = self.data
        for step in path:
            value = value.get(step) if isinstance(value, Mapping) else None
        return value

    @cached_property
    def source(self) -> str:
        """The source without the casebook's remarks: comments of one thread are one source."""
        stated = self.text("source")
        return self.id if stated is None else _ANNOTATION.sub("", stated.strip()) or stated

    @cached_property
    def stated_class(self) -> str | None:
        """The drafter class as the casebook names it."""
        stated = self.text("drafter", "class")
        return None if stated is None else stated.strip().lower()

    @cached_property
    def hardware(self) -> str | None:
        """The machine, as a text."""
        stated = self.text("hardware")
        return None if stated is None or _NOT_STATED.match(stated.strip()) else stated

    @cached_property
    def kind(self) -> Literal["dense", "moe"] | None:
        """The kind of target."""
        stated = self._at(("target", "moe"))
        return {True: "moe", False: "dense"}[stated] if isinstance(stated, bool) else None  # type: ignore[return-value]

    @cached_property
    def batch(self) -> int | None:
        """Requests in flight."""
        return whole(self.number("settings", "batch"))

    @cached_property
    def is_gated(self) -> bool:
        """Whether rounds end early by the drafter's confidence, so that K is only the most that is drafted."""
        threshold = self.number("settings", "p_min")
        if "adaptive" in (self.text("drafter", "model") or "").lower():
            return True
        if threshold is not None:
            return threshold > 0
        return self.stated_class == "plain-model" and "llama.cpp" in (self.text("engine") or "")

    @cached_property
    def stated_depth(self) -> int | None:
        """K as it is set."""
        return whole(self.number("settings", "k")) or whole(self.computed("k"))

    @cached_property
    def drafted_per_round(self) -> float | None:
        """K_eff, where the drafted tokens were counted."""
        rounds, drafted = self._rounds, self.number("given", "drafted_tokens")
        counted = drafted / rounds if rounds and drafted else self.computed("drafted_per_round")
        return counted if counted and counted > 0 else None

    @cached_property
    def drafts_in_a_share(self) -> float | None:
        """The share of rounds that draft, where the tokens of drafters that look up are counted over all rounds.

        A round that drafts is taken to draft K where K is stated, else one token. Where only A is known over all
        rounds, all rounds count as drafting.
        """
        if CLASSES.get(self.stated_class or "") not in LOOK_UP or self.tokens_per_round is None:
            return None
        drafted = self.drafted_per_round
        return 1.0 if drafted is None else min(1.0, drafted / (self.stated_depth or 1))

    @cached_property
    def depth(self) -> int | None:
        """K that a round really drafts: K_eff as a whole token where it was counted, unknown where K is gated."""
        drafted = self.drafted_per_round
        if drafted is not None and drafted >= 0.5:
            return max(1, round(drafted))
        return (1 if drafted else None) if self.is_gated or self.stated_depth is None else self.stated_depth

    @cached_property
    def effective_depth(self) -> float | None:
        """The same, not rounded."""
        return self.drafted_per_round or self.depth

    @cached_property
    def _rounds(self) -> float | None:
        rounds = self.number("given", "rounds") or self.computed("rounds")
        return rounds if rounds and rounds > 0 else None

    @cached_property
    def tokens_per_round(self) -> float | None:
        """A, from counts, as stated, or from the accepted ratio at a known depth. None where it contradicts K."""
        accepted = self.number("given", "accepted_tokens")
        stated = self.number("given", "acceptance_length") or self.computed("acceptance_length")
        if self._rounds and accepted is not None:
            tokens: float | None = 1 + accepted / self._rounds
        elif stated is not None:
            tokens = stated
        elif self.positions:
            tokens = 1 + sum(self.positions)
        elif self.accepted_ratio is not None and self.depth is not None and not self.is_gated:
            tokens = 1 + self.accepted_ratio * self.depth
        else:
            tokens = None
        limit = self.effective_depth
        if tokens is None or tokens < 1 or (limit is not None and tokens > (limit + 1) * 1.005):
            return None
        return tokens

    @cached_property
    def accepted_ratio(self) -> float | None:
        """Accepted over drafted, where the source says that it is that."""
        ratio = self.number("given", "acceptance_reported")
        if self.text("given", "acceptance_definition") != "accepted_over_drafted":
            return None
        return ratio if ratio is not None and 0 <= ratio <= 1 else None

    @cached_property
    def positions(self) -> tuple[float, ...]:
        """Unconditional acceptance of positions 1..K, where it was published."""
        stated = self._at(("given", "per_position"))
        if not isinstance(stated, list) or not stated:
            return ()
        if not all(isinstance(share, int | float) and not isinstance(share, bool) for share in stated):
            return ()
        shares = tuple(float(share) for share in stated)
        falls = all(later <= earlier for earlier, later in pairwise(shares))
        if not falls or not all(0 <= share <= 1 for share in shares):
            return ()
        return shares[1:] if shares[0] == 1 and self.stated_class == "dflash" else shares

    @cached_property
    def step_ms(self) -> float | None:
        """The plain step of one sequence, drafting off."""
        step = self.number("given", "target_step_ms")
        if step is not None and step > 0:
            return step
        rate = self.number("given", "target_tok_s")
        return 1000 / rate if rate is not None and rate > 0 else None

    @cached_property
    def drafter_step_ms(self) -> float | None:
        """What one drafted token costs, or one block. Unknown in batches, whose rates are sums."""
        if (self.batch or 1) > 1:
            return None
        step, rate = self.number("given", "drafter_step_ms"), self.number("given", "drafter_tok_s")
        if step is not None and step > 0:
            return step
        return 1000 / rate if rate is not None and rate > 0 else None

    @cached_property
    def draft_round_ms(self) -> float | None:
        """What drafting costs in a whole round, where the engine timed it."""
        return self.number("extra", "draft_ms_per_round") or self.computed("draft_ms_per_round")

    @cached_property
    def verify_round_ms(self) -> float | None:
        """What verifying costs in a whole round, where the engine timed it."""
        return self.number("extra", "verify_ms_per_round") or self.computed("verify_ms_per_round")

    @cached_property
    def verify_times(self) -> Mapping[float, float]:
        """Time of a verify pass by its rows, in ms, where the engine timed it."""
        curve = self._at(("extra", "verify_curve_ms"))
        if isinstance(curve, Mapping):
            points = {width: self.number("extra", "verify_curve_ms", width) for width in curve}
            return {float(width): time for width, time in points.items() if time and isinstance(width, int)}
        if self.verify_round_ms is None or self.effective_depth is None:
            return {}
        return {self.effective_depth + 1: self.verify_round_ms}

    @cached_property
    def speedup(self) -> float | None:
        """The observed rate with drafting over that without."""
        stated = self.number("observed", "speedup")
        if stated is not None and stated > 0:
            return stated
        rate, plain = self.number("observed", "spec_tok_s"), self.number("given", "target_tok_s")
        if rate and plain and rate > 0 and plain > 0:
            return rate / plain
        if rate and rate > 0 and self.step_ms and (self.batch or 1) == 1:
            return rate * self.step_ms / 1000
        found = self.computed("speedup")
        return found if found and found > 0 else None

    @cached_property
    def outcome(self) -> Outcome | None:
        """What came out: by the speedup where it is known, else as the source says."""
        if self.speedup is not None:
            return "win" if self.speedup > 1 + NEUTRAL else "loss" if self.speedup < 1 - NEUTRAL else "neutral"
        stated = self.text("observed", "outcome")
        return stated if stated in {"win", "loss", "neutral"} else None  # type: ignore[return-value]

    @cached_property
    def contradicts_itself(self) -> bool:
        """Whether the speedup exceeds the tokens of a round, or what its depth allows: then the baseline is another."""
        limits = [self.tokens_per_round, None if self.is_gated or self.depth is None else self.depth + 1]
        return self.speedup is not None and any(end is not None and self.speedup > 1.03 * end for end in limits)

    def check(self) -> None:
        """Raise RowError where the row cannot be judged."""
        if self.stated_class is None:
            raise RowError("states no drafter class")
        if self.stated_class not in CLASSES:
            raise RowError(f"drafter class {self.stated_class!r} is not one of {', '.join(CLASSES)}")
        if self.hardware is None and self.kind is None:
            raise RowError("states neither hardware nor the kind of target")
        if self.outcome is None:
            raise RowError("states no outcome to hold a verdict against")


def whole(value: float | None) -> int | None:
    """A count of at least one, or None."""
    return int(value) if value is not None and value >= 1 and value == int(value) else None


def read_rows(path: Path) -> tuple[list[Row], list[Skipped]]:
    """Read a casebook: the rows that can be judged, and the others. ValueError where the file holds no list of rows."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        data = yaml.load(path.read_text(encoding="utf-8"), Loader=loader)  # noqa: S506
    except yaml.YAMLError as error:
        raise ValueError(f"{path}: no YAML: {error}") from None
    if isinstance(data, Mapping) and isinstance(data.get("rows"), list):
        data = data["rows"]
    if not isinstance(data, list):
        raise ValueError(f"{path}: a casebook is a list of rows")
    rows: list[Row] = []
    skipped: list[Skipped] = []
    for number, item in enumerate(data, 1):
        name = str(item.get("id") or f"row {number}") if isinstance(item, Mapping) else f"row {number}"
        try:
            rows.append(_checked(name, item))
        except RowError as error:
            skipped.append(Skipped(name, str(error)))
    return rows, skipped


def _checked(name: str, item: object) -> Row:
    if not isinstance(item, Mapping):
        raise RowError("is no mapping")
    row = Row(name, item)
    row.check()
    return row
