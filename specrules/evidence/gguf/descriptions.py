"""The descriptions of tensors in a header."""

from __future__ import annotations

from collections.abc import Generator

from specrules.evidence.gguf.cursor import Cursor
from specrules.evidence.gguf.tensors import (
    MAX_DIMENSIONS,
    MAX_NAME_BYTES,
    TensorInfo,
    too_many_elements,
)


def walk_tensor(cursor: Cursor, names: set[str]) -> Generator[int, None, TensorInfo]:
    """Return the next tensor. `names` are those of the tensors before it, and gets its name as well."""
    start = cursor.at
    name = yield from cursor.short_text("the name of a tensor", MAX_NAME_BYTES)
    if name in names:
        cursor.fail(f"the tensor {name!r} comes twice", start)
    names.add(name)
    place = cursor.at
    yield from cursor.until(place + 4, f"tensor {name!r}")
    dimensions = cursor.take("I")
    if dimensions > MAX_DIMENSIONS:
        cursor.fail(f"tensor {name!r} has {dimensions} dimensions, and {MAX_DIMENSIONS} are possible", place)
    yield from cursor.until(cursor.at + dimensions * 8 + 12, f"tensor {name!r}")
    shape = tuple(cursor.take("Q") for _ in range(dimensions))
    if too_many_elements(shape):
        cursor.fail(f"tensor {name!r} has more elements than can be counted: {shape}", place)
    return TensorInfo(name, shape, cursor.take("I"), cursor.take("Q"))
