"""From what is needed and what is free to whether it fits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from specrules.evidence.devices import Device
from specrules.evidence.memory.tally import Tally
from specrules.model.fit import FIT_STATES, FitDevice, FitState, Span


def judge(free: int, low: int, high: int | None, headroom: int) -> FitState:
    """Return the state of one device.

    It fits where the high end of what is needed leaves the headroom. Where the low end alone does not, nothing that is
    still open can help.
    """
    if high is not None and free - high >= headroom:
        return "fits"
    if free - low < 0:
        return "does-not-fit"
    return "no-headroom" if free - low < headroom else "unknown"


def worst(states: Iterable[FitState]) -> FitState:
    """Return the state that decides; unknown where nothing was judged."""
    found = set(states)
    return next((state for state in FIT_STATES if state in found), "unknown")


def judged(devices: Sequence[Device], tally: Tally, headroom: int) -> tuple[FitDevice, ...]:
    """Return every device with its parts, those that get nothing as well."""
    return tuple(_device(device, tally, headroom) for device in devices)


def _device(device: Device, tally: Tally, headroom: int) -> FitDevice:
    low, high = tally.needed([device.name])
    parts = tally.parts(device.name)
    free = device.free
    return FitDevice(
        name=device.name,
        kind=device.kind,
        unified=device.unified,
        free=free,
        total=device.total,
        source=device.source,
        parts=parts,
        needed=Span(low=low, high=high),
        left_low=None if free is None or high is None else free - high,
        left_high=None if free is None else free - low,
        state=None if free is None or not parts else judge(free, low, high, headroom),
    )
