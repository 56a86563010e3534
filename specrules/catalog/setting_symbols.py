"""The names by which conditions read the settings of a deployment: `given.NAME` and `flag.NAME` for every flag."""

from __future__ import annotations

import re
from collections.abc import Iterator

from specrules.expressions import Type
from specrules.model.engine import Engine
from specrules.model.flag import Flag

_WORDS = frozenset({"true", "false"})
_NO_NAME = re.compile(r"[^a-z0-9_.]")
_NAME = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*")


def setting_name(flag: str) -> str | None:
    """The name of a flag in conditions: `--spec-type` is `spec_type`. None where it makes none."""
    name = _NO_NAME.sub("_", flag.lstrip("-").lower())
    return name if _NAME.fullmatch(name) else None


def flag_type(flag: Flag) -> Type:
    """The type of `flag.NAME`: as declared, else told from how the flag is described."""
    if flag.type is not None:
        return Type(flag.type)
    if not flag.takes_value:
        return Type.BOOL
    if flag.list_valued:
        return Type.STRINGS
    words = {word.lower() for word in (*flag.values, flag.default or "")} - {""}
    if words and words <= _WORDS:
        return Type.BOOL
    return Type.NUMBER if not flag.values and _is_number(flag.default) else Type.STRING


def setting_symbols(engine: Engine) -> dict[str, Type]:
    """Every name by which conditions of this engine read settings, with its type."""
    return {name: kind for flag in engine.flags for name, kind in _names(flag)}


def _names(flag: Flag) -> Iterator[tuple[str, Type]]:
    name = setting_name(flag.name)
    if name is not None:
        yield f"given.{name}", Type.BOOL
        yield f"flag.{name}", flag_type(flag)


def _is_number(text: str | None) -> bool:
    try:
        return text is not None and float(text) is not None
    except ValueError:
        return False
