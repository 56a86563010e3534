"""What a header says of its tensors, and the bytes that they take."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from specrules.evidence.gguf.errors import GgufError

#: Limits of libggml.
MAX_DIMENSIONS = 4
MAX_NAME_BYTES = 63
MAX_ELEMENTS = 2**63 - 1
_MAX_SIZE = 2**64 - 1
#: Where libggml of llama.cpp b11434 (`ggml_blck_size`, `ggml_type_size`) knows better than `gguf` 0.19: Q8_1 and Q2_0.
_CORRECTIONS = {9: (32, 36), 42: (64, 18)}


@dataclass(frozen=True)
class TensorInfo:
    """One tensor. `shape` has the contiguous dimension first, as in the file and as libggml counts.

    `type_id` is the number of the GGML type. `offset` counts from the start of the data of the tensor's own file.
    """

    name: str
    shape: tuple[int, ...]
    type_id: int
    offset: int

    @property
    def elements(self) -> int:
        """How many numbers the tensor holds; 1 for one without dimensions."""
        return math.prod(self.shape)


def tensor_bytes(tensor: TensorInfo) -> int:
    """Return the size of a tensor's data without padding. Raises GgufError for a type without a known block size."""
    block, size = _block(tensor)
    row = tensor.shape[0] if tensor.shape else 1
    if row % block:
        raise GgufError(f"tensor {tensor.name!r} has rows of {row} elements, and its type has blocks of {block}", "")
    return tensor.elements // block * size


@cache
def block_sizes() -> Mapping[int, tuple[int, int]]:
    """Return elements and bytes of one block for every GGML type that the installed `gguf` package knows.

    The tables lie in a module that needs nothing else. It is loaded by itself, because the package imports numpy.
    """
    import importlib.util
    import sys

    if "gguf.constants" in sys.modules:
        module = sys.modules["gguf.constants"]
    else:
        package = importlib.util.find_spec("gguf")
        if package is None or not package.submodule_search_locations:
            raise GgufError("the sizes of tensors need the Python package `gguf`, which is not installed", "")
        path = Path(package.submodule_search_locations[0]) / "constants.py"
        spec = importlib.util.spec_from_file_location("specrules_gguf_constants", path)
        if spec is None or spec.loader is None:
            raise GgufError(f"the tables of block sizes cannot be loaded from {path}", "")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    sizes = {int(type_): (int(block), int(size)) for type_, (block, size) in module.GGML_QUANT_SIZES.items()}
    return sizes | _CORRECTIONS


def check_layout(tensors: Iterable[TensorInfo], places: Iterable[int | None], alignment: int, name: str) -> int:
    """Return the bytes of all tensor data with padding. `places` are where the file describes each tensor, if known.

    As libggml does, refuses with GgufError a type that is unknown, rows that are no whole blocks, a size that does not
    fit 64 bits, and a tensor that does not begin where the one before it ends.
    """
    total = 0
    for tensor, place in zip(tensors, places, strict=True):
        try:
            size = tensor_bytes(tensor)
        except GgufError as error:
            problem = error.problems[0]
            raise GgufError(problem.message, name, place, problem.hint) from None
        if tensor.offset != total:
            message = f"tensor {tensor.name!r} is said to begin at {tensor.offset} of the data, and {total} is next"
            raise GgufError(message, name, place)
        total += size + -size % alignment
        if total > _MAX_SIZE:
            raise GgufError(f"tensor {tensor.name!r} makes the data larger than 64 bits can count", name, place)
    return total


def too_many_elements(shape: tuple[int, ...]) -> bool:
    """Say whether libggml refuses the shape because a size or a product of the first sizes does not fit 63 bits.

    A size of 0 makes up for nothing that comes before it (`gguf_init_from_reader` of b11434).
    """
    product = 1
    for size in shape:
        if size > MAX_ELEMENTS or (size > 1 and MAX_ELEMENTS // size < product):
            return True
        product *= size
    return False


def _block(tensor: TensorInfo) -> tuple[int, int]:
    sizes = block_sizes()
    if tensor.type_id not in sizes:
        message = f"tensor {tensor.name!r} has the GGML type {tensor.type_id}, which is unknown here"
        raise GgufError(message, "", None, "a newer release of the Python package `gguf` may know it")
    return sizes[tensor.type_id]
