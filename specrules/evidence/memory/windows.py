"""Which layers look back a limited number of tokens, and how far."""

from __future__ import annotations

from specrules.evidence.memory.keys import CannotSizeError, Keys
from specrules.model.memory import Architecture, Window

PATTERN = "attention.sliding_window_pattern"


def window_sizes(
    keys: Keys, entry: Architecture, layers: int, every: int, recurrent: tuple[bool, ...]
) -> tuple[int | None, ...]:
    """Return the window of every layer, None for one without. Raises CannotSizeError where the header does not tell."""
    window = entry.window
    if window is None:
        return (None,) * every
    size = _size(keys, window, layers)
    if size is None:
        return (None,) * every
    flags = tuple(not flag for flag in recurrent) if window.every_layer else _flags(keys, window, layers, every)
    return tuple(size if flag else None for flag in flags)


def _size(keys: Keys, window: Window, layers: int) -> int | None:
    if window.only_block_counts and layers not in window.only_block_counts:
        return None
    said = keys.number("attention.sliding_window")
    if said is None and window.optional:
        return None
    if said == 0 and (window.optional or window.fixed):
        return None
    if window.fixed or said is None:
        if window.size is None:
            raise CannotSizeError(f"the header lacks {keys.architecture}.attention.sliding_window")
        return window.size
    return said


def _flags(keys: Keys, window: Window, layers: int, every: int) -> tuple[bool, ...]:
    listed = keys.flags(PATTERN, every)
    if listed is not None:
        return listed
    period = window.period
    if period is None:
        raise CannotSizeError(f"the header lacks the list {keys.architecture}.{PATTERN}")
    said = keys.number(PATTERN)
    period = period if said is None else said
    full = 0 if window.full_first else period - 1
    return tuple(layer < layers and (period == 0 or layer % period != full) for layer in range(every))
