"""Texts by id, as the bytes that engines compare."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from hashlib import sha256
from itertools import islice
from typing import overload

from specrules.evidence.gguf import Array


class Texts(Sequence[bytes]):
    """Token texts by id, or merges by rank. An array of a GGUF header is split only when single texts are asked for.

    Bytes, since a text may be no UTF-8, hold a NUL or begin with a byte order mark, and each of these differs.
    """

    def __init__(self, source: Array | Sequence[bytes]) -> None:
        self._source = source

    def __len__(self) -> int:
        return len(self._source)

    @overload
    def __getitem__(self, index: int) -> bytes: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[bytes]: ...

    def __getitem__(self, index: int | slice) -> bytes | Sequence[bytes]:
        return self.items[index]

    @cached_property
    def items(self) -> Sequence[bytes]:
        """All texts."""
        return list(self._source.each_bytes()) if isinstance(self._source, Array) else self._source

    def head(self, count: int) -> list[bytes]:
        """Return the first texts, without splitting the others."""
        source = self._source
        return list(islice(source.each_bytes() if isinstance(source, Array) else source, count))

    @cached_property
    def sha256(self) -> str:
        """Digest over the body that a little-endian GGUF file has: per text a 64-bit length and its bytes."""
        if isinstance(self._source, Array):
            return sha256(self._source.raw).hexdigest()
        return sha256(b"".join(len(text).to_bytes(8, "little") + text for text in self._source)).hexdigest()
