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


def state_of(device: Device, devices: Sequence[Device], tally: Tally, headroom: int) -> FitState | None:
    """Return the state of a device; None where nobody says what is free, or nothing goes there."""
    if device.free is None or device.name not in tally.devices:
        return None
    return judge(device.free, *tally.needed(_sharing(device, devices)), headroom)


def judged(devices: Sequence[Device], tally: Tally, headroom: int) -> tuple[FitDevice, ...]:
    """Return every device with its parts, those that get nothing as well."""
    return tuple(_device(device, devices, tally, headroom) for device in devices)


def _sharing(device: Device, devices: Sequence[Device]) -> list[str]:
    """The devices whose memory is the same: a unified one and the host, else the device alone."""
    if device.unified or (device.kind == "host" and any(other.unified for other in devices)):
        return [other.name for other in devices if other.unified or other.kind == "host"]
    return [device.name]


def _device(device: Device, devices: Sequence[Device], tally: Tally, headroom: int) -> FitDevice:
    low, high = tally.needed([device.name])
    all_low, all_high = tally.needed(_sharing(device, devices))
    free = device.free
    return FitDevice(
        name=device.name,
        kind=device.kind,
        unified=device.unified,
        free=free,
        total=device.total,
        source=device.source,
        parts=tally.parts(device.name),
        needed=Span(low=low, high=high),
        left_low=None if free is None or all_high is None else free - all_high,
        left_high=None if free is None else free - all_low,
        state=state_of(device, devices, tally, headroom),
    )
