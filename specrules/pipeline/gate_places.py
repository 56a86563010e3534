"""From the names that a rule reads to the place in a case that a finding is shown at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from specrules.catalog.case import LoadedCase
from specrules.catalog.document import Document, Loc
from specrules.decide import CompiledRule
from specrules.model.deployment import Place

_ROUTES: Mapping[str, Loc] = {
    "off": ("measurements", "off"),
    "candidate": ("measurements", "candidate"),
    "tokenizers": ("drafter", "tokenizer_pair"),
    "acceptance": ("measurements", "acceptance"),
    "restore": ("measurements",),
    "break_even": ("incumbent",),
    "policy": (),
}
"""Where names stand in a case that do not stand under their own name."""
_RENAMED: Mapping[str, Loc] = {
    "drafter.kind": ("drafter", "class"),
    "engine.method": ("engine", "methods"),
    "engine.bad_flags": ("engine", "flags"),
    "engine.flags_note": ("engine", "flags"),
    "engine.routes_drafter": ("drafter", "device"),
    "engine.attaches": ("drafter", "class"),
    "engine.version_number": ("engine", "version"),
    "engine.accepts_tokenizer": ("drafter", "tokenizer"),
    "drafter.device_free_gib": ("host", "devices"),
    "restore.ms": ("measurements", "restore_ms"),
}


def place_of_rule(loaded: LoadedCase, rule: CompiledRule | None) -> Place:
    """The place of the first name in a rule that the case states; else of the part of the case that it is about."""
    names = () if rule is None else _names(rule)
    return place_of_names(loaded, names)


def place_of_names(loaded: LoadedCase, names: Iterable[str]) -> Place:
    """The place of the first name that the case states, else of the section of the first one.

    What stands in no section comes from the evidence, where there is any.
    """
    routes = [_route(name) for name in names]
    for route in routes:
        if route and _has(loaded.document, route):
            return _place(loaded, route)
    for route in routes:
        if route and _has(loaded.document, route[:1]):
            return _place(loaded, route[:1])
    sections = (("evidence",), ("drafter",)) if routes else (("drafter",),)
    return _place(loaded, next((route for route in sections if _has(loaded.document, route)), ()))


def _names(rule: CompiledRule) -> list[str]:
    """The inputs that a rule reads, in the order of its text; those behind `let` come where their name is used."""
    found: list[str] = []
    for expression in (rule.require, rule.applies):
        if expression is None:
            continue
        for name in sorted(expression.names, key=expression.source.find):
            found += sorted(rule.lets[name].names) if name in rule.lets else [name]
    return found


def _route(name: str) -> Loc:
    if name in _RENAMED:
        return _RENAMED[name]
    space, *rest = name.split(".")
    return (*_ROUTES.get(space, (space,)), *rest)


def _has(document: Document, route: Loc) -> bool:
    try:
        document.value(route)
    except (KeyError, IndexError, TypeError):
        return False
    return True


def _place(loaded: LoadedCase, route: Loc) -> Place:
    where = loaded.document.key_position(route) if route else loaded.document.position(())
    return Place(path=where.path, line=where.line, column=where.column)
