"""One thing that a rule of the scope `deployment` is asked about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from specrules.model.deployment import Place


@dataclass(frozen=True, slots=True)
class Item:
    """A setting, a method, a pair of methods or a claim, as the values that a rule reads.

    `key` names it without positions; `fix` says what to write instead, where the rule cannot. `conditions` says of
    names in `values` by which expression they were found: as written, and with values put in. `missing` would settle
    what is unknown in `values`.
    """

    values: Mapping[str, object]
    key: str
    place: Place
    conditions: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    missing: frozenset[str] = frozenset()
    fix: str = ""
