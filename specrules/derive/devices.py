"""Where the drafter can sit: routing, and backends in one process."""

from __future__ import annotations

import re

from specrules.derive.methods import Finding, applies_to_version, is_verified
from specrules.model.case import Case, Device
from specrules.model.engine import Engine, Method


def device_named(case: Case, name: str | None) -> Device | None:
    """The device of the case with this name."""
    return next((device for device in case.host.devices if device.name == name), None)


def backend_of(case: Case, engine: Engine, name: str | None) -> str | None:
    """The backend of a device: as stated, else told from its name by the engine's patterns."""
    if name is None:
        return None
    device = device_named(case, name)
    if device is not None and device.backend is not None:
        return device.backend
    for backend in engine.devices.backends:
        if backend.device_pattern is not None and re.fullmatch(backend.device_pattern, name):
            return backend.id
    return None


def routing(case: Case, engine: Engine, method: Method | None) -> Finding:
    """Whether the drafter can sit where the case wants it."""
    wanted, home = case.drafter.device, case.target.device
    routes = engine.devices.draft_routing
    if wanted is None or wanted == home:
        return Finding(True, "drafter and target share their device")
    if not routes.possible:
        return Finding(False if is_verified(engine, routes) else None, routes.effect)
    if method is None:
        return Finding(None, f"which method would put the drafter on {wanted} is not known")
    if method.draft_device == "conditional":
        return Finding(
            None, f"{method.id} can leave the target's device with some files only: {method.note}".rstrip(": ")
        )
    if method.draft_device != "routable":
        return Finding(False, f"{method.id} drafts on the target's device, not on {wanted}")
    if not is_verified(engine, routes):
        return Finding(None, f"{routes.effect}; nobody verified it")
    return Finding(True, f"{routes.flag or 'the engine'} puts the drafter on {wanted}: {routes.effect}")


def coexistence(case: Case, engine: Engine) -> Finding:
    """Whether the backends of target and drafter can serve one process of this binary."""
    target = backend_of(case, engine, case.target.device)
    drafter = backend_of(case, engine, case.drafter.device) if case.drafter.device else target
    if case.drafter.device is None or case.drafter.device == case.target.device:
        return Finding(True, "one device, one backend")
    if target is None or drafter is None:
        unclear = case.target.device if target is None else case.drafter.device
        return Finding(None, f"the backend of {unclear or 'the target device'} is not known")
    if case.engine.backends and (absent := {target, drafter} - set(case.engine.backends)):
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
