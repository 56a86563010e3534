"""What drafting takes from a target, in tokens of context and in requests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from specrules.economics.memory import CELL_MULTIPLE, cells, largest, row_bytes
from specrules.evidence.devices import Device
from specrules.evidence.memory.judge import state_of
from specrules.evidence.memory.needs import Pair, needs
from specrules.evidence.memory.request import Request
from specrules.evidence.memory.size import ModelSize
from specrules.evidence.memory.tally import Tally
from specrules.model.fit import FitTaken, Span
from specrules.model.memory import MemoryFile

MOST_SLOTS = 256
"""llama.cpp serves no more sequences at once (LLAMA_MAX_SEQ)."""
LONGEST_CONTEXT = 1 << 24
"""What is searched where the file does not say how long a context the model was trained for."""


def bytes_per_token(size: ModelSize, request: Request, rules: MemoryFile) -> int | None:
    """Return what one more token of context costs over all layers; None where the cache is not known exactly.

    Layers with a window and layers with a state cost nothing more.
    """
    if size.plan is None:
        return None
    serving = request.serving(rules)
    total = 0.0
    for cache in size.plan.trunk:
        if cache.window is not None and not request.full_window:
            continue
        values = cache.value_width if request.flash_attention else cache.wide_values
        row = row_bytes(cache.key_width, serving.key_type) + row_bytes(values, serving.value_type)
        total += row / cache.ratio
    return int(total)


def taken(pair: Pair, request: Request, rules: MemoryFile, devices: Sequence[Device]) -> FitTaken:
    """Return what drafting costs on the devices that hold layers of the target.

    That is what is there with drafting and not without it; what the target needs in both cases cancels, its intervals
    too. Tokens and requests are those of the high end.
    """
    home = pair.home.names
    before, after = (needs(pair, request, rules, drafting=drafts).needed(home) for drafts in (False, True))
    low = max(after[0] - before[0], 0)
    high = None if before[1] is None or after[1] is None else max(after[1] - before[1], 0)
    per_token = bytes_per_token(pair.target, request, rules)
    per_request = _per_request(pair.target, request, rules)
    without = _Search(pair, request, rules, devices, drafting=False)
    beside = replace(without, drafting=True)
    return FitTaken(
        size=Span(low=low, high=high),
        tokens=-(-high // per_token) if per_token and high is not None else None,
        requests=round(high / per_request, 2) if per_request and high is not None else None,
        context_without=without.context(),
        context_with=beside.context(),
        slots_without=without.slots(),
        slots_with=beside.slots(),
        trained_context=pair.target.trained_context,
    )


def _per_request(size: ModelSize, request: Request, rules: MemoryFile) -> float | None:
    """Bytes of one slot with its share of the context."""
    if size.plan is None:
        return None
    serving = request.serving(rules)
    cache = sum(
        cells(row, serving)
        * (
            row_bytes(row.key_width, serving.key_type)
            + row_bytes(row.value_width if request.flash_attention else row.wide_values, serving.value_type)
        )
        for row in size.plan.trunk
    )
    return (cache + sum(size.states(request.slots).values())) / request.slots


@dataclass(frozen=True, slots=True)
class _Search:
    """The largest context and number of slots that fit with the headroom, with drafting or without."""

    pair: Pair
    request: Request
    rules: MemoryFile
    devices: Sequence[Device]
    drafting: bool

    def context(self) -> int | None:
        """Most tokens over all slots, up to what the target was trained for."""
        step = CELL_MULTIPLE * (1 if self.request.unified else self.request.slots)
        most = (self.pair.target.trained_context or LONGEST_CONTEXT) * self.request.slots
        return self._most(lambda context: replace(self.request, context=context), most, step)

    def slots(self) -> int | None:
        """Most slots, each with as many tokens as it has now."""
        each = max(self.request.context // self.request.slots, 1)
        return self._most(lambda slots: replace(self.request, context=each * slots, slots=slots), MOST_SLOTS, 1)

    def _most(self, variant: Callable[[int], Request], most: int, step: int) -> int | None:
        """Return the largest number that fits, None where sizes are open above or no device says what is free."""
        first = self._needs(variant(step))
        known = [device for device in self.devices if device.free is not None and device.name in first.devices]
        if not known or first.needed(first.devices)[1] is None:
            return None

        def fits(number: int) -> bool:
            tally = self._needs(variant(number))
            found = (state_of(device, self.devices, tally, self.request.headroom) for device in known)
            return all(state in {None, "fits"} for state in found)

        return largest(fits, most, step)

    def _needs(self, request: Request) -> Tally:
        return needs(self.pair, request, self.rules, drafting=self.drafting)
