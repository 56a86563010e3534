"""A deployment as a case: what its settings state, merged over a case that stands beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from specrules.derive.methods import method_named
from specrules.model.deployment import Deployment, Setting
from specrules.model.engine import Engine

_PARTS = frozenset({"target", "drafter", "engine"})
_ELSEWHERE = frozenset({"target.file", "drafter.file"})
"""Paths inside a container or on a server: they name no file beside the case."""

_WHOLE = frozenset({"engine.draft_length"})


def case_data(deployment: Deployment, engine: Engine, base: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The data of a case file: `base` with everything that the deployment states about target, drafter and engine.

    The traffic stays the base's: how many requests a server takes is not how many there are. What nobody rendered
    leaves the base as it is.
    """
    data = {key: dict(value) if isinstance(value, Mapping) else value for key, value in (base or {}).items()}
    if isinstance(data.get("engine"), str):
        data["engine"] = {"id": data["engine"]}
    for fact in deployment.facts:
        part, _, key = fact.name.partition(".")
        if part in _PARTS and fact.name not in _ELSEWHERE and fact.value is not None and "." not in key:
            value = int(fact.value) if fact.name in _WHOLE and isinstance(fact.value, float) else fact.value
            data.setdefault(part, {})[key] = list(value) if isinstance(value, tuple) else value
    use = data.setdefault("engine", {})
    use["id"] = engine.id
    if deployment.version is not None:
        use["version"] = deployment.version
    flags = list(_flags(deployment))
    if flags:
        use["flags"] = flags
    drafter_class = _drafter_class(use.get("methods"), engine)
    if drafter_class is not None:
        data.setdefault("drafter", {}).setdefault("class", drafter_class)
    return data


def _flags(deployment: Deployment) -> Iterator[str]:
    """Settings as a case writes them: a flag with its value, or `NAME=value`. Those inside a value are part of it."""
    for setting in deployment.settings:
        if setting.effective and not setting.inside:
            yield _written(setting)


def _written(setting: Setting) -> str:
    if setting.kind == "flag":
        return setting.written if setting.value is None else f"{setting.written} {setting.value}"
    return f"{setting.written}={setting.value if setting.value is not None else ''}"


def _drafter_class(names: object, engine: Engine) -> str | None:
    """The class that all methods that are on have in common."""
    named = [method_named(engine, str(name)) for name in names] if isinstance(names, list | tuple) else []
    classes = {method.drafter_class for method in named if method is not None}
    return classes.pop() if len(classes) == 1 else None
