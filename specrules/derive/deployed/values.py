"""The values that rules of the scope `deployment` read: what settings state, and what the engine's file makes of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from specrules.derive.deployed.beside import beside
from specrules.derive.deployed.case import case_data
from specrules.derive.deployed.claims import Settled, Symbols
from specrules.derive.deployed.lookups import looked_up
from specrules.derive.deployed.removed import may_still_count
from specrules.derive.deployed.said import said, said_places
from specrules.derive.deployed.settings import parts_stating, setting_places, setting_values
from specrules.derive.methods import method_named
from specrules.derive.stated import stated_facts
from specrules.model.case import Case
from specrules.model.deployment import Deployment, Place
from specrules.model.drafter import DrafterClass
from specrules.model.engine import Engine
from specrules.model.raw_finding import Speculation
from specrules.model.version import version_key

Values = dict[str, object]


_PLACED_BY: Mapping[str, tuple[str, ...]] = {
    "deployment.draft_length": ("engine.draft_length",),
    "deployment.rows_at_least": ("engine.draft_length",),
    "deployment.verify_rows": ("engine.draft_length",),
    "deployment.drafter_given": ("drafter.file", "drafter.name"),
    "deployment.drafter_name": ("drafter.file", "drafter.name"),
    "deployment.head_fits": ("drafter.file", "drafter.name"),
    "deployment.speculates": ("engine.methods",),
    "deployment.drafter_routed": ("drafter.device",),
    "engine.routes_drafter": ("drafter.device",),
    "engine.backends_coexist": ("drafter.device",),
}
"""What follows from a setting stands where that is written."""

_SWITCHES = ("engine.methods", "deployment.speculates")
_DRAFTERS = ("drafter.name", "drafter.file")


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What the catalogue holds for one deployment. `symbols` are inputs, thresholds and the engine's settings."""

    engine: Engine
    symbols: Symbols
    classes: Mapping[str, DrafterClass]
    thresholds: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Deployed:
    """A deployment with everything that follows before a rule is asked."""

    settled: Settled
    case: Case
    speculation: Speculation


def deployed(
    deployment: Deployment, knowledge: Knowledge, base: tuple[Case, Mapping[str, Any]] | None = None
) -> Deployed:
    """Everything that is known of a deployment. `base` is a case that stands beside it, as model and as data."""
    engine, symbols = knowledge.engine, knowledge.symbols
    version = judged_version(deployment, engine)
    places = _places(deployment, engine)
    values: Values = {f"policy.{name}": value for name, value in knowledge.thresholds.items()}
    if base is not None:
        values |= {name: fact.value for name, fact in stated_facts(base[0], lambda _: "case").items()}
    values |= {fact.name: _plain(fact.value) for fact in deployment.facts if fact.name in symbols}
    values |= setting_values(engine, deployment)
    values |= {"engine.id": engine.id, "engine.version_number": _build_number(engine, version)}
    values["engine.methods"] = _stated_methods(deployment, engine, values)
    settled = Settled(engine, version, symbols, values, places, deployment.launch.place)
    found = said(settled)
    values |= found
    places |= said_places(settled, found)
    values |= _whole(deployment, engine, values)
    case = _case(deployment, engine, version, values, None if base is None else base[1])
    values |= {**looked_up(case, engine, values, knowledge.classes), **_particular(found)}
    values |= beside(deployment, values, None if base is None else base[0])
    return Deployed(settled, case, _speculation(values))


def judged_version(deployment: Deployment, engine: Engine) -> str:
    """The stated version, else the one that the engine's file was read from: the newest that it knows all about."""
    if deployment.version is not None:
        try:
            version_key(deployment.version, engine.version.scheme)
        except ValueError:
            return engine.version.facts_from
        return deployment.version
    return engine.version.facts_from


def _build_number(engine: Engine, version: str) -> float | None:
    return float(version_key(version, "build")[0]) if engine.version.scheme == "build" else None


def _places(deployment: Deployment, engine: Engine) -> dict[str, Place]:
    places = {fact.name: fact.place for fact in deployment.facts} | setting_places(engine, deployment)
    for name, sources in _PLACED_BY.items():
        source = next((source for source in sources if source in places), None)
        if source is not None:
            places[name] = places[source]
    if deployment.version_place is not None:
        places["deployment.version_stated"] = deployment.version_place
    return places


