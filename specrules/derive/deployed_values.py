"""The values that rules of the scope `deployment` read: what settings state, and what the engine's file makes of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from specrules.derive import devices
from specrules.derive.deployed_case import case_data
from specrules.derive.deployed_claims import Settled, Symbols, compiled
from specrules.derive.deployed_names import made_for
from specrules.derive.deployed_settings import setting_places, setting_values
from specrules.derive.methods import Finding, applies_to_version, method_named
from specrules.derive.stated import stated_facts
from specrules.expressions import Type, Unknown
from specrules.model.case import Case
from specrules.model.deployment import Deployment, Place
from specrules.model.drafter import DrafterClass
from specrules.model.engine import Engine, Method
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
    values |= _said(settled)
    values |= _whole(deployment, engine, values)
    case = _case(deployment, engine, version, values, None if base is None else base[1])
    values |= _looked_up(case, engine, values, knowledge.classes)
    values |= _beside(deployment, values, None if base is None else base[0])
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
        return () if deployment.is_complete() else None
    stated = values.get("engine.methods")
    if not isinstance(stated, tuple):
        return (stated,) if isinstance(stated, str) else None
    return _spelt(engine, stated)


def _spelt(engine: Engine, names: Iterable[str]) -> tuple[str, ...]:
    found = ((method_named(engine, name), name) for name in names)
    return tuple(dict.fromkeys(name if method is None else method.id for method, name in found))


def _said(settled: Settled) -> Values:
    """What the engine's file derives from settings. Methods add to the stated ones, everything else replaces."""
    found: Values = {}
    for claim in settled.engine.deployed:
        if claim.fact in found and claim.fact != "engine.methods":
            continue
        if applies_to_version(settled.engine, claim, settled.version) is False:
            continue
        when = True if claim.when is None else _evaluated(settled, claim.when, Type.BOOL, found)
        if when is False:
            continue
        value = None
        if when is True:
            value = claim.value if isinstance(claim.value, bool) else _evaluated(settled, claim.value, None, found)
        if claim.fact == "engine.methods":
            value = _together(found.get(claim.fact, settled.values.get(claim.fact)), value)
        found[claim.fact] = value
    return found


def _evaluated(settled: Settled, source: str, kind: Type | None, found: Values) -> object:
    result = compiled(source, tuple(settled.symbols.items()), kind).evaluate({**settled.values, **found})
    return None if isinstance(result, Unknown) else result


def _together(stated: object, more: object) -> object:
    if not isinstance(stated, tuple) or not isinstance(more, tuple):
        return None
    return tuple(dict.fromkeys((*stated, *more)))


def _whole(deployment: Deployment, engine: Engine, values: Values) -> Values:
    """What is said of the deployment as a whole."""
    methods = values.get("engine.methods")
    speculates = values.get("deployment.speculates")
    if isinstance(methods, tuple) and methods:
        speculates = True
    elif speculates is None and "deployment.speculates" not in values and isinstance(methods, tuple):
        speculates = False
    length = values.get("deployment.draft_length", values.get("engine.draft_length"))
    length = length if isinstance(length, float) else _fact(deployment, "engine.draft_length")
    if speculates is True and methods == ():
        methods = None  # something drafts, and no setting names it
    concurrency = values.get("workload.concurrency")
    if isinstance(concurrency, float) and concurrency < 1:
        concurrency = None  # a word for: the engine chooses
    rows = (length + 1) * concurrency if isinstance(length, float) and isinstance(concurrency, float) else None
    drafter = any(fact.name in {"drafter.name", "drafter.file"} for fact in deployment.facts)
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
        "deployment.drafter_given": True if drafter else (False if deployment.is_complete() else None),
        "deployment.gaps": "; ".join(dict.fromkeys(gap.why for gap in deployment.launch.gaps)) or None,
        "deployment.metrics": values.get("deployment.metrics"),
        "deployment.synthetic": values.get("deployment.synthetic", False),
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


def _looked_up(case: Case, engine: Engine, values: Values, classes: Mapping[str, DrafterClass]) -> Values:
    """Devices, backends and widths as the engine's file knows them, and the class of the drafter."""
    named = values.get("engine.methods")
    methods = [method_named(engine, str(name)) for name in named] if isinstance(named, tuple) else []
    drafting = [method for method in methods if method is not None and method.draft_device != "none"]
    method = drafting[0] if len(drafting) == 1 else (methods[0] if len(methods) == 1 else None)
    kinds = [classes[item.drafter_class] for item in drafting if item.drafter_class in classes]
    routes, beside = devices.routing(case, engine, method), devices.coexistence(case, engine)
    making = drafting or [item for item in methods if item is not None]
    lengths = [item.max_draft_length for item in making if item.max_draft_length is not None]
    return {
        "engine.method": None if method is None else method.id,
        "engine.backends": devices.build_backends(case, engine) or None,
        **_finding("engine.routes_drafter", "engine.routing_note", routes),
        **_finding("engine.backends_coexist", "engine.backends_note", beside),
        "engine.ignores_drafter_device": _ignores(engine, method),
        "engine.restores_hybrid": None if method is None else method.round.restores_hybrid,
        "engine.lossless": None if method is None else method.lossless,
        "deployment.longest_draft": float(min(lengths)) if lengths else None,
        "deployment.drafter_routed": case.drafter.device is not None,
        **_row_limit(case, engine, values),
        "drafter.kind": _same([kind.id for kind in kinds]),
        "drafter.target_specific": _same([kind.target_specific for kind in kinds]),
        "drafter.needs_weights": _same([kind.needs_weights for kind in kinds]),
        "drafter.needs_tokenizer_match": _same([kind.needs_tokenizer_match for kind in kinds]),
    }


