"""Values as text, and an expression with its values in place of the names."""

from __future__ import annotations

from collections.abc import Callable

from specrules.expressions import tree
from specrules.expressions.unknown import Unknown, is_unknown

UNKNOWN = "?"
SIGNIFICANT_DIGITS = 6
# Up to here every integer is a float, and printing it whole is shorter to read than 1.71799e10.
_WHOLE = 1e15


def show_number(value: float) -> str:
    """Return a number in its shortest readable form: whole numbers whole, others with up to 6 significant digits."""
    if value == int(value) and abs(value) < _WHOLE:
        return str(int(value))
    mantissa, mark, exponent = f"{value:.{SIGNIFICANT_DIGITS}g}".partition("e")
    return f"{mantissa}e{int(exponent)}" if mark else mantissa


def show(cell: object) -> str:
    """Return a value as it would be written in an expression, `?` where it is unknown."""
    match cell:
        case Unknown():
            return UNKNOWN
        case bool():
            return "true" if cell else "false"
        case float() | int():
            return show_number(cell)
        case tuple():
            return f"[{', '.join(show(entry) for entry in cell)}]"
    return _show_string(str(cell))


def _show_string(text: str) -> str:
    quoted = repr(text)
    # repr prefers single quotes; rules are mostly written with double ones.
    return f'"{quoted[1:-1]}"' if quoted.startswith("'") and '"' not in text and "'" not in text else quoted


def show_result(result: object) -> str:
    """Return a result as text; an unknown one with what would settle it or what stands in the way."""
    if not is_unknown(result):
        return show(result)
    parts = [f"needs {', '.join(sorted(result.missing))}"] if result.missing else []
    return f"unknown: {'; '.join([*parts, *result.reasons])}"


def substitute(text: str, names: list[tree.Name], cell_of: Callable[[str], object]) -> str:
    """Return the text with the values of its names in their place; everything else stays as it was written."""
    parts: list[str] = []
    position = 0
    for name in names:
        before = text[position : name.start]
        shown = show(cell_of(name.name))
        # A minus sign binds tighter than any operator of the language; the brackets only spare the reader `3 - -2`.
        sign_before = before.rstrip().endswith(("+", "-", "*", "/"))
        parts += [before, f"({shown})" if shown.startswith("-") and sign_before else shown]
        position = name.end
    return "".join([*parts, text[position:]]).strip()