def _plain(value: object) -> object:
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _stated_methods(deployment: Deployment, engine: Engine, values: Values) -> object:
    """The methods that settings name, as the engine spells them. Empty: none is named. None: nobody can tell."""
    if not any(fact.name == "engine.methods" for fact in deployment.facts):
        return () if deployment.is_complete(*parts_stating(engine, *_SWITCHES)) else None
    stated = values.get("engine.methods")
    if not isinstance(stated, tuple):
        return (stated,) if isinstance(stated, str) else None
    return _spelt(engine, stated)


def _spelt(engine: Engine, names: Iterable[str]) -> tuple[str, ...]:
    found = ((method_named(engine, name), name) for name in names)
    return tuple(dict.fromkeys(name if method is None else method.id for method, name in found))


def _particular(found: Values) -> Values:
    """What the engine's file says of this deployment stands above what it says in general."""
    return {name: value for name, value in found.items() if name.startswith("engine.") and name != "engine.methods"}


def _whole(deployment: Deployment, engine: Engine, values: Values) -> Values:
    """What is said of the deployment as a whole."""
    methods = values.get("engine.methods")
    speculates = values.get("deployment.speculates")
    if isinstance(methods, tuple) and methods:
        speculates = True
    elif speculates is None and "deployment.speculates" not in values and isinstance(methods, tuple):
        speculates = False
    if speculates is False and may_still_count(engine, deployment, judged_version(deployment, engine)):
        speculates = None
    length = values.get("deployment.draft_length", values.get("engine.draft_length"))
    length = length if isinstance(length, float) else _fact(deployment, "engine.draft_length")
    if speculates is True and methods == ():
        methods = None  # something drafts, and no setting names it
    concurrency = values.get("workload.concurrency")
    if isinstance(concurrency, float) and concurrency < 1:
        concurrency = None  # a word for: the engine chooses
    rows = (length + 1) * concurrency if isinstance(length, float) and isinstance(concurrency, float) else None
    drafter = any(fact.name in _DRAFTERS for fact in deployment.facts)
    complete = deployment.is_complete(*parts_stating(engine, *_DRAFTERS))
    return {
        "engine.methods": methods,
        "workload.concurrency": concurrency,
        "deployment.engine": engine.title,
        "deployment.version": deployment.version,
        "deployment.version_stated": deployment.version is not None,
        "deployment.judged_version": judged_version(deployment, engine),
        "deployment.speculates": speculates,
        "deployment.draft_length": length,
        "deployment.verify_rows": values.get("deployment.verify_rows", rows),
        "deployment.rows_at_least": length + 1 if isinstance(length, float) else None,
        "deployment.drafter_given": True if drafter else (False if complete else None),
        "deployment.gaps": "; ".join(dict.fromkeys(gap.why for gap in deployment.launch.gaps)) or None,
        "deployment.metrics": values.get("deployment.metrics"),
        "deployment.synthetic": values.get("deployment.synthetic", False),
        "deployment.lossy": values.get("deployment.lossy", False),
        "deployment.drafter_note": values.get("deployment.drafter_note"),
    }


def _fact(deployment: Deployment, name: str) -> float | None:
    value = next((fact.value for fact in deployment.facts if fact.name == name), None)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _case(deployment: Deployment, engine: Engine, version: str, values: Values, base: Mapping[str, Any] | None) -> Case:
    """The deployment as a case, for look-ups that take one; the bare minimum where its statements make none."""
    data = case_data(deployment, engine, base)
    try:
        case = Case.model_validate_json(json.dumps(_filled(data, engine)))
    except (ValidationError, TypeError):
        case = Case.model_validate_json(json.dumps(_filled({}, engine)))
    methods = values.get("engine.methods")
    named = tuple(str(name) for name in methods) if isinstance(methods, tuple) else ()
    use = case.engine.model_copy(update={"id": engine.id, "version": version, "methods": named})
    return case.model_copy(update={"engine": use})


def _filled(data: Mapping[str, Any], engine: Engine) -> dict[str, Any]:
    """Names that a case has to have and no deployment states."""
    given = {"schema": 1, **data}
    given["target"] = {"name": "target", **given.get("target", {})}
    given["drafter"] = {"name": "drafter", "class": "model", **given.get("drafter", {})}
    given["engine"] = {**_mapping(given.get("engine")), "id": engine.id}
    return given


def _mapping(value: object) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}


def _speculation(values: Values) -> Speculation:
    match values.get("deployment.speculates"):
        case True:
            return "on"
        case False:
            return "off"
    return "unknown"
