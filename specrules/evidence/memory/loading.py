"""One model on its way to its devices: weights, caches, states and buffers, each where it goes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from specrules.economics.memory import STATE_BYTES, Serving, cells
from specrules.evidence.memory.places import Places
from specrules.evidence.memory.size import ModelSize
from specrules.evidence.memory.tally import CLOSED, Tally
from specrules.model.fit import Owner
from specrules.model.memory import MemoryFile

_FLOAT, _HALF = 4, 2
ENGINE = "the engine itself"


@dataclass(frozen=True)
class Loading:
    """What one model adds to a tally. The layer behind the last one is the output."""

    tally: Tally
    size: ModelSize
    where: Places
    owner: Owner
    serving: Serving
    rules: MemoryFile
    vocabulary: int | None

    def weights(self, chosen: range) -> None:
        """Add the weights of some layers, and those of input and output."""
        account = self.tally.of(self.owner, "weights")
        wanted = {layer: size for layer, size in self.size.weights.layers.items() if layer in chosen}
        known = {layer: size for layer, size in wanted.items() if layer in self._layers}
        account.add_layers(self._layers, known, known)
        inputs, outputs = self.size.weights.inputs, self.size.weights.outputs
        apart = self.where.input.name != self._output
        if apart:
            outputs += self.size.weights.copied
        outputs += sum(wanted.values()) - sum(known.values())
        account.add(self.where.input.name, inputs, inputs)
        account.add(self._output, outputs, outputs + (0 if apart else self.size.twice))

    def prediction_weights(self) -> None:
        """Add the weights of prediction layers, which are loaded only where they draft."""
        size = self.size
        ahead = {layer: bytes_ for layer, bytes_ in size.weights.layers.items() if layer not in size.trunk}
        self.tally.of(self.owner, "weights").add_layers(self._layers, ahead, ahead)

    def cache(self, *, ahead: bool = False) -> None:
        """Add the rows of all layers, or those of the prediction layers."""
        found = self.size.caches(self.serving, ahead=ahead)
        how = CLOSED if found.exact else "unknown" if found.high is None else "bounds"
        if self.size.plan is None and self.size.answered and found.high is not None:
            how = ENGINE
        rows = {layer: device for layer, device in self._layers.items() if layer < self.size.layers}
        self.tally.of(self.owner, "cache").add_layers(rows, found.low, found.high, how)

    def states(self, copies: int = 0) -> None:
        """Add the states of recurrent layers. The copies that a drafter causes are the drafter's."""
        plain = self.size.states(self.serving.slots)
        self.tally.of(self.owner, "states").add_layers(self._layers, plain, plain)
        if copies:
            kept = self.size.states(self.serving.slots, copies)
            extra = {layer: kept[layer] - plain[layer] for layer in plain}
            how = f"{CLOSED}, {copies} more of each state"
            self.tally.of("drafter", "snapshots").add_layers(self._layers, extra, extra, how)

    def compute(self, outputs: int, copies: int = 0) -> None:
        """Add the buffers of a pass: masks, scores and output rows are counted, the rest is the declared interval.

        With copies of states one layer of them may be held once more, and without flash attention one more head of
        scores: only the high end counts that. What no interval covers takes the engine's word for its high end.
        """
        size, serving = self.size, self.size.as_served(self.serving)
        account = self.tally.of(self.owner, "compute")
        seen = self._cells_seen()
        exact = serving.rows * sum(seen) * (_HALF if serving.flash_attention else _FLOAT)
        more = 0
        if not serving.flash_attention:
            more = serving.rows * max(seen, default=0) * _FLOAT
            exact += more * size.heads
        widest = size.widest_state()
        if copies and widest is not None:
            more += widest.elements * STATE_BYTES * serving.slots * (1 + copies)
        kinds = {device.name: device.kind for device in self.where.devices}
        covered = size.hidden is not None and size.plan is not None and not size.plan.open_buffers
        for device in dict.fromkeys(self._layers.values()):
            base = exact + (outputs * (self.vocabulary or 0) * _FLOAT if device == self._output else 0)
            declared = self.rules.estimate("compute", kinds[device]) if covered and self.vocabulary else None
            if declared is None:
                told = size.answered_buffers
                account.add(device, 0, None if told is None else told + more, "unknown" if told is None else ENGINE)
                continue
            per_row = serving.rows * (size.hidden or 0) * _FLOAT
            low, high = base + round(declared.low * per_row), base + round(declared.high * per_row) + more
            account.add(device, low, high, f"declared interval ({declared.known})")

    @cached_property
    def _layers(self) -> dict[int, str]:
        return self.where.layers(self.size.layers)

    @property
    def _output(self) -> str:
        return self._layers[self.size.layers]

    def _cells_seen(self) -> list[int]:
        """Cells of one stream that a row can see, for every kind of cache."""
        if self.size.plan is None:
            return [self.serving.stream_cells]
        kinds = {(cache.window, cache.ratio): cache for cache in self.size.plan.trunk}
        return [
            cells(cache, self.serving) // (self.serving.slots if cache.split else self.serving.streams)
            for cache in kinds.values()
        ]
