"""Version schemes of engines and their order."""

from __future__ import annotations

import re
from typing import Literal

VersionScheme = Literal["build", "dotted"]
_BUILD = re.compile(r"^b?(\d+)$")
_DOTTED = re.compile(r"^v?(\d+(?:\.\d+)*)(?:(?:[.-]?(?:a|b|rc|alpha|beta|dev|pre)[.-]?\d*)|(?:[.+-]post\d+)|\+.*)?$")


def version_key(version: str, scheme: VersionScheme) -> tuple[int, ...]:
    """The sort key of a version: build numbers (`b11434`) or dotted numbers (`0.33.0`, a pre-release sorts first).

    Raises ValueError for text that does not follow the scheme.
    """
    if scheme == "build":
        match = _BUILD.match(version)
        if match is None:
            raise ValueError(f"{version!r} is not a build number such as b11434")
        return (int(match[1]),)
    match = _DOTTED.match(version)
    if match is None:
        raise ValueError(f"{version!r} is not a version such as 0.33.0")
    numbers = [int(number) for number in match[1].split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    is_pre = bool(re.search(r"(a|b|rc|alpha|beta|dev|pre)", version[match.end(1) :]))
    return (*numbers, -1) if is_pre else tuple(numbers)


def in_range(version: str | None, since: str | None, until: str | None, scheme: VersionScheme) -> bool | None:
    """Whether `version` lies in [since, until]; None where that cannot be said because the version is unknown."""
    if since is None and until is None:
        return True
    if version is None:
        return None
    key = version_key(version, scheme)
    if since is not None and key < version_key(since, scheme):
        return False
    return until is None or key <= version_key(until, scheme)
