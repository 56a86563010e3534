"""Raw values of a file as the values of fields."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from specrules.evidence.readers.compiled import CompiledField
from specrules.model.fact import FactValue

Place = int | str
"""A line number, or the path of a value inside a JSON document."""

_MAX_TEXT = 500
_MAX_PLACES = 4096
_TRUTH = {"true": True, "false": False, "yes": True, "no": False, "1": True, "0": False}


class FieldError(ValueError):
    """A value that is not of its field's type."""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One value of a field. `places` has more than one entry where it was computed from several."""

    value: FactValue
    places: tuple[Place, ...]


def to_value(item: CompiledField, raw: object) -> FactValue | None:
    """Return a raw value as the field's type, None where the field's `match` does not find its part in it.

    Raises FieldError for a value of another type, and for numbers that are not finite.
    """
    spec = item.spec
    if item.match is not None:
        part = item.match.first_group(_text(raw))
        if not part:
            return None
        raw = part
    if spec.combine == "list":
        return (_number(raw),)
    if spec.type == "number":
        return _number(raw)
    if spec.type == "numbers":
        return _numbers(raw)
    if spec.type == "flag":
        return _flag(raw, spec.values)
    text = _text(raw)
    return spec.values.get(text, text)


def _number(raw: object) -> float:
    if isinstance(raw, bool) or not isinstance(raw, int | float | str):
        raise FieldError(f"{_shown(raw)} is no number")
    try:
        number = float(raw)
    except ValueError:
        raise FieldError(f"{_shown(raw)} is no number") from None
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise FieldError(f"{_shown(raw)} is no finite number")
    return number + 0.0


def _numbers(raw: object) -> tuple[float, ...]:
    if isinstance(raw, str):
        return tuple(_number(part) for part in raw.replace(",", " ").split())
    if isinstance(raw, list):
        return tuple(_number(part) for part in raw)
    if isinstance(raw, dict):
        return _from_places(raw)
    raise FieldError(f"{_shown(raw)} is no list of numbers")


def _from_places(raw: Mapping[object, object]) -> tuple[float, ...]:
    """Return the vector that an object gives by its places, such as {"0": 7, "2": 1}; places that lack are zero."""
    places = {str(key): value for key, value in raw.items()}
    if not all(key.isascii() and key.isdigit() and int(key) < _MAX_PLACES for key in places):
        raise FieldError(f"{_shown(raw)} is no list of numbers")
    numbers = [0.0] * (max((int(key) for key in places), default=-1) + 1)
    for key, value in places.items():
        numbers[int(key)] = _number(value)
    return tuple(numbers)


def _flag(raw: object, spellings: Mapping[str, str]) -> bool:
    if isinstance(raw, bool):
        return raw
    text = str(raw).strip()
    word = spellings.get(text, text).lower()
    if word not in _TRUTH:
        raise FieldError(f"{_shown(raw)} is neither true nor false")
    return _TRUTH[word]


def _text(raw: object) -> str:
    if isinstance(raw, bool) or not isinstance(raw, str | int | float):
        raise FieldError(f"{_shown(raw)} is no text")
    # Texts end up in reports and on terminals, and JSON can spell characters that no encoding has.
    clean = "".join(char if char.isprintable() else " " for char in str(raw).strip())
    return clean if len(clean) <= _MAX_TEXT else clean[:_MAX_TEXT] + " ..."


def _shown(raw: object) -> str:
    text = ascii(raw)
    return text if len(text) <= 40 else text[:40] + "..."
