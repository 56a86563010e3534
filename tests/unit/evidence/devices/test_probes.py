"""Probes against folders like /proc and /sys, and against stand-ins for libraries that need a device to answer."""

from __future__ import annotations

import builtins
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from specrules.evidence.devices import MIB, Device, probe
from specrules.evidence.devices.amd import amd_devices
from specrules.evidence.devices.host import host_memory
from specrules.evidence.devices.nvidia import nvidia_devices

MEMINFO = (
    "MemTotal:       24732000 kB\nMemFree:         1000000 kB\nMemAvailable:   22915332 kB\nHugePages_Total:       0\n"
)
HOST = Device("CPU", 64 << 30, 128 << 30, "test")


def tree(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_what_a_new_process_can_get_is_available_not_free(tmp_path: Path) -> None:
    (device,) = host_memory(tree(tmp_path, {"proc/meminfo": MEMINFO})).devices
    assert (device.name, device.kind) == ("CPU", "host")
    assert (device.free, device.total) == (22915332 * 1024, 24732000 * 1024)
    assert device.source == "/proc/meminfo"


@pytest.mark.parametrize(
    "files",
    [
        {"sys/fs/cgroup/memory.max": "4294967296\n", "sys/fs/cgroup/memory.current": "1073741824\n"},
        {
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "4294967296",
            "sys/fs/cgroup/memory/memory.usage_in_bytes": "1073741824",
        },
    ],
)
def test_a_container_has_what_its_control_group_leaves(files: dict[str, str], tmp_path: Path) -> None:
    found = host_memory(tree(tmp_path, {"proc/meminfo": MEMINFO} | files))
    assert (found.devices[0].free, found.devices[0].total) == (3 << 30, 4 << 30)
    assert found.notes == ("the control group limits this process to 4096 MiB",)


@pytest.mark.parametrize("limit", ["max\n", "9223372036854771712\n", "nonsense"])
def test_a_control_group_without_a_limit_changes_nothing(limit: str, tmp_path: Path) -> None:
    files = {"sys/fs/cgroup/memory.max": limit, "sys/fs/cgroup/memory.current": "1"}
    found = host_memory(tree(tmp_path, {"proc/meminfo": MEMINFO} | files))
    assert found.devices[0].total == 24732000 * 1024
    assert found.notes == ()


@pytest.mark.parametrize("text", ["", "MemTotal: many kB\n", "MemTotal: 5 kB\n"])
def test_a_host_that_says_nothing(text: str, tmp_path: Path) -> None:
    found = host_memory(tree(tmp_path, {"proc/meminfo": text}))
    assert found.devices == ()
    assert found.notes == ("how much memory the host has is not known: install psutil",)


def test_psutil_says_the_same_as_the_kernel() -> None:
    psutil = pytest.importorskip("psutil")
    found = host_memory()
    assert found.devices[0].source.startswith("psutil")
    assert (found.devices[0].total or 0) <= psutil.virtual_memory().total


def test_amd_devices_as_the_driver_writes_them(tmp_path: Path) -> None:
    card = "sys/class/drm/card{}/device/mem_info_{}"
    files = {
        card.format(1, "vram_total"): "17163091968\n",
        card.format(1, "vram_used"): "163091968\n",
        card.format(1, "gtt_total"): "33554432000\n",
        card.format(10, "vram_total"): "536870912\n",
        card.format(10, "vram_used"): "0\n",
        card.format(2, "vram_total"): "broken\n",
        "sys/class/drm/card1-HDMI-A-1/status": "connected",
    }
    found = amd_devices(tree(tmp_path, files))
    assert [(device.name, device.total, device.free) for device in found.devices] == [
        ("ROCm0", 17163091968, 17000000000),
        ("ROCm1", 536870912, 536870912),
    ]
    assert found.devices[0].source == "/sys/class/drm/card1/device/mem_info_vram_*"
    assert found.notes == ("ROCm0 can borrow 32000 MiB from the host, which are not counted",)


def test_no_amd_device(tmp_path: Path) -> None:
    assert amd_devices(tmp_path).devices == ()


def amdsmi(handles: list[dict[str, int]]) -> Any:
    return SimpleNamespace(
        amdsmi_init=lambda: None,
        amdsmi_shut_down=lambda: None,
        amdsmi_get_processor_handles=lambda: handles,
        amdsmi_get_gpu_vram_usage=lambda handle: handle,
    )


def test_amdsmi_counts_in_mib(tmp_path: Path) -> None:
    found = amd_devices(tmp_path, amdsmi([{"vram_total": 16368, "vram_used": 368}]))
    assert [(device.free, device.total, device.source) for device in found.devices] == [
        (16000 * MIB, 16368 * MIB, "amdsmi")
    ]


def test_amdsmi_that_fails_leaves_it_to_the_driver(tmp_path: Path) -> None:
    assert amd_devices(tmp_path, amdsmi([{}])).devices == ()
    assert amd_devices(tmp_path, SimpleNamespace()).devices == ()


def test_amdsmi_may_break_and_print_while_it_is_imported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # What amdsmi 7.0.2 does without ROCm.
    real = builtins.__import__

    def broken(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "amdsmi":
            print("Unable to find libamd_smi.so")  # noqa: T201
            raise KeyError("libamd_smi.so")
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", broken)
    amd_devices()
    assert capsys.readouterr() == ("", "")


class Nvml:
    """The part of pynvml that is asked, with the names and errors that it has."""

    class NVMLError(Exception):
        pass

    class NVMLError_NotSupported(NVMLError):  # noqa: N801, N818
        pass

    def __init__(
        self, devices: list[Any], *, driver: bool = True, instances: dict[int, list[Any]] | None = None
    ) -> None:
        self.devices = devices
        self.driver = driver
        self.instances = instances or {}
        self.open = False

    def nvmlInit(self) -> None:  # noqa: N802
        if not self.driver:
            raise self.NVMLError("Library not found")
        self.open = True

    def nvmlShutdown(self) -> None:  # noqa: N802
        self.open = False

    def nvmlDeviceGetCount(self) -> int:  # noqa: N802
        return len(self.devices)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> Any:  # noqa: N802
        return self.devices[index]

    def nvmlDeviceGetMemoryInfo(self, handle: Any) -> Any:  # noqa: N802
        if isinstance(handle, Exception):
            raise handle
        return SimpleNamespace(free=handle[0] * MIB, total=handle[1] * MIB)

    def nvmlDeviceGetMigMode(self, handle: Any) -> tuple[int, int]:  # noqa: N802
        if isinstance(handle, Exception):
            raise self.NVMLError_NotSupported("Not Supported")
        split = self.devices.index(handle) in self.instances
        return int(split), int(split)

    def nvmlDeviceGetMaxMigDeviceCount(self, _handle: Any) -> int:  # noqa: N802
        return 7

    def nvmlDeviceGetMigDeviceHandleByIndex(self, handle: Any, index: int) -> Any:  # noqa: N802
        parts = self.instances[self.devices.index(handle)]
        if index >= len(parts):
            raise self.NVMLError("Not Found")
        return parts[index]


def test_nvidia_devices() -> None:
    nvml = Nvml([(20000, 24564), (80000, 81559)])
    found = nvidia_devices(HOST, nvml)
    assert [(device.name, device.free, device.total, device.unified) for device in found.devices] == [
        ("CUDA0", 20000 * MIB, 24564 * MIB, False),
        ("CUDA1", 80000 * MIB, 81559 * MIB, False),
    ]
    assert found.notes == ("CUDA may count devices in another order than the driver: set CUDA_DEVICE_ORDER=PCI_BUS_ID",)
    assert not nvml.open


def test_a_device_without_memory_of_its_own_shares_that_of_the_host() -> None:
    found = nvidia_devices(HOST, Nvml([Nvml.NVMLError_NotSupported("Not Supported")]))
    assert found.devices == (Device("CUDA0", 64 << 30, 128 << 30, "nvidia-ml-py", unified=True),)
    assert found.notes == ("CUDA0 has no memory of its own: it shares that of the host",)
    alone = nvidia_devices(None, Nvml([Nvml.NVMLError_NotSupported("Not Supported")]))
    assert alone.devices[0].free is None


def test_a_device_that_has_fallen_off_the_bus() -> None:
    found = nvidia_devices(HOST, Nvml([Nvml.NVMLError("GPU is lost")]))
    assert found.devices == (Device("CUDA0", None, None, "nvidia-ml-py"),)
    assert found.notes == ("CUDA0 does not say how much memory it has: GPU is lost",)


def test_the_instances_of_a_device_that_is_split() -> None:
    found = nvidia_devices(HOST, Nvml([(80000, 81559)], instances={0: [(9000, 9856), (19000, 19968)]}))
    assert [device.total for device in found.devices] == [9856 * MIB, 19968 * MIB]


def test_no_driver_and_no_library(monkeypatch: pytest.MonkeyPatch) -> None:
    assert nvidia_devices(HOST, Nvml([(1, 1)], driver=False)).devices == ()
    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert nvidia_devices(HOST).devices == ()


def test_the_real_library_without_a_driver() -> None:
    pytest.importorskip("pynvml")
    assert isinstance(nvidia_devices(HOST).devices, tuple)


def test_a_probe_names_the_host_last_and_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    found = probe()
    assert [device.kind for device in found.devices][-1:] in (["host"], [])
    assert capsys.readouterr() == ("", "")
