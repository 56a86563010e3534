from __future__ import annotations

import pytest

from specrules.errors import UsageError
from specrules.evidence.devices import GIB, declared


def test_free_memory_in_gib() -> None:
    (device,) = declared(["CUDA0=24"])
    assert (device.name, device.free, device.total, device.kind) == ("CUDA0", 24 * GIB, None, "accelerator")
    assert device.source == "declared"


def test_free_and_total() -> None:
    (device,) = declared(["ROCm1=20.5/24"])
    assert (device.free, device.total) == (int(20.5 * GIB), 24 * GIB)


def test_unified_memory_and_the_host() -> None:
    metal, host = declared(["MTL0=96,unified", "CPU=64"])
    assert metal.unified
    assert (host.kind, host.unified) == ("host", False)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("CUDA0", "not of the form NAME=GiB"),
        ("CUDA0=", "not of the form NAME=GiB"),
        ("=24", "not of the form NAME=GiB"),
        ("CUDA0=-1", "not of the form NAME=GiB"),
        ("CUDA0=nan", "not of the form NAME=GiB"),
        ("CUDA0=24GB", "not of the form NAME=GiB"),
        ("CUDA0=25/24", "more is free than there is"),
        ("CUDA0=1.2.3", "could not convert"),
        ("CUDA0=99999999", "99999999 GiB is no size of memory"),
        ("CUDA0=" + "9" * 400, "is no size of memory"),
    ],
)
def test_what_is_no_device(text: str, reason: str) -> None:
    with pytest.raises(UsageError) as caught:
        declared([text])
    assert reason in caught.value.problems[0].message
    assert caught.value.problems[0].hint == "write NAME=FREE or NAME=FREE/TOTAL, in GiB"


def test_every_fault_is_named_at_once() -> None:
    with pytest.raises(UsageError) as caught:
        declared(["A", "CPU=1", "CPU=2"])
    assert [problem.message for problem in caught.value.problems] == [
        "device 'A': not of the form NAME=GiB",
        "device 'CPU' is declared twice",
    ]
