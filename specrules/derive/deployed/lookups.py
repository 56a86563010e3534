"""What an engine's file knows about the devices, backends and widths of a deployment, and the class of its drafter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from specrules.derive import devices
from specrules.derive.methods import Finding, method_named
from specrules.model.case import Case
from specrules.model.drafter import DrafterClass
from specrules.model.engine import Engine, Method

Values = dict[str, object]


def looked_up(case: Case, engine: Engine, values: Values, classes: Mapping[str, DrafterClass]) -> Values:
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
        "deployment.drafter_routed": devices.is_apart(case),
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
