"""What a model expects at a route: its fields by the names that documents use, and the kinds of value it takes."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

Step = tuple[str | int, bool]
"""One element of a pydantic location, and whether it only names a branch of a union."""

_SCALARS = {float: "a number", int: "a whole number", bool: "true or false", str: "text"}


def annotations_at(model: type[BaseModel], steps: Sequence[Step]) -> list[Any]:
    """Return the alternatives that the model allows at a route, without wrappers such as `Annotated` and unions."""
    here = list(_alternatives(model))
    for step, is_branch in steps:
        if is_branch:
            here = [item for item in here if _is_branch(item, str(step))] or here
        else:
            here = [below for item in here for child in _children(item, step) for below in _alternatives(child)]
    return here


def names_at(model: type[BaseModel], steps: Sequence[Step]) -> set[str]:
    """Return the keys that the model knows in the mapping at a route."""
    return {
        name
        for item in annotations_at(model, steps)
        if _is_model(item)
        for field, info in item.model_fields.items()
        for name in _names(field, info)
    }


def phrases_at(model: type[BaseModel], steps: Sequence[Step]) -> list[str]:
    """Return the kinds of value that the model takes at a route, in words."""
    phrases = (_phrase(item) for item in annotations_at(model, steps))
    return list(dict.fromkeys(phrase for phrase in phrases if phrase))


def _phrase(item: Any) -> str:
    origin = get_origin(item) or item
    if origin in _SCALARS:
        return _SCALARS[origin]
    if _is_model(item) or origin is dict:
        return "a mapping"
    return "a list" if origin in (list, tuple, set, frozenset) else ""


def _alternatives(annotation: Any) -> Iterator[Any]:
    origin = get_origin(annotation)
    if origin is Annotated:
        inner, *metadata = get_args(annotation)
        yield from _alternatives(_as_written(inner, metadata))
    elif origin in (Union, types.UnionType):
        for item in get_args(annotation):
            yield from _alternatives(item)
    elif hasattr(annotation, "__value__"):
        yield from _alternatives(annotation.__value__)
    elif _is_model(annotation) and "root" in annotation.model_fields and annotation.__pydantic_root_model__:
        yield from _alternatives(annotation.model_fields["root"].annotation)
    elif annotation is not type(None):
        yield annotation


def _as_written(annotation: Any, metadata: Iterable[Any]) -> Any:
    """Return what documents hold where a validator that runs before turns it into `annotation`."""
    for item in metadata:
        written = getattr(item, "json_schema_input_type", Any)
        if written is not Any and written is not PydanticUndefined:
            return written
    return annotation


def _children(annotation: Any, step: str | int) -> Iterator[Any]:
    args = get_args(annotation)
    if _is_model(annotation):
        for field, info in annotation.model_fields.items():
            if step in _names(field, info):
                yield _as_written(info.annotation, info.metadata)
    elif get_origin(annotation) is dict and args:
        yield args[1]
    elif isinstance(step, int):
        yield from (item for item in args if item is not Ellipsis)


def _names(field: str, info: Any) -> list[str]:
    names = [name for name in (info.alias, info.validation_alias) if isinstance(name, str)]
    return names or [field]


def _is_branch(annotation: Any, name: str) -> bool:
    """Tell whether pydantic calls a branch of a union by this name: a class, or the value of a discriminator."""
    if not _is_model(annotation):
        return False
    if annotation.__name__ == name or annotation.__name__ in name.replace("[", " ").replace("]", " ").split():
        return True
    literals = (field.annotation for field in annotation.model_fields.values())
    return any(get_origin(item) is typing.Literal and name in map(str, get_args(item)) for item in literals)


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)
