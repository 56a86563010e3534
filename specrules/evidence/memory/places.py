"""Which device holds which layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from specrules.economics.memory import layer_devices
from specrules.errors import Problem, UsageError, did_you_mean
from specrules.evidence.devices import Device

HOST = "CPU"
UNASKED_HOST = Device(HOST, None, None, "not declared")


@dataclass(frozen=True, slots=True)
class Places:
    """The devices of one model. Without an accelerator among them all of it lies on the host."""

    devices: tuple[Device, ...]
    host: Device

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the devices that hold layers."""
        return tuple(device.name for device in self.devices)

    @property
    def input(self) -> Device:
        """Where the input layer lies: beside accelerators of their own memory it stays on the host."""
        first = self.devices[0]
        return self.host if first.kind == "accelerator" and not first.unified else first

    def layers(self, count: int) -> dict[int, str]:
        """Return the device of each layer; the output layer has the number that follows.

        Several devices share the layers as llama.cpp does without --tensor-split: by their free memory.
        """
        free = [device.free for device in self.devices]
        shares = [1.0] * len(free) if any(not share for share in free) else [float(share or 0) for share in free]
        return {layer: self.names[device] for layer, device in enumerate(layer_devices(count, shares))}


def places(known: Sequence[Device], names: Sequence[str]) -> Places:
    """Return the devices of a model by name; without names every accelerator, else the host.

    UsageError for a name that no device has.
    """
    host = next((device for device in known if device.kind == "host"), UNASKED_HOST)
    by_name = {device.name: device for device in known}
    problems = [
        Problem(f"no device {name!r}; known are {', '.join(by_name) or 'none'}", hint=did_you_mean(name, by_name))
        for name in names
        if name not in by_name
    ]
    if problems:
        raise UsageError(problems)
    chosen = tuple(by_name[name] for name in dict.fromkeys(names))
    chosen = chosen or tuple(device for device in known if device.kind == "accelerator") or (host,)
    return Places(chosen, host)
