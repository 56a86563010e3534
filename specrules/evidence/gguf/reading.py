"""Headers of files on disk."""

from __future__ import annotations

import mmap
import os
from pathlib import Path

from specrules.evidence.gguf import foreign
from specrules.evidence.gguf.address import is_url
from specrules.evidence.gguf.cache import HeaderCache
from specrules.evidence.gguf.errors import GgufError
from specrules.evidence.gguf.header import Header
from specrules.evidence.gguf.parser import MAX_HEADER_BYTES, HeaderParser
from specrules.evidence.gguf.progress import Progress
from specrules.evidence.gguf.shards import joined, shard_names, shards


def read_header(
    path: str | os.PathLike[str], *, identity_only: bool = False, max_bytes: int = MAX_HEADER_BYTES
) -> Header:
    """Return the header of one file, mapped into memory. Arrays stay views of the file: it must not shrink.

    With `identity_only` tensors of unknown types are let through and no sizes are judged. Raises GgufError with the
    offset of the fault, and for a file that cannot be opened.
    """
    name = os.fspath(path)
    try:
        if not Path(path).is_file():
            # Opening a pipe would wait for someone to write to it.
            Path(path).stat()
            raise GgufError("cannot be read: it is not a regular file", name)
        with Path(path).open("rb") as file:
            before = os.fstat(file.fileno())
            if not before.st_size:
                message, hint = foreign.describe(b"")
                raise GgufError(message, name, 0, hint)
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            header = HeaderParser(name, identity_only=identity_only, max_bytes=max_bytes).over(mapped)
            after = os.fstat(file.fileno())
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise GgufError(f"cannot be read: {reason}", name) from None
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise GgufError("the file was changed while it was read", name, None, "try again when it is complete")
    return header


def read_model(path: str | os.PathLike[str], *, identity_only: bool = False) -> Header:
    """Return the header of a model in one file or in several, given any of them.

    For identity the first file is enough; for memory the tensors of all are wanted. Raises EvidenceError for files that
    are missing, GgufError as `read_header` does and for files that contradict each other.
    """
    given = Path(path)
    files = (given.with_name(shard_names(given.name)[0]),) if identity_only else shards(given)
    return joined([read_header(file, identity_only=identity_only) for file in files], whole=not identity_only)


def load_model(
    source: str,
    *,
    identity_only: bool = False,
    cache: HeaderCache | None = None,
    progress: Progress | None = None,
) -> Header:
    """Return the header of a model on disk or, for an http or https URL, on a server. Raises as both readings do."""
    if is_url(source):
        from specrules.evidence.gguf.remote import fetch_model

        return fetch_model(source, identity_only=identity_only, cache=cache, progress=progress)
    return read_model(source, identity_only=identity_only)
