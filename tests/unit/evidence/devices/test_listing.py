from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from specrules.errors import EvidenceError
from specrules.evidence.devices import MIB, Found, listed
from specrules.evidence.source import Source

# The form is that of common/arg.cpp, b11434; the devices are those of public threads.
TWO = """\
ggml_cuda_init: found 1 CUDA devices:
Available devices:
  CUDA0: NVIDIA GeForce RTX 4090 (24077 MiB, 23500 MiB free)
  Vulkan0: AMD Radeon Graphics (RADV RAPHAEL_MENDOCINO) (31914 MiB, 31000 MiB free)
"""
SERVER = "llama-server"


def of(text: str) -> Found:
    return listed(Source("devices.txt", text))


def test_devices_with_their_memory() -> None:
    cuda, vulkan = of(TWO).devices
    assert (cuda.name, cuda.total, cuda.free) == ("CUDA0", 24077 * MIB, 23500 * MIB)
    assert vulkan.name == "Vulkan0"
    assert vulkan.free == 31000 * MIB
    assert vulkan.source == "devices.txt:4"


def test_no_devices() -> None:
    assert of("Available devices:\n  (none)\n") == Found()


def test_metal_shares_the_memory_of_the_host() -> None:
    assert of("Available devices:\n  MTL0: Apple M3 Ultra (442368 MiB, 442367 MiB free)\n").devices[0].unified


def test_a_device_that_says_nothing_of_its_memory() -> None:
    found = of("Available devices:\n  BLAS: OpenBLAS (0 MiB, 0 MiB free)\n")
    assert found.devices[0].free is None
    assert found.notes == ("BLAS does not say how much memory it has",)


def test_what_follows_the_list_is_not_read() -> None:
    assert len(of(TWO + "main: done\n  not a device\n").devices) == 2


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("CUDA0: something\n", "this is no list of devices"),
        ("Available devices:\n  CUDA0: RTX 4090\n", "this line is no device with its memory"),
        ("Available devices:\n  CUDA0: RTX (1 GiB, 1 GiB free)\n", "this line is no device with its memory"),
    ],
)
def test_what_is_no_listing(text: str, reason: str) -> None:
    with pytest.raises(EvidenceError, match=reason):
        of(text)


def _server() -> Path | None:
    given = os.environ.get("SPECRULES_LLAMA_BIN")
    path = Path(given) / SERVER if given else Path(shutil.which(SERVER) or "")
    return path if path.is_file() else None


@pytest.mark.llama
@pytest.mark.skipif(_server() is None, reason=f"{SERVER} is neither on PATH nor in SPECRULES_LLAMA_BIN")
def test_what_a_real_server_prints() -> None:
    program = _server()
    assert program is not None
    done = subprocess.run(
        [str(program), "--list-devices"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env={**os.environ, "LD_LIBRARY_PATH": str(program.parent)},
    )
    assert isinstance(of(done.stdout), Found)
