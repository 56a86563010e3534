"""Where the drafter can sit: routing, and backends in one process."""

from __future__ import annotations

import re

from specrules.derive.methods import Finding, applies_to_version, is_verified
from specrules.model.case import Case, Device
from specrules.model.engine import Engine, Method

_HOST = "CPU"
"""The backend that every build has."""


def device_named(case: Case, name: str | None) -> Device | None:
    """The device of the case with this name."""
    return next((device for device in case.host.devices if device.name == name), None)


def backend_named(engine: Engine, name: str) -> str:
    """The backend as the engine's file calls it: by its id, else by the devices that it gives (ROCm0: HIP)."""
    for backend in engine.devices.backends:
        if name.casefold() == backend.id.casefold():
            return backend.id
    return _backend_by_device(engine, name) or _backend_by_device(engine, f"{name}0") or name


def _backend_by_device(engine: Engine, device: str) -> str | None:
    for backend in engine.devices.backends:
        if backend.device_pattern is not None and re.fullmatch(backend.device_pattern, device):
            return backend.id
    return None


def backend_of(case: Case, engine: Engine, name: str | None) -> str | None:
    """The backend of a device, or of a list of them that share one: as stated, else told from the name by patterns."""
    if name is None:
        return None
    device = device_named(case, name)
    if device is not None and device.backend is not None:
        return backend_named(engine, device.backend)
    if device is None and len(listed := _listed(name)) > 1:
        shared = {backend_of(case, engine, one) for one in listed}
        return shared.pop() if len(shared) == 1 else None
    return _backend_by_device(engine, name)


def _listed(name: str | None) -> frozenset[str]:
    """The devices of a list with commas, as flags take it."""
    return frozenset(part.strip() for part in (name or "").split(",") if part.strip())


def is_apart(case: Case) -> bool:
    """Whether the drafter is given other devices than the target has, in whatever order they are listed."""
    return case.drafter.device is not None and _listed(case.drafter.device) != _listed(case.target.device)


def build_backends(case: Case, engine: Engine) -> tuple[str, ...]:
    """The backends of the binary, as the engine's file calls them; empty where they are not stated."""
    return tuple(dict.fromkeys(backend_named(engine, name) for name in case.engine.backends))


def routing(case: Case, engine: Engine, method: Method | None) -> Finding:
    """Whether the drafter can sit where the case wants it."""
    wanted, home = case.drafter.device, case.target.device
    routes = engine.devices.draft_routing
    if wanted is None or not is_apart(case):
        return Finding(True, "drafter and target share their device")
    if routes.possible and method is None:
        return Finding(None, f"which method would put the drafter on {wanted} is not known")
    if routes.possible and method is not None and method.draft_device == "conditional":
        return Finding(
            None, f"{method.id} can leave the target's device with some files only: {method.note}".rstrip(": ")
        )
    refusal = None if routes.possible else routes.effect
    if refusal is None and method is not None and method.draft_device != "routable":
        refusal = f"{method.id} drafts on the target's device, not on {wanted}"
    if refusal is not None:
        if home is None:
            return Finding(None, f"whether {wanted} is the target's device is not known, and {refusal}")
        return Finding(False if routes.possible or is_verified(engine, routes) else None, refusal)
    if not is_verified(engine, routes):
        return Finding(None, f"{routes.effect}; nobody verified it")
    return Finding(True, f"{routes.flag or 'the engine'} puts the drafter on {wanted}: {routes.effect}")


def coexistence(case: Case, engine: Engine) -> Finding:
    """Whether the backends of target and drafter can serve one process of this binary."""
    target = backend_of(case, engine, case.target.device)
    drafter = backend_of(case, engine, case.drafter.device) if case.drafter.device else target
    if case.drafter.device is None or _listed(case.drafter.device) <= _listed(case.target.device):
        return Finding(True, "one device, one backend")
    if target is None or drafter is None:
        unclear = case.target.device if target is None else case.drafter.device
        return Finding(None, f"the backend of {unclear or 'the target device'} is not known")
    built = build_backends(case, engine)
    if built and (absent := {target, drafter} - {*built, _HOST}):
        return Finding(
            False, f"this binary was built without {', '.join(sorted(absent))}, so it does not see that device"
        )
    if target == drafter:
        return Finding(True, f"both devices use {target}")
    for claim in engine.devices.coexistence:
        if set(claim.backends) != {target, drafter} or applies_to_version(engine, claim, case.engine.version) is False:
            continue
        if claim.status == "unproven" or not is_verified(engine, claim):
            return Finding(None, f"{target} beside {drafter}: {claim.effect} (not verified)")
        if applies_to_version(engine, claim, case.engine.version) is None:
            return Finding(None, f"{target} beside {drafter} depends on the version: {claim.effect}")
        return Finding(claim.status == "works", f"{target} beside {drafter}: {claim.effect}")
    return Finding(None, f"nobody wrote down whether {target} and {drafter} can serve one process")


def row_limit(case: Case, engine: Engine) -> int | None:
    """Rows beyond which a pass gets abruptly slower on the target's backend; None where no limit is known."""
    backend = backend_of(case, engine, case.target.device)
    limits = [
        limit.max_rows
        for limit in engine.row_limits
        if not limit.backends or (backend is not None and backend in limit.backends)
    ]
    return min(limits) if limits else None


def free_memory(case: Case) -> float | None:
    """Memory that is free on the drafter's device while the target serves."""
    device = device_named(case, case.drafter.device or case.target.device)
    return device.free_gib.value if device is not None and device.free_gib is not None else None
