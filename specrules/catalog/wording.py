"""The words for what pydantic finds: what was expected, what stands there, and what was probably meant.

Works on the error dictionaries of pydantic without importing it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from specrules.errors import did_you_mean

Error = Mapping[str, Any]
"""An item of `ValidationError.errors()`: type, loc, msg, input, ctx."""

UNION = "specrules_union"
"""Type of an error that stands for a union none of whose branches fits; ctx holds `phrases`."""

_NOUNS = {
    "a number": ("float_type", "float_parsing", "decimal_type", "decimal_parsing"),
    "a whole number": ("int_type", "int_parsing", "int_from_float", "int_parsing_size"),
    "true or false": ("bool_type", "bool_parsing"),
    "text": ("string_type", "string_sub_type"),
    "a mapping": ("model_type", "model_attributes_type", "dict_type", "mapping_type", "dataclass_type"),
    "a list": ("list_type", "tuple_type", "set_type", "frozen_set_type", "iterable_type"),
    "empty": ("none_required",),
    "a finite number": ("finite_number",),
    "a date such as 2026-08-01": ("date_type", "date_parsing", "date_from_datetime_parsing"),
    "a time such as 2026-08-01T12:00:00Z": ("datetime_type", "datetime_parsing", "datetime_from_date_parsing"),
    "a time of day such as 12:00:00": ("time_type", "time_parsing"),
    "a duration such as P30D": ("time_delta_type", "time_delta_parsing"),
    "a URL": ("url_type", "url_parsing", "url_scheme", "url_syntax_violation"),
}
_NOUN_OF = {kind: noun for noun, kinds in _NOUNS.items() for kind in kinds}
_LIMITS = {
    "greater_than": "must be greater than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "multiple_of": "must be a multiple of {multiple_of}",
    "string_too_short": "must have at least {min_length} characters",
    "string_too_long": "must have at most {max_length} characters",
    "string_pattern_mismatch": "must match {pattern}",
    "too_short": "must have at least {min_length} entries",
    "too_long": "must have at most {max_length} entries",
}
_QUOTED = re.compile(r"'((?:[^'\\]|\\.)*)'")
_YES_NO = {"yes": "true", "on": "true", "true": "true", "no": "false", "off": "false", "false": "false"}
_LONGEST_SHOWN = 60


def expected(error: Error) -> str | None:
    """Return what kind of value was wanted, or None where the kind is right and something else is wrong."""
    kind = error["type"]
    if kind in ("literal_error", "enum"):
        wanted = str(error["ctx"]["expected"])
        return f"one of {wanted}" if " or " in wanted else wanted
    if kind == UNION:
        return " or ".join(error["ctx"]["phrases"])
    return _NOUN_OF.get(kind)


def describe(error: Error, path: str, written: str = "") -> tuple[str, str]:
    """Return message and hint for an error at `path` (dotted; empty at the root). `written`: a number as spelled."""
    kind, value, ctx = error["type"], error["input"], error.get("ctx", {})
    name = f"'{path}'" if path else "the document"
    if kind in ("value_error", "assertion_error"):
        text = str(ctx.get("error") or error["msg"])
        return (f"{path}: {text}" if path else text), ""
    wanted = expected(error)
    if wanted is not None:
        return f"{name} must be {wanted}, {_but(value, written)}", _hint(wanted, value, written)
    if kind == "string_too_short" and ctx.get("min_length") == 1:
        return f"{name} must not be empty", ""
    if kind in _LIMITS:
        limits = {key: f"{limit:g}" if isinstance(limit, float) else limit for key, limit in ctx.items()}
        actual = limits.get("actual_length", None if kind.startswith("string_too") else shown(value, written))
        return f"{name} {_LIMITS[kind].format(**limits)}" + (f", not {actual}" if actual is not None else ""), ""
    return f"{name} {_plain(error['msg'])}", ""


def unknown_key(path: str, key: str, known: Iterable[str]) -> tuple[str, str]:
    """Return message and hint for a key that the model does not have."""
    names = sorted(known)
    hint = did_you_mean(key, names)
    if not hint and 0 < len(names) <= 10:
        hint = f"known here: {', '.join(names)}"
    return f"unknown key '{path}'", hint


def shown(value: Any, written: str = "") -> str:
    """Return a value as a user would recognise it, shortened."""
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    if value is None:
        return "empty"
    if isinstance(value, str):
        return repr(value if len(value) <= _LONGEST_SHOWN else value[:_LONGEST_SHOWN] + "...")
    return written or str(value).lower()


def _but(value: Any, written: str) -> str:
    return "but it is empty" if value is None else f"not {shown(value, written)}"


def _hint(wanted: str, value: Any, written: str) -> str:
    """Return what to write instead, where the value is a well-known slip."""
    if wanted == "text" and isinstance(value, int | float):
        return f'put it in quotes: "{written or str(value).lower()}"'
    if isinstance(value, str):
        if wanted == "true or false" and value.lower() in _YES_NO:
            return f"write {_YES_NO[value.lower()]}"
        number = _number_hint(value, whole="a whole number" in wanted) if "number" in wanted else ""
        return number or did_you_mean(value, _QUOTED.findall(wanted))
    return ""


def _number_hint(text: str, *, whole: bool) -> str:
    bare = text.replace("_", "").replace(",", "").strip()
    if re.fullmatch(r"[-+]?[0-9]+[eE]\+?[0-9]{1,2}", bare):
        mantissa, exponent = re.split("[eE]", bare)
        return f"write {int(mantissa) * 10 ** int(exponent)}" if whole else f"write {mantissa}.0e{exponent.lstrip('+')}"
    if re.fullmatch(r"[-+]?[0-9]+[eE]-[0-9]+", bare):
        return f"write {re.sub('[eE]', '.0e', bare)}"
    if not re.fullmatch(r"[-+]?[0-9]+(\.[0-9]*)?", bare):
        return ""
    trimmed = re.sub(r"^([-+]?)0+(?=[0-9])", r"\1", bare)
    return "leave out the quotes" if trimmed == text else f"write {trimmed}"


def _plain(message: str) -> str:
    """Return a message of pydantic that has no words of its own here, as the rest of a sentence."""
    text = re.sub(r"^(Input|Value|String|List|Tuple|Dictionary) should ", "must ", message)
    return text if text.startswith("must ") else f"is refused: {text[:1].lower()}{text[1:]}"
