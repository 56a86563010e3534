"""Devices as `llama-server --list-devices` prints them: what the engine itself sees."""

from __future__ import annotations

import re

from specrules.errors import EvidenceError, Problem
from specrules.evidence.devices.device import MIB, Device, Found
from specrules.evidence.source import Source

HEADING = "Available devices:"
_LINE = re.compile(
    r"\s+(?P<name>[^\s:]+): (?P<title>.{0,200}) \((?P<total>\d{1,9}) MiB, (?P<free>\d{1,9}) MiB free\)\s*"
)


def listed(source: Source) -> Found:
    """Return the devices that a listing names; none where it says `(none)`.

    EvidenceError for a text without the heading, and for a line below it that is no device.
    """
    lines = source.text.splitlines()
    start = next((number for number, line in enumerate(lines) if line.strip() == HEADING), None)
    if start is None:
        raise EvidenceError(Problem(f"no line {HEADING!r}: this is no list of devices", source.at()))
    devices: list[Device] = []
    notes: list[str] = []
    for number, line in enumerate(lines[start + 1 :], start=start + 2):
        if not line.strip() or line.strip() == "(none)":
            continue
        if not line.startswith(" "):
            break
        match = _LINE.fullmatch(line)
        if match is None:
            raise EvidenceError(Problem("this line is no device with its memory", source.at(number)))
        free, total = int(match["free"]) * MIB, int(match["total"]) * MIB
        name = match["name"]
        if not total:
            notes.append(f"{name} does not say how much memory it has")
            devices.append(Device(name, None, None, str(source.at(number))))
            continue
        devices.append(Device(name, free, total, str(source.at(number)), unified=name.startswith("MTL")))
    return Found(tuple(devices), tuple(notes))
