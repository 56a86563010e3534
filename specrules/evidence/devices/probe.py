"""All devices of this machine."""

from __future__ import annotations

from specrules.evidence.devices.amd import amd_devices
from specrules.evidence.devices.device import Found
from specrules.evidence.devices.host import host_memory
from specrules.evidence.devices.nvidia import nvidia_devices


def probe() -> Found:
    """Return accelerators as far as libraries or drivers name them, and the host's memory last.

    Nothing is printed, no program is run, and whatever is not installed counts as absent.
    """
    host = host_memory()
    first = host.devices[0] if host.devices else None
    found = (nvidia_devices(first), amd_devices(), host)
    return Found(
        tuple(device for each in found for device in each.devices), tuple(note for each in found for note in each.notes)
    )
