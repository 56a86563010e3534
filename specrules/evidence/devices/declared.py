"""Devices as a user declares them: `CUDA0=24`, `CUDA0=20.5/24`, `MTL0=96,unified`."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from specrules.errors import Problem, UsageError
from specrules.evidence.devices.device import GIB, Device

_SHAPE = re.compile(r"(?P<name>[^=\s/,]+)=(?P<free>[0-9.]+)(?:/(?P<total>[0-9.]+))?(?P<unified>,unified)?")
_MOST_GIB = 1 << 20


def declared(texts: Iterable[str]) -> tuple[Device, ...]:
    """Return the devices that the texts declare: free GiB, and total GiB where it is known.

    UsageError with every text that is none, and for a name that comes twice.
    """
    devices: list[Device] = []
    problems: list[Problem] = []
    for text in texts:
        try:
            device = _device(text)
        except ValueError as error:
            problems.append(Problem(f"device {text!r}: {error}", hint="write NAME=FREE or NAME=FREE/TOTAL, in GiB"))
            continue
        if any(device.name == other.name for other in devices):
            problems.append(Problem(f"device {device.name!r} is declared twice"))
        devices.append(device)
    if problems:
        raise UsageError(problems)
    return tuple(devices)


def _device(text: str) -> Device:
    match = _SHAPE.fullmatch(text)
    if match is None:
        raise ValueError("not of the form NAME=GiB")
    free = _bytes(match["free"])
    total = _bytes(match["total"]) if match["total"] else None
    if total is not None and free > total:
        raise ValueError("more is free than there is")
    return Device(match["name"], free, total, "declared", unified=bool(match["unified"]))


def _bytes(text: str) -> int:
    number = float(text)
    if not math.isfinite(number) or number > _MOST_GIB:
        raise ValueError(f"{text} GiB is no size of memory")
    return round(number * GIB)
