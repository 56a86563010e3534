"""The third truth value: what is not known, which inputs would settle it, and what stands in the way."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NoReturn, TypeGuard


@dataclass(frozen=True, slots=True)
class Unknown:
    """A result that could not be reached.

    `missing` holds the names of the inputs that would settle it: with all of them filled in, the result is a value or
    an unknown that misses nothing and has only reasons. `reasons` says in words why a value does not exist, as in a
    division by zero. When `missing` is empty no input that is still open changes anything.
    """

    missing: frozenset[str] = frozenset()
    reasons: tuple[str, ...] = ()

    def __bool__(self) -> NoReturn:
        """Refuse: taken for true or for false, an unknown would pass or fail a gate by accident."""
        raise TypeError("an unknown is neither true nor false; test it with is_unknown()")


def is_unknown(value: object) -> TypeGuard[Unknown]:
    """Tell whether `value` is an `Unknown`."""
    return isinstance(value, Unknown)


def any_settles(unknowns: Iterable[Unknown]) -> Unknown:
    """Join unknowns of which one alone may decide, as in `and` and `or`: everything that is missing or in the way."""
    found = tuple(unknowns)
    return Unknown(frozenset().union(*(one.missing for one in found)), _reasons(found))


def all_needed(unknowns: Iterable[Unknown]) -> Unknown:
    """Join unknowns that are all needed, as in a sum. Where one of them cannot be settled, nothing is worth asking."""
    found = tuple(unknowns)
    if all(one.missing for one in found):
        return any_settles(found)
    return Unknown(frozenset(), _reasons(found))


def whole(cell: object) -> object:
    """Return the cell, or one `Unknown` for a list in which an entry is unknown."""
    if isinstance(cell, tuple):
        unknown = [entry for entry in cell if isinstance(entry, Unknown)]
        if unknown:
            return all_needed(unknown)
    return cell


def _reasons(unknowns: tuple[Unknown, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(reason for one in unknowns for reason in one.reasons))
