"""Flags of the case against the flags of the engine's version."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher

from specrules.derive.methods import applies_to_version
from specrules.errors import did_you_mean
from specrules.model.case import Case
from specrules.model.engine import Engine
from specrules.model.flag import Flag, RemovedFlag

_LEAST_MISSPELT = 8
"""Short names are close to each other by chance: `-t` is no misspelt `-td`."""


@dataclass(frozen=True, slots=True)
class FlagReport:
    """How many flags are wrong (None: no flags were stated) and why."""

    bad: int | None
    note: str


def check_flags(case: Case, engine: Engine) -> FlagReport:
    """Hold the stated flags against the engine's file. Flags outside its scope are left alone when nothing is close."""
    if not case.engine.flags:
        return FlagReport(None, "no flags were stated")
    notes = [note for entry in case.engine.flags if (note := _wrong(entry, case, engine)) is not None]
    return FlagReport(len(notes), "; ".join(notes) if notes else "every stated flag is valid for this version")


def _wrong(entry: str, case: Case, engine: Engine) -> str | None:
    """What is wrong with one entry: `--flag`, `--flag value`, `--flag=value` or `VARIABLE=value`."""
    name, value = [*entry.split(maxsplit=1), "", ""][:2]
    joined, equals, inline = name.partition("=")
    if equals:
        name, value = joined, inline
    version = case.engine.version
    removed = next((flag for flag in engine.removed_flags if _is_called(flag, name)), None)
    if removed is not None:
        instead = f"; use {' or '.join(removed.replaced_by)}" if removed.replaced_by else ""
        gone = _is_gone(engine, removed, version)
        return f"{name} was removed: {removed.effect}{instead}" if gone else None
    flag = next((flag for flag in engine.flags if _is_called(flag, name)), None)
    if flag is None:
        hint = did_you_mean(name, [known for known in names(engine) if is_misspelt(name, known)])
        if hint:
            return f"{name} is no flag of {engine.title} ({hint})"
    elif applies_to_version(engine, flag, version) is False:
        return f"{name} does not exist in {version} (since {flag.since or '?'}, until {flag.until or '?'})"
    if equals and name.startswith("-") and not engine.joined_flag_values:
        return f"{entry.strip()}: {engine.title} refuses {name}=VALUE, write {name} VALUE"
    return None if flag is None else _wrong_value(flag, name, value.strip())


def _wrong_value(flag: Flag, name: str, value: str) -> str | None:
    given = value.split(",") if flag.list_valued else [value]
    bad = [item for item in given if flag.values and item and item not in flag.values]
    if bad:
        return f"{name} does not take {', '.join(bad)} ({', '.join(flag.values)})"
    return f"{name} needs a value" if flag.takes_value and not value else None


def _is_called(flag: Flag | RemovedFlag, name: str) -> bool:
    return name in {flag.name, flag.env, *flag.aliases}


def _is_gone(engine: Engine, removed: RemovedFlag, version: str | None) -> bool:
    """Without a version, or without knowing when the flag went, the newest version known is what counts."""
    return removed.until is None or applies_to_version(engine, removed, version) is not True


def is_misspelt(name: str, known: str) -> bool:
    """Whether a name is a known one but for two characters. Engines have more flags than their files describe."""
    if min(len(name), len(known)) < _LEAST_MISSPELT:
        return False
    same = sum(block.size for block in SequenceMatcher(None, name, known, autojunk=False).get_matching_blocks())
    return len(name) + len(known) - 2 * same <= 2


def names(engine: Engine) -> list[str]:
    """Every name, alias and variable of the engine's flags, removed ones included."""
    flags: tuple[Flag | RemovedFlag, ...] = (*engine.flags, *engine.removed_flags)
    return [name for flag in flags for name in (flag.name, flag.env, *flag.aliases) if name is not None]
