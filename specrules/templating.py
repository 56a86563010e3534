"""Jinja as specrules uses it: it renders and does nothing else, and a name that is not there is an error.

Rule messages and report templates share the environment and its filters, so a number looks the same everywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import BaseLoader
    from jinja2.sandbox import SandboxedEnvironment

UNKNOWN = "?"
_SMALLEST_FIXED = 1e-4
_LARGEST_FIXED = 1e7


def environment(
    loader: BaseLoader | None = None, finalize: Callable[[Any], Any] | None = None, *, autoescape: bool = False
) -> SandboxedEnvironment:
    """Return a new sandboxed environment with the filters `num`, `percent` and `plural` and the test `known`.

    Templates cannot change what they are given, and an undefined name raises where it is used. `finalize` gets every
    value that is printed. Escaping is off unless asked for: only the writer of a format knows what it has to escape.
    """
    import jinja2
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    made = ImmutableSandboxedEnvironment(
        loader=loader,
        finalize=finalize,
        autoescape=autoescape,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(num=num, percent=percent, plural=plural)
    made.tests["known"] = is_known
    return made


def is_known(value: object) -> bool:
    """Tell whether a value is there; None stands for an unknown one."""
    return value is not None


def num(value: float | None, unit: str = "") -> str:
    """Return a number as text, followed by its unit: `25 tok/s`, `0.7486`, `? ms` for None.

    Fractions get up to 4 significant digits. The whole part is never rounded, since counts, ids and version numbers
    are numbers too. Exponents appear below 1e-4 and from 1e7 on; negative zero is zero. `tokens` and other units in the
    plural lose their `s` at exactly 1.
    """
    text = UNKNOWN if value is None else _digits(value, 4)
    if text == "1" and unit in _PLURAL_UNITS:
        unit = unit.removesuffix("s")
    return f"{text} {unit}" if unit else text


def percent(share: float | None) -> str:
    """Return a share as text in percent with up to 3 significant digits: `41 %`, `0.05 %`, `? %` for None."""
    return f"{UNKNOWN if share is None else _digits(share * 100, 3)} %"


def plural(count: float | None, one: str, many: str = "") -> str:
    """Return a count with its noun: `1 line`, `3 lines`, `? lines` for None. `many` is `one` with an s by default."""
    text = num(count)
    return f"{text} {one if text == '1' else many or one + 's'}"


_PLURAL_UNITS = frozenset({"tokens", "rounds", "rows", "days", "minutes", "requests", "sequences"})


def _digits(value: float, significant: int) -> str:
    size = abs(value)
    if size == 0:
        return "0"
    if size < _SMALLEST_FIXED or size >= _LARGEST_FIXED:
        mantissa, mark, exponent = f"{value:.{significant}g}".partition("e")
        return f"{mantissa}e{int(exponent)}" if mark else mantissa
    if size >= 10 ** (significant - 1):
        return f"{value:.0f}"
    return f"{value:.{significant}g}"