def _same(answers: Sequence[object]) -> object:
    """What all drafters that are on have in common; None where they differ or none is on."""
    return answers[0] if answers and len(set(answers)) == 1 else None


def _ignores(engine: Engine, method: Method | None) -> bool | None:
    routing = engine.devices.draft_routing
    if method is None or method.draft_device == "conditional":
        return None
    return routing.flag is not None and method.draft_device == "same-device"


def _finding(name: str, note: str, finding: Finding) -> Values:
    return {name: finding.holds, note: " ".join(finding.note.split())}


def _row_limit(case: Case, engine: Engine, values: Values) -> Values:
    """The width that the target's backend verifies without a cliff.

    Where the backend is not known the strictest limit settles only what is within it, or beyond every one.
    """
    limits = engine.row_limits
    if not limits:
        return {"deployment.row_limited": False, "engine.max_verify_rows": None}
    limit = devices.row_limit(case, engine)
    backends = set(devices.build_backends(case, engine))
    backend = devices.backend_of(case, engine, case.target.device)
    if backend is None and len(backends - {"CPU"}) == 1:
        backend = next(iter(backends - {"CPU"}))
        found = [item.max_rows for item in limits if not item.backends or backend in item.backends]
        limit = min(found) if found else None
    if backend is not None or limit is not None:
        return {"deployment.row_limited": limit is not None, "engine.max_verify_rows": _number(limit)}
    strictest = float(min(item.max_rows for item in limits))
    rows = values.get("deployment.verify_rows")
    settled = isinstance(rows, float) and rows <= strictest
    return {
        "deployment.row_limited": True if settled else None,
        "engine.max_verify_rows": strictest if settled else None,
    }


def _number(value: int | None) -> float | None:
    return None if value is None else float(value)


def _beside(deployment: Deployment, values: Values, base: Case | None) -> Values:
    """What the names of the two checkpoints say, and whether a case beside the deployment is about it."""
    head, target = (_name(deployment, "drafter"), _name(deployment, "target"))
    fits, note = _head_fits(values, head, target)
    found: Values = {
        "deployment.drafter_name": head,
        "deployment.target_name": target,
        "deployment.head_fits": fits,
        "deployment.head_note": note,
        "deployment.has_case": base is not None,
    }
    if base is None:
        return found
    wrong = _misfits(values, base)
    return found | {"deployment.case_misfits": float(len(wrong)), "deployment.case_note": "; ".join(wrong) or None}


def _head_fits(values: Values, head: str | None, target: str | None) -> tuple[bool | None, str | None]:
    """Whether a head was made for the target: a case that states both checkpoints stands above what names say."""
    trained, served = values.get("drafter.trained_for"), values.get("target.checkpoint")
    if trained is not None and served is not None:
        return trained == served, f"it was trained for {trained}, and {served} is served"
    told = None if head is None or target is None else made_for(head, target)
    return told, None if told is None else f"their names {'agree' if told else 'contradict each other'}"


def _name(deployment: Deployment, of: str) -> str | None:
    """What a checkpoint is called: its file or repository as the settings name it."""
    names = {fact.name: fact.value for fact in deployment.facts}
    found = names.get(f"{of}.name") or names.get(f"{of}.file")
    return found if isinstance(found, str) else None


def _misfits(values: Values, base: Case) -> list[str]:
    """What a case says otherwise than the deployment that it stands beside."""
    wrong = []
    if base.engine.id != values["engine.id"]:
        wrong.append(f"the case is about {base.engine.id}")
    methods = values.get("engine.methods")
    if base.engine.methods and isinstance(methods, tuple) and set(base.engine.methods) != set(methods):
        wrong.append(
            f"the case switches {', '.join(base.engine.methods)} on, not {', '.join(map(str, methods)) or 'none'}"
        )
    length = values.get("deployment.draft_length")
    if base.engine.draft_length is not None and isinstance(length, float) and base.engine.draft_length != length:
        wrong.append(f"the case drafts {base.engine.draft_length} tokens, not {length:g}")
    version = values.get("deployment.version")
    if base.engine.version is not None and version is not None and base.engine.version != version:
        wrong.append(f"the case is about version {base.engine.version}, not {version}")
    return wrong


def _speculation(values: Values) -> Speculation:
    match values.get("deployment.speculates"):
        case True:
            return "on"
        case False:
            return "off"
    return "unknown"
