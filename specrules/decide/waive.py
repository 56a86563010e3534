"""Waivers over findings: which one covers what, and what is to be said about each of them.

A waiver covers a failure or an unknown of its rule where every part of its scope matches. What it covers keeps its
outcome. One that is expired, that reaches further ahead than the policy allows, or that is bound to other inputs
covers nothing.
"""

from __future__ import annotations

import functools
import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime

from specrules.errors import Location
from specrules.model.deployment import Place
from specrules.model.finding import WaiverNotice, WaiverState, WaiverUse
from specrules.model.policy import WaiverLimits
from specrules.model.rule import RuleOutcome
from specrules.model.waiver import Waiver

COVERED: frozenset[RuleOutcome] = frozenset({"fail", "unknown"})


@dataclass(frozen=True, slots=True)
class Judged:
    """What a finding is about, as scopes see it. `path` starts at the root that file patterns start from."""

    path: str
    target: str | None = None
    drafter: str | None = None
    engine: str | None = None
    inputs: str = ""


@dataclass(slots=True)
class _Tally:
    """What happened to one waiver in a run."""

    waiver: Waiver
    where: Location
    base: WaiverState
    days_left: int
    in_scope: int = 0
    used: int = 0
    other_inputs: int = 0


@dataclass(slots=True)
class Desk:
    """The waivers of a run. Every finding is brought here once; then `notices` says what became of each waiver."""

    tallies: list[_Tally] = field(default_factory=list)
    soon_days: int = 0

    @classmethod
    def open(cls, placed: Iterable[tuple[Waiver, Location]], limits: WaiverLimits, now: datetime) -> Desk:
        """Sort waivers into those that hold today and those that do not. Days are days of UTC."""
        today = now.astimezone(UTC).date()
        return cls(
            [_Tally(waiver, where, *_dated(waiver, today, limits)) for waiver, where in placed], limits.soon_days
        )

    def seen(self, judged: Judged) -> None:
        """Note that something was judged, whatever was found, so that a waiver without effect is known as unused."""
        for tally in self.tallies:
            tally.in_scope += in_scope(tally.waiver, judged)

    def cover(self, rule: str, outcome: RuleOutcome, judged: Judged) -> WaiverUse | None:
        """Return the first waiver that covers a finding, None where none does."""
        if outcome not in COVERED:
            return None
        for tally in self.tallies:
            waiver = tally.waiver
            if tally.base != "active" or waiver.rule != rule or not in_scope(waiver, judged):
                continue
            if waiver.inputs is not None and not same_inputs(waiver.inputs, judged.inputs):
                tally.other_inputs += 1
                continue
            tally.used += 1
            return WaiverUse(
                reason=waiver.reason,
                owner=waiver.owner,
                expires=waiver.expires.isoformat(),
                ticket=waiver.ticket,
                place=_place(tally.where),
            )
        return None

    def notices(self, *, everything: bool = False) -> tuple[WaiverNotice, ...]:
        """Return what is to be said about waivers, in the order of the file.

        One for which nothing was judged says nothing, unless it is void or `everything` is asked for.
        """
        return tuple(
            _notice(tally, self._state(tally))
            for tally in self.tallies
            if everything or tally.in_scope or tally.base != "active"
        )

    def _state(self, tally: _Tally) -> WaiverState:
        if tally.base != "active":
            return tally.base
        if tally.in_scope and not tally.used:
            return "inputs-changed" if tally.other_inputs else "unused"
        return "expires-soon" if tally.days_left <= self.soon_days else "active"


def in_scope(waiver: Waiver, judged: Judged) -> bool:
    """Whether every part of the scope matches. What is not known about the judged matches no pattern."""
    names = ((waiver.target, judged.target), (waiver.drafter, judged.drafter), (waiver.engine, judged.engine))
    if any(pattern is not None and (name is None or not _names(pattern).fullmatch(name)) for pattern, name in names):
        return False
    return not waiver.files or any(matches_path(pattern, judged.path) for pattern in waiver.files)


def matches_path(pattern: str, path: str) -> bool:
    """Whether a pattern matches a path: `*` and `?` stay inside a folder, `**` does not.

    Without a slash the pattern is for the name of the file in any folder; one that ends with a slash is for everything
    below.
    """
    if "/" not in pattern:
        return _paths(pattern).fullmatch(posixpath.basename(path)) is not None
    pattern = pattern.removeprefix("./").removeprefix("/")
    return _paths(f"{pattern}**" if pattern.endswith("/") else pattern).fullmatch(posixpath.normpath(path)) is not None


def same_inputs(stated: str, inputs: str) -> bool:
    """Whether a digest, or the beginning of one, is that of the inputs."""
    return bool(inputs) and (inputs.startswith(stated) or stated.startswith(inputs))


def scope_text(waiver: Waiver) -> str:
    """Return a scope in words: `engine llama.cpp, files deploy/*`."""
    named = [("target", waiver.target), ("drafter", waiver.drafter), ("engine", waiver.engine)]
    parts = [f"{word} {pattern}" for word, pattern in named if pattern is not None]
    return ", ".join([*parts, *([f"files {' '.join(waiver.files)}"] if waiver.files else [])])


def _dated(waiver: Waiver, today: date, limits: WaiverLimits) -> tuple[WaiverState, int]:
    left = (waiver.expires - today).days
    if left < 0:
        return "expired", left
    return ("too-long" if left > limits.max_days else "active"), left


def _notice(tally: _Tally, state: WaiverState) -> WaiverNotice:
    waiver = tally.waiver
    return WaiverNotice(
        state=state,
        rule=waiver.rule,
        scope=scope_text(waiver),
        owner=waiver.owner,
        reason=waiver.reason,
        expires=waiver.expires.isoformat(),
        days_left=tally.days_left,
        used=tally.used,
        place=_place(tally.where),
    )


def _place(where: Location) -> Place:
    return Place(path=where.path, line=where.line, column=where.column)


@functools.lru_cache(maxsize=256)
def _names(pattern: str) -> re.Pattern[str]:
    return _compiled(pattern, {"*": ".*", "?": "."})


@functools.lru_cache(maxsize=256)
def _paths(pattern: str) -> re.Pattern[str]:
    return _compiled(pattern, {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"})


def _compiled(pattern: str, wild: Mapping[str, str]) -> re.Pattern[str]:
    """A pattern whose wild cards, the longest first, mean what `wild` says; all else is literal."""
    parts = re.split(f"({'|'.join(map(re.escape, wild))})", pattern)
    return re.compile("".join(wild.get(part) or re.escape(part) for part in parts), re.DOTALL)
