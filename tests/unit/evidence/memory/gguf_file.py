"""GGUF files made of a header and nothing behind it: as large as the real ones, and sparse on the disk."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

F32, F16, Q8_0, Q4_K, Q6_K = 0, 1, 8, 12, 14
BLOCKS = {F32: (1, 4), F16: (1, 2), Q8_0: (32, 34), Q4_K: (256, 144), Q6_K: (256, 210)}
ALIGNMENT = 32

Tensor = tuple[str, tuple[int, ...], int]
Value = int | float | bool | str | Sequence[int]


def size_of(tensor: Tensor) -> int:
    """Bytes of a tensor's data."""
    block, size = BLOCKS[tensor[2]]
    return math.prod(tensor[1]) // block * size


def padded(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def header_bytes(values: Mapping[str, Value], tensors: Sequence[Tensor]) -> bytes:
    """The bytes before the tensor data. Integers are written as uint32, lists of them as arrays of int32."""
    parts = [b"GGUF", struct.pack("<IQQ", 3, len(tensors), len(values))]
    for key, value in values.items():
        parts += [_text(key), _value(value)]
    offset = 0
    for name, shape, type_id in tensors:
        parts.append(_text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, type_id, offset))
        offset += padded(size_of((name, shape, type_id)))
    data = b"".join(parts)
    return data + bytes(padded(len(data)) - len(data))


def write(path: Path, values: Mapping[str, Value], tensors: Sequence[Tensor]) -> Path:
    """A file of full size that holds its header only."""
    header = header_bytes(values, tensors)
    with path.open("wb") as file:
        file.write(header)
        file.truncate(len(header) + sum(padded(size_of(tensor)) for tensor in tensors))
    return path


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def _value(value: Value) -> bytes:
    if isinstance(value, bool):
        return struct.pack("<I?", 7, value)
    if isinstance(value, int):
        return struct.pack("<II", 4, value)
    if isinstance(value, float):
        return struct.pack("<If", 6, value)
    if isinstance(value, str):
        return struct.pack("<I", 8) + _text(value)
    return struct.pack(f"<IIQ{len(value)}i", 9, 5, len(value), *value)
