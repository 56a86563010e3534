"""Digests of loaded files, so that a report can say which rules and inputs it came from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

SHORT = 12


@dataclass(frozen=True, order=True)
class FileDigest:
    """The name of a file as it is the same on every machine, and the sha256 of its bytes in hex."""

    name: str
    sha256: str


def file_digest(name: str, content: bytes) -> FileDigest:
    """Return the digest of one file."""
    return FileDigest(name, hashlib.sha256(content).hexdigest())


def digest(files: Iterable[FileDigest]) -> str:
    """Return the sha256 in hex over names and contents, whatever order the files come in."""
    total = hashlib.sha256()
    for file in sorted(files):
        name = file.name.encode("utf-8", "surrogateescape")
        total.update(f"{len(name)}:".encode() + name + file.sha256.encode())
    return total.hexdigest()


def short(hexdigest: str) -> str:
    """Return the form that reports print: the first 12 hex digits."""
    return hexdigest[:SHORT]
