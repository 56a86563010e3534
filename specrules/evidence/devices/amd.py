"""AMD devices: amdsmi where it works, else what the amdgpu driver writes into /sys."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import Any

from specrules.evidence.devices.device import MIB, Device, Found

_VRAM = "mem_info_vram_{}"
_GTT = "mem_info_gtt_total"


def amd_devices(root: Path = Path("/"), library: Any | None = None) -> Found:
    """Return every AMD device as `ROCm0`, `ROCm1`, .. in the order of the source.

    Counted is the memory of the device alone. What it can borrow from the host (GTT) is slower, and on a processor with
    graphics it is most of what there is: a note says how much.
    """
    if library is None and root == Path("/"):
        library = _library()
    found = _by_library(library) if library is not None else None
    return found or _by_driver(root)


def _library() -> Any | None:
    # Without ROCm the module raises KeyError and prints to standard output while it is imported.
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            import amdsmi
    except Exception:
        return None
    return amdsmi


def _by_library(amdsmi: Any) -> Found | None:
    try:
        amdsmi.amdsmi_init()
        try:
            devices = []
            for index, handle in enumerate(amdsmi.amdsmi_get_processor_handles()):
                usage = amdsmi.amdsmi_get_gpu_vram_usage(handle)
                total, used = int(usage["vram_total"]) * MIB, int(usage["vram_used"]) * MIB
                devices.append(Device(f"ROCm{index}", max(total - used, 0), total, "amdsmi"))
        finally:
            amdsmi.amdsmi_shut_down()
    except Exception:
        return None
    return Found(tuple(devices)) if devices else None


def _by_driver(root: Path) -> Found:
    devices: list[Device] = []
    notes: list[str] = []
    cards = sorted((root / "sys/class/drm").glob("card[0-9]*"), key=lambda card: (len(card.name), card.name))
    for card in cards:
        total, used = (_number(card / "device" / _VRAM.format(what)) for what in ("total", "used"))
        if total is None or used is None:
            continue
        name = f"ROCm{len(devices)}"
        borrowed = _number(card / "device" / _GTT)
        if borrowed:
            notes.append(f"{name} can borrow {borrowed // MIB} MiB from the host, which are not counted")
        devices.append(Device(name, max(total - used, 0), total, f"/{card.relative_to(root)}/device/mem_info_vram_*"))
    return Found(tuple(devices), tuple(notes))


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None
