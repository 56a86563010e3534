"""Headers of files on disk."""

from __future__ import annotations

import mmap
import os
from pathlib import Path

from specrules.evidence.gguf import foreign
from specrules.evidence.gguf.errors import GgufError
from specrules.evidence.gguf.header import Header
from specrules.evidence.gguf.parser import MAX_HEADER_BYTES, HeaderParser


def read_header(
    path: str | os.PathLike[str], *, identity_only: bool = False, max_bytes: int = MAX_HEADER_BYTES
) -> Header:
    """Return the header of one file, mapped into memory; arrays stay views of the file.

    With `identity_only` tensors of unknown types are let through and no sizes are judged. Raises GgufError with the
    offset of the fault, and for a file that cannot be opened.
    """
    name = os.fspath(path)
    try:
        with Path(path).open("rb") as file:
            if not os.fstat(file.fileno()).st_size:
                message, hint = foreign.describe(b"")
                raise GgufError(message, name, 0, hint)
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise GgufError(f"cannot be read: {reason}", name) from None
    return HeaderParser(name, identity_only=identity_only, max_bytes=max_bytes).over(mapped)
