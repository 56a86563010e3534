"""The settings of a deployment as conditions read them: whether each flag is given, and its value or default."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from specrules.catalog.setting_symbols import flag_type, setting_name
from specrules.expressions import Type
from specrules.model.deployment import Deployment, Part, Place, Setting
from specrules.model.engine import Engine
from specrules.model.flag import Flag

_NUMBER = re.compile(r"([+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)([kKmMgG]?)")
_BASES = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "K": 2**10, "M": 2**20, "G": 2**30}
_LONGEST_NUMBER = 40
_SETTINGS = re.compile(r"\b(?:given|flag)\.([\w.]+)")
_WORDS = frozenset({"auto", "default", "none", "null", "all", "max", "inf", "infinity", "nan"})
"""Words that programs take where they take numbers; which of them a program takes is not written down."""


def is_no_number(text: str) -> bool:
    """Whether a text can be no number to any engine: `three`, not `8k`, `auto` or what an unset variable leaves."""
    plain = text.strip("\"' ").replace("_", "")
    return bool(plain) and plain.casefold() not in _WORDS and _scalar(Type.NUMBER, plain) is None


def setting_values(engine: Engine, deployment: Deployment) -> dict[str, object]:
    """`given.NAME` and `flag.NAME` of every flag. None is unknown: not rendered, or perhaps set where nobody looked."""
    values: dict[str, object] = {}
    for flag in engine.flags:
        name = setting_name(flag.name)
        if name is None:
            continue
        stated = _stated(flag, deployment)
        kind = flag_type(flag)
        if stated:
            values[f"given.{name}"] = True
            values[f"flag.{name}"] = _value(flag, kind, stated, engine.true_words)
        elif deployment.is_complete(*_sources(flag)):
            values[f"given.{name}"] = False
            values[f"flag.{name}"] = _default(flag, kind, engine.true_words)
        else:
            values[f"given.{name}"] = None
            values[f"flag.{name}"] = None
    return values


def parts_stating(engine: Engine, *facts: str) -> tuple[Part, ...]:
    """The parts of a launch that can state one of these facts.

    Variables that come from elsewhere leave nothing open where the engine reads the fact from its command line only.
    What a command hides can be anything, variables too.
    """
    claims = [claim for claim in engine.deployed if claim.fact in facts]
    read = {name for claim in claims for name in _SETTINGS.findall(f"{claim.value} {claim.when or ''}")}
    flags = [flag for flag in engine.flags if set(facts) & set(flag.states) or setting_name(flag.name) in read]
    by_variable = not flags or any("environment" in _sources(flag) for flag in flags)
    return ("command", "config", "environment") if by_variable else ("command", "config")


def setting_places(engine: Engine, deployment: Deployment) -> dict[str, Place]:
    """Where `given.NAME` and `flag.NAME` were set; names that nothing sets are absent."""
    places: dict[str, Place] = {}
    for flag in engine.flags:
        name, stated = setting_name(flag.name), _stated(flag, deployment)
        if name is not None and stated:
            places[f"given.{name}"] = stated[-1].place
            places[f"flag.{name}"] = stated[-1].place
    return places


def _stated(flag: Flag, deployment: Deployment) -> tuple[Setting, ...]:
    found = [item for item in deployment.settings if item.name == flag.name]
    return tuple(item for item in found if item.effective or flag.adds_up)


def _sources(flag: Flag) -> tuple[Part, ...]:
    """The parts of a launch that can set a flag."""
    if flag.env is not None and flag.name == flag.env:
        return ("environment",)
    return ("command", "config") if flag.env is None else ("command", "config", "environment")


def _value(flag: Flag, kind: Type, stated: Iterable[Setting], true_words: Iterable[str]) -> object:
    if kind is Type.STRINGS or kind is Type.NUMBERS:
        lists = [_list(kind, item.value) if item.rendered else None for item in stated]
        return None if None in lists else tuple(entry for entries in lists for entry in entries or ())
    last = list(stated)[-1]
    if not last.rendered:
        return None
    if kind is Type.BOOL:
        on = True if last.value is None else _is_on(last.value, true_words)
        return on is not _negates(last.written, flag.name)
    return None if last.value is None else _scalar(kind, last.value)


def _default(flag: Flag, kind: Type, true_words: Iterable[str]) -> object:
    if flag.default is None:
        if kind.element is not None:
            return ()
        return False if kind is Type.BOOL and not flag.takes_value else None
    if kind is Type.BOOL:
        return _is_on(flag.default, true_words)
    return _list(kind, flag.default) if kind.element is not None else _scalar(kind, flag.default)


def _is_on(text: str, true_words: Iterable[str]) -> bool:
    return text.casefold() in {*true_words, "on", "true"}


def _negates(written: str, name: str) -> bool:
    """`--no-slots` says no to `--slots`."""
    return written.startswith("--no-") and not name.startswith("--no-")


def _list(kind: Type, text: str | None) -> tuple[object, ...] | None:
    entries = [entry.strip("\"'") for entry in re.split(r"[,\s]+", (text or "").strip("[] ")) if entry]
    cells = tuple(_scalar(kind.element or kind, entry) for entry in entries)
    return None if None in cells else cells


def _scalar(kind: Type, text: str) -> object:
    if kind is Type.STRING:
        return text
    match = _NUMBER.fullmatch(text.strip()) if len(text) <= _LONGEST_NUMBER else None
    number = math.inf if match is None else float(match[1]) * _BASES[match[2]]
    return number if math.isfinite(number) else None
