"""Headers that were read from the network before, kept as long as the server says that the file is still the same."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

MAX_CACHE_BYTES = 512 << 20
_SUFFIX = ".header"
_FORMAT = 1


@dataclass(frozen=True)
class Entry:
    """The first bytes of a remote file, its entity tag, and the size of the whole file where it is known."""

    etag: str
    size: int | None
    data: bytes


class HeaderCache:
    """Entries by URL in one folder, one file each: a line of JSON, then the bytes.

    The URL itself is not stored, only its hash, because it can hold secrets. An entry is written whole or not at all.
    One that cannot be read, or does not match its own hash, counts as absent. A folder that cannot be written is no
    error. Beyond `max_bytes` the entries that were used longest ago go.
    """

    def __init__(self, folder: Path, max_bytes: int = MAX_CACHE_BYTES) -> None:
        self._folder = folder
        self._max_bytes = max_bytes

    def load(self, url: str) -> Entry | None:
        """Return what is kept for a URL."""
        path = self._path(url)
        try:
            head, _, data = path.read_bytes().partition(b"\n")
            said = json.loads(head)
            entry = Entry(said["etag"], said["size"], data)
            right = said["format"] == _FORMAT and said["sha256"] == hashlib.sha256(data).hexdigest()
            if not right or not is_strong(entry.etag) or not isinstance(entry.size, int | None):
                return None
            os.utime(path)
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return entry

    def store(self, url: str, entry: Entry) -> None:
        """Keep an entry in place of what was kept for the URL. Does nothing without a strong entity tag."""
        if not is_strong(entry.etag):
            return
        digest = hashlib.sha256(entry.data).hexdigest()
        head = json.dumps({"format": _FORMAT, "etag": entry.etag, "size": entry.size, "sha256": digest})
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=self._folder, prefix=".", suffix=".part")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(head.encode() + b"\n" + entry.data)
                Path(temporary).replace(self._path(url))
            except BaseException:
                Path(temporary).unlink(missing_ok=True)
                raise
            self._make_room()
        except OSError:
            return

    def _make_room(self) -> None:
        states = [(path, path.stat()) for path in self._folder.glob(f"*{_SUFFIX}")]
        states.sort(key=lambda pair: pair[1].st_mtime_ns, reverse=True)
        total = 0
        for path, state in states:
            total += state.st_size
            if total > self._max_bytes:
                path.unlink(missing_ok=True)

    def _path(self, url: str) -> Path:
        return self._folder / (hashlib.sha256(url.encode("utf-8", "surrogatepass")).hexdigest()[:40] + _SUFFIX)


def is_strong(etag: object) -> bool:
    """Say whether an entity tag promises equal bytes. A weak one, `W/"..."`, does not."""
    return isinstance(etag, str) and len(etag) > 2 and etag[0] == etag[-1] == '"'


def default_cache(environ: Mapping[str, str]) -> HeaderCache:
    """Return the cache in `SPECRULES_CACHE`, else below `XDG_CACHE_HOME` or `~/.cache`."""
    own = environ.get("SPECRULES_CACHE")
    base = Path(own) if own else Path(environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "specrules"
    return HeaderCache(base / "gguf")
