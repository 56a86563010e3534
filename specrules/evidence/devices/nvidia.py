"""NVIDIA devices through nvidia-ml-py (module `pynvml`), which is asked only where it is installed."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from specrules.evidence.devices.device import Device, Found

SOURCE = "nvidia-ml-py"


def nvidia_devices(host: Device | None, library: ModuleType | Any | None = None) -> Found:
    """Return every NVIDIA device as `CUDA0`, `CUDA1`, .. in the order of the driver.

    A device that reports no memory of its own shares that of the host (GB10, Jetson) and gets the host's numbers. Of a
    device that is split into instances (MIG) the instances are returned. Without the library or a driver: nothing.
    """
    nvml = library if library is not None else _library()
    if nvml is None:
        return Found()
    try:
        nvml.nvmlInit()
    except nvml.NVMLError:
        return Found()
    try:
        return _devices(nvml, host)
    except nvml.NVMLError as error:
        return Found(notes=(f"the NVIDIA driver does not say what devices there are: {error}",))
    finally:
        nvml.nvmlShutdown()


def _library() -> ModuleType | None:
    try:
        import pynvml
    except ImportError:
        return None
    found: ModuleType = pynvml
    return found


def _devices(nvml: Any, host: Device | None) -> Found:
    devices: list[Device] = []
    notes: list[str] = []
    handles = [nvml.nvmlDeviceGetHandleByIndex(index) for index in range(nvml.nvmlDeviceGetCount())]
    for handle in [part for whole in handles for part in _instances(nvml, whole)]:
        name = f"CUDA{len(devices)}"
        try:
            memory = nvml.nvmlDeviceGetMemoryInfo(handle)
        except nvml.NVMLError_NotSupported:
            notes.append(f"{name} has no memory of its own: it shares that of the host")
            free, total = (None, None) if host is None else (host.free, host.total)
            devices.append(Device(name, free, total, SOURCE, unified=True))
            continue
        except nvml.NVMLError as error:
            notes.append(f"{name} does not say how much memory it has: {error}")
            devices.append(Device(name, None, None, SOURCE))
            continue
        devices.append(Device(name, int(memory.free), int(memory.total), SOURCE))
    if len(devices) > 1:
        notes.append("CUDA may count devices in another order than the driver: set CUDA_DEVICE_ORDER=PCI_BUS_ID")
    return Found(tuple(devices), tuple(notes))


def _instances(nvml: Any, handle: Any) -> list[Any]:
    """Return the instances of a device that is split, else the device itself."""
    try:
        current, _ = nvml.nvmlDeviceGetMigMode(handle)
        if not current:
            return [handle]
        count = nvml.nvmlDeviceGetMaxMigDeviceCount(handle)
    except nvml.NVMLError:
        return [handle]
    found = []
    for index in range(count):
        try:
            found.append(nvml.nvmlDeviceGetMigDeviceHandleByIndex(handle, index))
        except nvml.NVMLError:
            continue
    return found or [handle]
