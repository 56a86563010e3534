"""Two model files and named devices to whether they fit."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from specrules.catalog.catalogue import Catalog
from specrules.errors import Problem, UsageError
from specrules.model.fit import Fit
from specrules.pipeline.sources import Sources, each

if TYPE_CHECKING:
    from specrules.evidence.devices import Device, Found
    from specrules.evidence.gguf import Watch
    from specrules.evidence.memory import Request

GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class Machine:
    """Where the devices come from: declared texts, a saved listing of the engine, else this machine is asked."""

    declared: Sequence[str] = ()
    listing: str | None = None


def fit_files(
    target: str,
    drafter: str | None,
    request: Request,
    machine: Machine,
    *,
    catalog: Catalog | None = None,
    headroom_gib: float | None = None,
    ask_engine: bool = True,
    watch: Watch | None = None,
) -> Fit:
    """Say whether a target and its drafter fit. Without `headroom_gib` the policy's headroom counts.

    `watch` shows how far the reading of a header from the web has come.
    EvidenceError with the problems of both files, UsageError for devices and requests that make no sense.
    """
    from specrules.evidence.gguf import default_cache, refusals
    from specrules.evidence.memory import HeadKeeper, Oracle, find_program, fit

    catalog = catalog or Catalog.load()
    _check_class(request, drafter, catalog)
    keeper = HeadKeeper(default_cache(os.environ))
    sources = Sources(web=True, cache=keeper, watch=watch)
    headers = each(sources.model, [target] if drafter is None else [target, drafter])
    found = _devices(machine)
    headroom = catalog.policy.thresholds["headroom_gib"] if headroom_gib is None else headroom_gib
    program = find_program() if ask_engine else None
    return fit(
        headers[0],
        headers[1] if drafter is not None else None,
        rules=catalog.memory,
        request=replace(request, headroom=round(headroom * GIB)),
        devices=found.devices,
        oracle=None if program is None else Oracle(program, keeper.heads),
        notes=(*found.notes, *(problem.render() for header in headers for problem in refusals(header))),
    )


def _check_class(request: Request, drafter: str | None, catalog: Catalog) -> None:
    """A drafter that is a model has to be named: left out, it would count as nothing."""
    if request.drafter_devices and drafter is None:
        raise UsageError("--drafter-device puts a drafter somewhere, and none is named")
    if request.drafter_class is None:
        return
    kind = catalog.drafter_class(request.drafter_class)
    if kind.needs_weights and drafter is None and not request.heads:
        hint = "name its file, or say --own-heads where layers of the target draft"
        raise UsageError(Problem(f"a drafter of class {kind.id!r} takes memory, and none is named", hint=hint))
    if not kind.needs_weights and drafter is not None:
        raise UsageError(f"a drafter of class {kind.id!r} has no file")


def _devices(machine: Machine) -> Found:
    from specrules.evidence.devices import Found, declared, listed, probe
    from specrules.evidence.source import read_source

    own = declared(machine.declared)
    if machine.listing is None:
        return Found(own) if own else probe()
    said = listed(read_source(machine.listing))
    names = {device.name for device in own}
    others: tuple[Device, ...] = tuple(device for device in said.devices if device.name not in names)
    return Found((*own, *others), said.notes)
