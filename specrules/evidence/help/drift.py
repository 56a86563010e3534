"""Where an engine's file and the engine's own help text have drifted apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from specrules.evidence.help.help_text import Option
from specrules.model.engine import Engine
from specrules.model.flag import Flag, HelpText

DriftKind = Literal["appeared", "vanished", "default"]


@dataclass(frozen=True, slots=True)
class Drift:
    """One difference. `line` is where the help text shows it, 0 where it shows nothing."""

    kind: DriftKind
    flag: str
    message: str
    line: int = 0


def drift(engine: Engine, help_text: HelpText, options: Sequence[Option]) -> tuple[Drift, ...]:
    """Compare within the scope that the file declares: flags that appeared, vanished, or have another default."""
    return (*_vanished(engine, options), *_appeared(engine, help_text, options), *_defaults(engine, options))


def scope_size(engine: Engine, help_text: HelpText, options: Sequence[Option]) -> int:
    """How many options were compared."""
    known = _named(engine)
    return sum(1 for option in options if _in_scope(help_text, option) or known & set(option.names))


def _vanished(engine: Engine, options: Sequence[Option]) -> Iterator[Drift]:
    shown = {name for option in options for name in option.names}
    for flag in engine.flags:
        if _is_current(flag) and not shown & {flag.name, *flag.aliases}:
            yield Drift("vanished", flag.name, f"{flag.name} is in the engine's file, but not in the help text")


def _appeared(engine: Engine, help_text: HelpText, options: Sequence[Option]) -> Iterator[Drift]:
    known = _named(engine) | {name for flag in engine.removed_flags for name in (flag.name, *flag.aliases)}
    for option in options:
        if _in_scope(help_text, option) and not known & set(option.names):
            message = f"{option.name} is in the help text, but not in the engine's file"
            yield Drift("appeared", option.name, message, option.line)


def _defaults(engine: Engine, options: Sequence[Option]) -> Iterator[Drift]:
    by_name = {name: option for option in options for name in option.names}
    for flag in engine.flags:
        option = next((by_name[name] for name in (flag.name, *flag.aliases) if name in by_name), None)
        if option is None or flag.default is None or option.default is None:
            continue
        if not _same(flag.default, option.default):
            message = f"{flag.name} defaults to {option.default}, and the engine's file says {flag.default}"
            yield Drift("default", flag.name, message, option.line)


def _is_current(flag: Flag) -> bool:
    """Variables and flags that ended with a version are not looked for."""
    return flag.name.startswith("-") and flag.until is None


def _in_scope(help_text: HelpText, option: Option) -> bool:
    if help_text.sections:
        return option.section in help_text.sections
    return any(name.startswith(prefix) for name in option.names for prefix in help_text.prefixes)


def _named(engine: Engine) -> set[str]:
    return {name for flag in engine.flags for name in (flag.name, *flag.aliases)}


def _same(one: str, other: str) -> bool:
    """Defaults agree as text, or as numbers: 0.00 is 0."""
    if one == other:
        return True
    try:
        return float(one) == float(other)
    except ValueError:
        return False
