"""How sure it is that a file is of one engine and not of another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from specrules.evidence.readers.compiled import CompiledReader
from specrules.evidence.readers.observed import Observed

Sureness = Literal["certain", "likely", "ambiguous"]
_FEW_LINES = 3
_MUCH = 0.5
_HARDLY_ANY = 0.1


@dataclass(frozen=True, slots=True)
class Matches:
    """How many lines of a log, or values of another file, an engine recognises."""

    engine_id: str
    count: int


@dataclass(frozen=True, slots=True)
class Recognition:
    """Why a file is taken for one of an engine.

    `certain`: the engine was named, or no other one knows more than half as much. `likely`: others know more of it, but
    hardly anything that this engine does not know; or only one or two lines were recognised at all.
    `ambiguous`: another engine fits as well. `matches` begins with the engine that was taken; `compared_lines` is how
    many lines of a long log they were counted on, None for all of it. `eras` says of which times or versions the shapes
    are that were found.
    """

    sureness: Sureness
    is_stated: bool
    unit: Literal["lines", "values"]
    matches: tuple[Matches, ...]
    eras: tuple[str, ...] = ()
    compared_lines: int | None = None

    def describe(self) -> str:
        """Say it in one sentence."""
        own, *others = self.matches
        part = "" if self.compared_lines is None else f" of the first {self.compared_lines}"
        unit = self.unit if own.count != 1 else self.unit.removesuffix("s")
        found = f"{own.count} {unit}{part} recognised"
        if self.is_stated:
            return f"as stated, {found}"
        if not others:
            return f"{self.sureness}, {found}, nothing by another engine"
        named = ", ".join(f"{other.count} by {other.engine_id}" for other in others)
        return f"{self.sureness}, {found}, {named}"


def eras_of(reader: CompiledReader, observed: Observed) -> tuple[str, ...]:
    """Return the eras of the shapes that were found, those of most lines first."""
    counts: dict[str, int] = {}
    for index, count in observed.by_pattern.items():
        spec = reader.patterns[index].spec
        era = spec.era or _versions(spec.since, spec.until)
        counts[era] = counts.get(era, 0) + count
    counts.setdefault(_versions(reader.spec.since, reader.spec.until), 0)
    return tuple(era for era in sorted(counts, key=lambda era: -counts[era]) if era)


def _versions(since: str | None, until: str | None) -> str:
    return " ".join(filter(None, (since and f"since {since}", until and f"until {until}")))


def log_sureness(winner: str, readers: Sequence[CompiledReader], shared: Mapping[int, int]) -> Sureness:
    """Return how sure it is that a log is of the engine `winner`.

    `shared` counts lines by the readers that took them, as bits in the order of `readers`.
    """
    lines = lines_by_engine(readers, shared)
    own = sum(count for engines, count in lines.items() if winner in engines)
    worst: Sureness = "likely" if own < _FEW_LINES else "certain"
    for rival in {name for engines in lines for name in engines} - {winner}:
        both = sum(count for engines, count in lines.items() if winner in engines and rival in engines)
        only_rival = sum(count for engines, count in lines.items() if winner not in engines and rival in engines)
        only_own = own - both
        if only_rival > _HARDLY_ANY * only_own or not only_own:
            return "ambiguous"
        if both + only_rival > _MUCH * own:
            worst = "likely"
    return worst


def lines_by_engine(readers: Sequence[CompiledReader], shared: Mapping[int, int]) -> dict[frozenset[str], int]:
    """Return the counts of lines by the engines that took them."""
    lines: dict[frozenset[str], int] = {}
    for bits, count in shared.items():
        engines = frozenset(reader.engine.id for index, reader in enumerate(readers) if bits >> index & 1)
        lines[engines] = lines.get(engines, 0) + count
    return lines
