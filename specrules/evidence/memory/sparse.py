"""A model's files made of their headers only: full size, hardly a block on the disk."""

from __future__ import annotations

from pathlib import Path

from specrules.economics.memory import padded
from specrules.errors import EvidenceError, Location, Problem
from specrules.evidence.gguf import Header, is_url, tensor_bytes


def can_be_sparse(header: Header) -> bool:
    """Tell whether the bytes of the header are on this disk."""
    return all(not is_url(part.name) and Path(part.name).is_file() for part in header.shards or (header,))


def sparse_copy(header: Header, folder: Path) -> Path:
    """Write a sparse file for every file of a model and return the first. EvidenceError where that cannot be done."""
    files = []
    for part in header.shards or (header,):
        source = Path(part.name)
        target = folder / source.name
        size = part.data_offset + sum(padded(tensor_bytes(tensor), part.alignment) for tensor in part.tensors)
        try:
            with source.open("rb") as given, target.open("wb") as made:
                made.write(given.read(part.data_offset))
                made.truncate(size)
        except OSError as error:
            problem = Problem(f"no sparse copy can be made: {error.strerror or error}", Location(str(source)))
            raise EvidenceError(problem) from None
        files.append(target)
    return files[0]
