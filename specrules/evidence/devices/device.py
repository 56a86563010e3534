"""A device and the memory on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

MIB = 1 << 20
GIB = 1 << 30
HOST_NAMES = frozenset({"cpu", "host", "ram"})


@dataclass(frozen=True, slots=True)
class Device:
    """An accelerator or the host memory: bytes in all and bytes free, None where nobody says.

    A `unified` device shares its memory with the host. `source` says who told.
    """

    name: str
    free: int | None
    total: int | None
    source: str
    unified: bool = False

    @property
    def kind(self) -> Literal["host", "accelerator"]:
        """Whether this is the memory of the host."""
        return "host" if self.name.casefold() in HOST_NAMES else "accelerator"


@dataclass(frozen=True, slots=True)
class Found:
    """Devices that a probe found, and what it has to say about them."""

    devices: tuple[Device, ...] = ()
    notes: tuple[str, ...] = ()
