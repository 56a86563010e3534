"""What is asked of a fit: how both models are served and where they go."""

from __future__ import annotations

from dataclasses import dataclass, replace

from specrules.economics.memory import BlockType, Serving
from specrules.errors import Problem, UsageError, did_you_mean
from specrules.model.memory import MemoryFile


@dataclass(frozen=True, slots=True)
class Request:
    """How both models are served. `context` counts the tokens of all slots together.

    `heads` says that prediction layers inside the target draft. Device lists are names; an empty one of the target
    means every accelerator, else the host, and an empty one of the drafter the devices of the target.
    """

    context: int
    slots: int = 1
    unified: bool = False
    batch: int = 512
    cache_types: tuple[str, str] = ("f16", "f16")
    draft_cache_types: tuple[str, str] = ("f16", "f16")
    full_window: bool = False
    flash_attention: bool = True
    draft_length: int | None = None
    drafter_class: str | None = None
    heads: bool = False
    target_devices: tuple[str, ...] = ()
    drafter_devices: tuple[str, ...] = ()
    headroom: int = 512 << 20

    def serving(self, rules: MemoryFile, *, drafter: bool = False) -> Serving:
        """Return how a model is served. UsageError for a cache type that does not exist and slots without a cell.

        A drafter holds as many cells as the target, whatever that was rounded to, and does not take over its types.
        """
        key, value = self.draft_cache_types if drafter else self.cache_types
        served = Serving(
            context=self.context,
            slots=self.slots,
            key_type=_type(key, rules),
            value_type=_type(value, rules),
            unified=self.unified,
            batch=self.batch,
            full_window=self.full_window,
            flash_attention=self.flash_attention,
        )
        try:
            cells = served.stream_cells * served.streams
        except ValueError as error:
            raise UsageError(str(error)) from None
        return replace(served, context=cells) if drafter else served


def _type(name: str, rules: MemoryFile) -> BlockType:
    kind = rules.cache_types.get(name)
    if kind is None:
        known = ", ".join(rules.cache_types)
        hint = did_you_mean(name, rules.cache_types)
        raise UsageError(Problem(f"no cache type {name!r}; known are {known}", hint=hint))
    return BlockType(kind.block, kind.bytes)
