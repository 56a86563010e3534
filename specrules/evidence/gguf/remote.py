"""Headers of files on a web server, read by Range requests that end where the header does."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping

from specrules.evidence.gguf import address
from specrules.evidence.gguf.cache import HeaderCache
from specrules.evidence.gguf.download import Download, Limits, Session
from specrules.evidence.gguf.header import Header
from specrules.evidence.gguf.progress import Progress
from specrules.evidence.gguf.shards import joined, shard_names
from specrules.evidence.gguf.visits import client


def fetch_header(
    url: str,
    *,
    identity_only: bool = False,
    limits: Limits | None = None,
    cache: HeaderCache | None = None,
    progress: Progress | None = None,
    environ: Mapping[str, str] = os.environ,
) -> Header:
    """Return the header of one file at an http or https URL; of Hugging Face `resolve` and `blob` URLs are understood.

    About as many bytes are transferred as the header has: at most a fifth more, or 64 KiB. Raises GgufError for
    whatever the server does instead, and what `read_header` raises. Credentials come from the URL or, for Hugging Face,
    from the environment; they go to the first host only and into no message.
    """
    limits = limits or Limits()
    with client(url, connect_s=limits.connect_s, read_s=limits.read_s) as opened:
        session = Session(opened, limits, time.monotonic() + limits.total_s, identity_only, cache, progress)
        return _read(session, url, environ)


def fetch_model(
    url: str,
    *,
    identity_only: bool = False,
    limits: Limits | None = None,
    cache: HeaderCache | None = None,
    progress: Progress | None = None,
    environ: Mapping[str, str] = os.environ,
) -> Header:
    """Return the header of a model at a URL, in one file or in several, given any of them.

    For identity only the first file is read. Raises as `fetch_header` does, and for files that contradict each other.
    """
    names = shard_names(address.file_name(address.download_url(url)))
    urls = [address.with_name(address.download_url(url), name) for name in names] if len(names) > 1 else [url]
    limits = limits or Limits()
    with client(url, connect_s=limits.connect_s, read_s=limits.read_s) as opened:
        session = Session(opened, limits, time.monotonic() + limits.total_s, identity_only, cache, progress)
        headers = [_read(session, each, environ) for each in (urls[:1] if identity_only else urls)]
    return joined(headers, whole=not identity_only)


def _read(session: Session, url: str, environ: Mapping[str, str]) -> Header:
    target = address.download_url(url)
    return Download(session, address.without_user(target), address.authorization(target, environ)).read()
