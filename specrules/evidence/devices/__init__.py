"""Devices and the memory on them: declared, listed by the engine, or asked of this machine."""

from __future__ import annotations

from specrules.evidence.devices.declared import declared
from specrules.evidence.devices.device import GIB, MIB, Device, Found
from specrules.evidence.devices.listing import listed
from specrules.evidence.devices.probe import probe

__all__ = ["GIB", "MIB", "Device", "Found", "declared", "listed", "probe"]
