"""Lengths of time as Prometheus writes them: `90s`, `30m`, `6h`, `1d12h`."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator

_UNITS = {"w": 604800, "d": 86400, "h": 3600, "m": 60, "s": 1}
_DURATION = re.compile("".join(rf"(?:(?P<{unit}>\d{{1,6}}){unit})?" for unit in _UNITS))


def seconds(text: str) -> int:
    """Return a length of time in seconds. ValueError for text that is none, and for one of nothing."""
    match = _DURATION.fullmatch(text.strip())
    total = 0 if match is None else sum(int(match[unit] or 0) * size for unit, size in _UNITS.items())
    if total == 0:
        raise ValueError(f"{text!r} is no length of time such as 30m, 6h or 1d12h")
    return total


def _checked(text: str) -> str:
    seconds(text)
    return text


Duration = Annotated[str, AfterValidator(_checked)]
