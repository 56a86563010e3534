"""Why an engine would not load a file whose header can be read."""

from __future__ import annotations

from itertools import repeat

from specrules.errors import Location, Problem
from specrules.evidence.gguf.arrays import host_order
from specrules.evidence.gguf.errors import GgufError
from specrules.evidence.gguf.header import Header
from specrules.evidence.gguf.tensors import check_layout, tensor_bytes

ENGINE = "llama.cpp"


def foreign_order(header: Header) -> Problem | None:
    """Return that the file has the byte order of other machines; None where it has that of this one."""
    if header.byte_order == host_order():
        return None
    message = f"the file is {header.byte_order}-endian and this machine is not: {ENGINE} refuses it here"
    where = Location(header.name) if header.name else None
    return Problem(message, where, "convert it with gguf_convert_endian.py")


def refusals(header: Header) -> tuple[Problem, ...]:
    """Return every reason why llama.cpp on this machine would not load the file; none where it is fine.

    It reads no foreign byte order (`gguf_init_from_file`), no tensor types or layouts that it does not know, and no
    file that ends before its tensor data do (`llama_model_loader`). A file of unknown size is taken to be whole.
    """
    return tuple(problem for file in header.shards or (header,) for problem in _of_file(file))


def _of_file(header: Header) -> tuple[Problem, ...]:
    foreign = foreign_order(header)
    if foreign is not None:
        return (foreign,)
    try:
        check_layout(header.tensors, repeat(None, len(header.tensors)), header.alignment, header.name)
    except GgufError as error:
        return error.problems
    if header.tensors and header.file_bytes is not None:
        # Tensors follow each other without a gap, and no padding is wanted behind the last one.
        last = header.tensors[-1]
        end = header.data_offset + last.offset + tensor_bytes(last)
        if header.file_bytes < end:
            message = f"the tensor data end at {end}, and the file has {header.file_bytes} bytes"
            where = Location(header.name) if header.name else None
            return (Problem(message, where, "is the download complete?"),)
    return ()
