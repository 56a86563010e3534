"""The bytes of headers that were read over the network, kept so that the engine can be asked about them."""

from __future__ import annotations

from collections.abc import Mapping

from specrules.evidence.gguf import Header, HeaderCache
from specrules.evidence.gguf.address import shown
from specrules.evidence.gguf.cache import Entry


class HeadKeeper(HeaderCache):
    """A cache that remembers what went through it. `heads` holds the first bytes of files by the name of their header.

    A server that gives its file no entity tag leaves nothing here.
    """

    def __init__(self, inner: HeaderCache) -> None:
        self._inner = inner
        self.heads: dict[str, bytes] = {}

    def load(self, url: str) -> Entry | None:
        """Return what the cache keeps for a URL."""
        found = self._inner.load(url)
        if found is not None:
            self.heads[shown(url)] = found.data
        return found

    def store(self, url: str, entry: Entry) -> None:
        """Keep an entry in the cache, and its bytes here."""
        self.heads[shown(url)] = entry.data
        self._inner.store(url, entry)


def head_of(header: Header, heads: Mapping[str, bytes]) -> bytes | None:
    """Return the bytes of the header of one file from what was kept; None where they are not all there."""
    found = heads.get(header.name)
    return None if found is None or len(found) < header.header_bytes else found[: header.header_bytes]
