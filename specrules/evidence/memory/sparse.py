"""A model's files made of their headers only: full size, hardly a block on the disk."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from specrules.economics.memory import padded
from specrules.errors import EvidenceError, Location, Problem
from specrules.evidence.gguf import Header, is_url, tensor_bytes
from specrules.evidence.memory.heads import head_of


def sparse_copy(header: Header, folder: Path, heads: Mapping[str, bytes]) -> Path:
    """Write a sparse file for every file of a model and return the first.

    The bytes of a header come from its file on disk, else from `heads`. EvidenceError where neither has them.
    """
    parts = header.shards or (header,)
    files = []
    for number, part in enumerate(parts, start=1):
        name = f"model-{number:05d}-of-{len(parts):05d}.gguf" if len(parts) > 1 else "model.gguf"
        target = folder / name
        size = part.data_offset + sum(padded(tensor_bytes(tensor), part.alignment) for tensor in part.tensors)
        data = _bytes_of(part, heads)
        try:
            with target.open("wb") as made:
                made.write(data)
                made.truncate(size)
        except OSError as error:
            raise EvidenceError(f"no sparse copy can be made: {error.strerror or error}") from None
        files.append(target)
    return files[0]


def _bytes_of(part: Header, heads: Mapping[str, bytes]) -> bytes:
    if is_url(part.name):
        kept = head_of(part, heads)
        if kept is None:
            raise EvidenceError("the server gives its file no entity tag, so that its header was not kept")
        return kept
    try:
        with Path(part.name).open("rb") as given:
            return given.read(part.header_bytes)
    except OSError as error:
        problem = Problem(f"the file cannot be read: {error.strerror or error}", Location(part.name))
        raise EvidenceError(problem) from None
