"""Bytes of weights, caches and states, as llama.cpp lays them out. Exact integer arithmetic, no estimates.

Sizes are bytes, widths are elements per token, cells are tokens that a cache holds. What an architecture stores in
which layer comes from outside (`rules/memory.yaml`); this module only counts. Formulas: llama.cpp b11434,
src/llama-context.cpp (cells per stream), llama-kv-cache.cpp and llama-kv-cache-iswa.cpp (rows, windows),
llama-kv-cache-dsv4.cpp (compressed rows), llama-memory-recurrent.cpp (states), llama-model.cpp (layers per device).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

CELL_MULTIPLE = 256
"""Contexts, windows and compressed rows are padded to this many cells."""
STATE_BYTES = 4
"""Recurrent states are 32-bit floats whatever the cache types are."""


@dataclass(frozen=True, slots=True)
class BlockType:
    """A type of numbers: `bytes` for a block of so many `elements`, as 34 for 32 in q8_0."""

    elements: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Serving:
    """How a model is served.

    `context` counts the tokens of all slots together, as `-c` does. `unified` slots share one pool of cells, else each
    has its part. `batch` is the number of rows of one pass.
    """

    context: int
    slots: int
    key_type: BlockType
    value_type: BlockType
    unified: bool = False
    batch: int = 512
    full_window: bool = False
    flash_attention: bool = True

    @property
    def stream_cells(self) -> int:
        """Cells of one stream. ValueError where the slots leave no cell."""
        if self.context < 1 or self.slots < 1:
            raise ValueError(f"a context of {self.context} for {self.slots} slots holds nothing")
        pool = padded(self.context, CELL_MULTIPLE)
        if self.unified:
            return pool
        if pool < self.slots:
            raise ValueError(f"a context of {pool} tokens leaves nothing for each of {self.slots} slots")
        return padded(pool // self.slots, CELL_MULTIPLE)

    @property
    def streams(self) -> int:
        """How many pools of cells there are."""
        return 1 if self.unified else self.slots

    @property
    def rows(self) -> int:
        """Rows of one pass: no more than the context holds."""
        return min(self.batch, self.context)


@dataclass(frozen=True, slots=True)
class Cache:
    """What one layer stores per token: `key_width` and `value_width` elements, the latter 0 where keys are enough.

    `wide_values` is the width of values where flash attention is off: that of the widest layer. `window` is the number
    of tokens that a sliding window looks back, None for a layer that sees everything. `ratio` tokens share one row.
    With `split` every slot has a pool of its own even where slots are unified.
    """

    layer: int
    key_width: int
    value_width: int
    wide_values: int
    window: int | None = None
    ratio: int = 1
    split: bool = False


@dataclass(frozen=True, slots=True)
class State:
    """What one recurrent layer stores per slot, in elements. Drafting with `snapshots` keeps K further copies."""

    layer: int
    elements: int
    snapshots: bool = False


def padded(count: int, multiple: int) -> int:
    """Return the smallest multiple that is not below the count."""
    return -(-count // multiple) * multiple


def row_bytes(width: int, kind: BlockType) -> int:
    """Return the bytes of a row. ValueError where the width is no whole number of blocks."""
    if width % kind.elements:
        raise ValueError(f"rows of {width} elements are no whole number of blocks of {kind.elements}")
    return width // kind.elements * kind.bytes


def cells(cache: Cache, serving: Serving) -> int:
    """Return the cells of a layer over all streams."""
    per_stream, streams, together = serving.stream_cells, serving.streams, serving.slots if serving.unified else 1
    if cache.split:
        streams, together = serving.slots, 1
    if cache.window is not None and not serving.full_window:
        per_stream = padded(min(per_stream, cache.window * together + serving.rows), CELL_MULTIPLE)
    if cache.ratio > 1:
        per_stream = padded(-(-per_stream // cache.ratio), CELL_MULTIPLE)
    return per_stream * streams


def cache_bytes(caches: Iterable[Cache], serving: Serving) -> dict[int, int]:
    """Return the bytes of all caches by layer. ValueError for a row that is no whole number of blocks."""
    found: dict[int, int] = {}
    for cache in caches:
        values = cache.value_width if serving.flash_attention else cache.wide_values
        row = row_bytes(cache.key_width, serving.key_type) + row_bytes(values, serving.value_type)
        found[cache.layer] = found.get(cache.layer, 0) + row * cells(cache, serving)
    return found


def state_bytes(states: Iterable[State], slots: int, snapshots: int = 0) -> dict[int, int]:
    """Return the bytes of all states by layer, with `snapshots` copies beside each where the layer can keep them."""
    found: dict[int, int] = {}
    for state in states:
        copies = slots * (1 + (snapshots if state.snapshots else 0))
        found[state.layer] = found.get(state.layer, 0) + STATE_BYTES * state.elements * copies
    return found


def layer_devices(layers: int, shares: Sequence[float]) -> tuple[int, ...]:
    """Return the device of every layer and, last, of the output, where devices take layers by their shares.

    ValueError without a share above zero.
    """
    ends = list(accumulate(shares))
    if not ends or min(shares) < 0 or ends[-1] <= 0:
        raise ValueError("devices need shares, none below zero and one above it")
    parts = [end / ends[-1] for end in ends]
    return tuple(bisect_right(parts, layer / (layers + 1)) for layer in range(layers + 1))


def largest(fits: Callable[[int], bool], most: int, step: int = 1) -> int:
    """Return the largest multiple of `step` up to `most` that fits, 0 where none does.

    `fits` must not become true again once it was false.
    """
    low, high = 0, max(most, 0) // step
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle * step):
            low = middle
        else:
            high = middle - 1
    return low * step
