"""The memory of the host: psutil where it is installed, else /proc/meminfo, and what a container leaves of it."""

from __future__ import annotations

import platform
from pathlib import Path

from specrules.evidence.devices.device import Device, Found

HOST = "CPU"
_KIB = 1024


def host_memory(root: Path = Path("/")) -> Found:
    """Return the host's memory, free meaning what a new process can get. Nothing where no source says."""
    found = _psutil() if root == Path("/") else None
    found = found or _meminfo(root)
    if found is None:
        return Found(notes=("how much memory the host has is not known: install psutil",))
    free, total, source = found
    notes: tuple[str, ...] = ()
    limit = _container(root)
    if limit is not None and limit[0] < total:
        total, free = limit[0], min(free, max(limit[0] - limit[1], 0))
        source = f"{source}, limited by the control group"
        notes = (f"the control group limits this process to {total // 2**20} MiB",)
    unified = platform.system() == "Darwin" and platform.machine() == "arm64"
    return Found((Device(HOST, free, total, source, unified=unified),), notes)


def _psutil() -> tuple[int, int, str] | None:
    try:
        import psutil
    except ImportError:
        return None
    memory = psutil.virtual_memory()
    return int(memory.available), int(memory.total), "psutil"


def _meminfo(root: Path) -> tuple[int, int, str] | None:
    path = root / "proc/meminfo"
    try:
        lines = path.read_text(encoding="ascii", errors="replace").splitlines()
        said = {name: int(rest.split()[0]) * _KIB for name, _, rest in (line.partition(":") for line in lines) if rest}
        return said["MemAvailable"], said["MemTotal"], "/proc/meminfo"
    except (OSError, ValueError, KeyError, IndexError):
        return None


def _container(root: Path) -> tuple[int, int] | None:
    """Return the limit of the control group and what it uses, None without a limit."""
    for limit, used in (
        ("sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory.current"),
        ("sys/fs/cgroup/memory/memory.limit_in_bytes", "sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ):
        try:
            return int((root / limit).read_text()), int((root / used).read_text())
        except (OSError, ValueError):
            continue
    return None
