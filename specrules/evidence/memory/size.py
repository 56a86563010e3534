"""The size of one model: weights exactly, caches exactly or between bounds, and what else its header says of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from specrules.economics.memory import Cache, Serving, State, cache_bytes, state_bytes
from specrules.evidence.gguf import Header
from specrules.evidence.memory.keys import CannotSizeError, Keys
from specrules.evidence.memory.plan import Plan, evaluated, full_rows, plan, unlisted_keys
from specrules.evidence.memory.weights import Weights, weights
from specrules.model.memory import MemoryFile

T = TypeVar("T")

DEFAULT_CLASS = "model"
HEAD_CLASS = "mtp-head"


@dataclass(frozen=True, slots=True)
class CacheSize:
    """Bytes by layer; `high` is None where nothing bounds them. `exact` where both are one closed form."""

    low: dict[int, int]
    high: dict[int, int] | None

    @property
    def exact(self) -> bool:
        """Tell whether one number is known."""
        return self.low == self.high


@dataclass(frozen=True, slots=True)
class ModelSize:
    """A model. `plan` is None for an architecture that is not described; `reason` then says what is missing.

    `ceiling` holds the rows of plain attention in every layer, where the header gives no sign of anything else.
    `answered` is what the engine said of rows and states for one number of cells and slots: `(cells, slots, bytes)`,
    and `answered_buffers` what it said of the buffers of a pass that gives an output for every row.
    """

    header: Header
    architecture: str | None
    plan: Plan | None
    ceiling: tuple[Cache, ...] | None
    reason: str
    weights: Weights
    hidden: int | None
    heads: int
    trained_context: int | None
    drafter_class: str
    answered: tuple[int, int, int] | None = None
    answered_buffers: int | None = None

    @property
    def layers(self) -> int:
        """Layers of trunk and prediction layers together, as far as the file shows."""
        if self.plan is not None:
            return self.plan.all_layers
        return max([*self.weights.layers, *(cache.layer for cache in self.ceiling or ())], default=-1) + 1

    @property
    def trunk(self) -> range:
        """The layers that serve without drafting."""
        return range(self.plan.layers) if self.plan and self.plan.layers else range(self.layers)

    @property
    def twice(self) -> int:
        """Bytes of an embedding that the engine may hold twice on one device."""
        return self.weights.copied if self.plan and self.plan.embedding_twice else 0

    def as_served(self, serving: Serving) -> Serving:
        """Return how the engine serves this model: with some it never uses flash attention."""
        return replace(serving, flash_attention=False) if self.plan and not self.plan.flash_attention else serving

    def caches(self, serving: Serving, *, ahead: bool = False) -> CacheSize:
        """Return the bytes of rows per layer; `ahead` asks for those of the prediction layers.

        Raises CannotSizeError for a cache type that does not fit the rows.
        """
        serving = self.as_served(serving)
        try:
            if self.plan is not None:
                exact = cache_bytes(self.plan.heads if ahead else self.plan.trunk, serving)
                return CacheSize(exact, exact)
            if self.answered and self.answered[:2] == (serving.stream_cells * serving.streams, serving.slots):
                return self._answered(self.answered[2])
            return CacheSize({}, None if self.ceiling is None else cache_bytes(self.ceiling, serving))
        except ValueError as error:
            raise CannotSizeError(f"{self.architecture}: {error}") from None

    def _answered(self, size: int) -> CacheSize:
        """What the engine said, spread over the layers. It prints whole MiB, rounded down."""
        low, high = (-(-total // max(self.layers, 1)) for total in (size, size + (1 << 20)))
        return CacheSize(dict.fromkeys(range(self.layers), low), dict.fromkeys(range(self.layers), high))

    def states(self, slots: int, snapshots: int = 0) -> dict[int, int]:
        """Return the bytes of states per layer, with the copies that trained heads make the engine keep."""
        return state_bytes(self.plan.states, slots, snapshots) if self.plan else {}

    def widest_state(self) -> State | None:
        """Return the largest state of a layer."""
        return max(self.plan.states, key=lambda state: state.elements, default=None) if self.plan else None


def model_size(header: Header, rules: MemoryFile) -> ModelSize:
    """Return the size of a model. Raises GgufError for a tensor of unknown type; what else is missing stays unknown."""
    taken = weights(header, rules)
    try:
        keys = Keys(header, rules.defaults)
    except CannotSizeError as error:
        return ModelSize(header, None, None, None, str(error), taken, None, 0, None, DEFAULT_CLASS)
    entry = rules.architecture(keys.architecture)
    drafter_class = (entry and entry.drafter_class) or (HEAD_CLASS if taken.ahead else DEFAULT_CLASS)
    found, ceiling, reason = None, None, ""
    try:
        found = plan(header, rules)
    except CannotSizeError as error:
        reason = str(error)
        ceiling = _ceiling(keys, rules) if entry is None else None
    widths = [_or_none(partial(evaluated, text, keys, rules)) for text in rules.hidden_widths]
    return ModelSize(
        header,
        keys.architecture,
        found,
        ceiling,
        reason,
        taken,
        max((width for width in widths if width is not None), default=None),
        _or_none(lambda: keys.number("attention.head_count")) or 0,
        _or_none(lambda: keys.number("context_length")),
        drafter_class,
    )


def _ceiling(keys: Keys, rules: MemoryFile) -> tuple[Cache, ...] | None:
    """Plain attention in every layer bounds a model whose header holds the keys of plain attention alone."""
    if unlisted_keys(keys, rules):
        return None
    return _or_none(lambda: full_rows(keys))


def _or_none(read: Callable[[], T | None]) -> T | None:
    try:
        return read()
    except CannotSizeError:
        return None
