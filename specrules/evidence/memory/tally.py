"""What goes to each device, added up part by part."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from specrules.model.fit import FitPart, Owner, PartKind, Span

CLOSED = "closed form"


@dataclass
class _Entry:
    low: int = 0
    high: int | None = 0
    how: list[str] = field(default_factory=list)


class Tally:
    """Sizes by device, owner and kind. An unknown high end stays unknown in every sum."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str, Owner, PartKind], _Entry] = {}

    def of(self, owner: Owner, kind: PartKind) -> Account:
        """Return what sizes of one owner and kind are added to."""
        return Account(self, owner, kind)

    def entry(self, device: str, owner: Owner, kind: PartKind) -> _Entry:
        """Return the sum of one kind on a device, which begins at zero."""
        return self._entries.setdefault((device, owner, kind), _Entry())

    @property
    def devices(self) -> tuple[str, ...]:
        """Names of the devices that got anything."""
        return tuple(dict.fromkeys(device for device, _, _ in self._entries))

    def parts(self, device: str) -> tuple[FitPart, ...]:
        """Return the parts on a device."""
        return tuple(
            FitPart(owner=owner, kind=kind, size=Span(low=entry.low, high=entry.high), how="; ".join(entry.how))
            for (name, owner, kind), entry in self._entries.items()
            if name == device
        )

    def needed(self, devices: Iterable[str]) -> tuple[int, int | None]:
        """Return the sum over some devices: its low end, and its high end where all are bounded."""
        wanted = set(devices)
        found = [entry for (name, _, _), entry in self._entries.items() if name in wanted]
        highs = [entry.high for entry in found]
        high = None if any(end is None for end in highs) else sum(end for end in highs if end is not None)
        return sum(entry.low for entry in found), high


@dataclass(frozen=True, slots=True)
class Account:
    """Sizes of one owner and kind on their way into a tally."""

    tally: Tally
    owner: Owner
    kind: PartKind

    def add(self, device: str, low: int, high: int | None, how: str = CLOSED) -> None:
        """Add a size. Nothing is kept of one that is zero at both ends."""
        if low == 0 and high == 0:
            return
        entry = self.tally.entry(device, self.owner, self.kind)
        entry.low += low
        entry.high = None if entry.high is None or high is None else entry.high + high
        if how not in entry.how:
            entry.how.append(how)

    def add_layers(
        self, places: Mapping[int, str], low: Mapping[int, int], high: Mapping[int, int] | None, how: str = CLOSED
    ) -> None:
        """Add sizes by layer to the devices of the layers. With `high` None every device with layers is open above."""
        for layer in {**low, **(high or {})}:
            self.add(places[layer], low.get(layer, 0), 0 if high is None else high.get(layer, 0), how)
        if high is None:
            for device in dict.fromkeys(places.values()):
                self.add(device, 0, None, how)
