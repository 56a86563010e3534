"""Whether one incumbent drafts with several drafters, so that its counters are those of none."""

from __future__ import annotations

import re

from specrules.model.fact import Facts

_JOINED = re.compile(r"\s*(?:[+,/&]|\band\b|\bwith\b)\s*")


def mixed_drafters(facts: Facts) -> tuple[float | None, str | None]:
    """How many drafters the incumbent's numbers are of beyond the first, and how that is known; None: not known."""
    method = facts.value("incumbent.method")
    names = [name for name in _JOINED.split(method) if name] if isinstance(method, str) else []
    if len(names) > 1:
        return float(len(names) - 1), f"the incumbent drafts with {' and '.join(names)}"
    if facts.value("incumbent.mixed_drafters") is True:
        return 1.0, "its log counts rounds of another drafter beside those of the method"
    return (None if facts.value("incumbent.drafting") is None else 0.0), None
