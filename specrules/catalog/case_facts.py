"""The facts that a case can hold, by their dotted names, as its model says."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Literal, get_args, get_origin

from pydantic import BaseModel

from specrules.model.case import Case
from specrules.model.quantity import Quantity

FactKind = Literal["list", "number", "flag", "text"]


@cache
def fact_kind(name: str) -> FactKind | None:
    """What a fact of a case is, such as `engine.draft_length`. None: a case holds nothing of that name."""
    model: type[BaseModel] | None = Case
    annotation: object = None
    for step in name.split("."):
        if model is None:
            return None
        info = next((item for key, item in model.model_fields.items() if step in {key, item.alias}), None)
        if info is None:
            return None
        annotation = info.annotation
        model = next(
            (item for item in _parts(annotation) if isinstance(item, type) and issubclass(item, BaseModel)), None
        )
    parts = set(_parts(annotation))
    if tuple in parts:
        return "list"
    if bool in parts:
        return "flag"
    return "number" if parts & {int, float, Quantity} else "text"


def _parts(annotation: object) -> Iterator[object]:
    """The types that an annotation is made of."""
    origin = get_origin(annotation)
    yield origin if origin is not None else annotation
    for inner in get_args(annotation):
        if isinstance(inner, type) or get_origin(inner) is not None:
            yield from _parts(inner)
