"""The reading of one remote header, request by request."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from specrules.evidence.gguf import address
from specrules.evidence.gguf.cache import Entry, HeaderCache, is_strong
from specrules.evidence.gguf.errors import GgufError
from specrules.evidence.gguf.header import Header
from specrules.evidence.gguf.parser import MAX_HEADER_BYTES, HeaderParser
from specrules.evidence.gguf.progress import Progress
from specrules.evidence.gguf.responses import TRANSIENT, pause, piece, refused
from specrules.evidence.gguf.visits import MAX_REDIRECTS, visit

if TYPE_CHECKING:
    import httpx


@dataclass(frozen=True)
class Limits:
    """What reading from the network may cost. Times are in seconds; `total_s` holds for all files of a model together.

    One request asks for `step_bytes` at most, and the first one for `first_bytes`, because nothing is known of the
    header then. `retries` counts the attempts in a row that brought no byte.
    """

    connect_s: float = 10
    read_s: float = 30
    total_s: float = 300
    pause_s: float = 10
    first_bytes: int = 64 << 10
    step_bytes: int = 4 << 20
    max_bytes: int = MAX_HEADER_BYTES
    redirects: int = MAX_REDIRECTS
    requests: int = 200
    retries: int = 2


@dataclass(frozen=True)
class Session:
    """What the readings of all files of a model have in common. `deadline` is a time of `time.monotonic`."""

    client: httpx.Client
    limits: Limits
    deadline: float
    identity_only: bool
    cache: HeaderCache | None
    progress: Progress | None


class Download:
    """The reading of one file. `_target` is where the last redirect led, `_etag` what the file is known by."""

    def __init__(self, session: Session, url: str, credentials: str) -> None:
        self._session = session
        self._limits = session.limits
        self._first = self._target = url
        self._credentials = credentials
        self._name = address.shown(url)
        self._parser = self._new_parser()
        self._size: int | None = None
        self._etag = ""
        self._attempt = 0
        self._kept: Entry | None = None

    def read(self) -> Header:
        """Return the header, from the cache where the server says that it still holds."""
        import httpx

        if self._session.cache:
            self._kept = self._session.cache.load(self._first)
        for _ in range(self._limits.requests):
            before = self._parser.received
            wait = pause({}, self._attempt, self._limits.pause_s)
            error = GgufError("the server sends no bytes", self._name)
            try:
                again = self._ask()
                if again:
                    error, wait = again
            except httpx.HTTPError as problem:
                error = GgufError(f"the connection failed: {_reason(problem)}", self._name)
            if self._parser.complete:
                return self._done()
            if self._parser.received > before:
                self._attempt = 0
                continue
            self._attempt += 1
            if self._attempt > self._limits.retries:
                raise error
            self._check_time(wait)
            time.sleep(wait)
        raise GgufError(f"the header is not complete after {self._limits.requests} requests", self._name)

    def _ask(self) -> tuple[GgufError, float] | None:
        """Make one request and follow its redirects. Returns what went wrong and when to try again, if it may help."""
        with visit(
            self._session.client,
            self._target,
            self._headers(),
            first=self._first,
            credentials=self._credentials,
            redirects=self._limits.redirects,
            before=self._check_time,
        ) as found:
            return self._answer(found.response, found.url, found.sent)

    def _answer(self, response: httpx.Response, url: str, sent: bool) -> tuple[GgufError, float] | None:
        status, headers = response.status_code, response.headers
        if status in {200, 206}:
            self._target = url
            return self._take(response)
        if status == 304 and self._kept:
            return self._use_kept()
        if status == 416:
            self._parser.finish()
        error = refused(status, headers, sent, self._name)
        if status in TRANSIENT:
            return error, pause(headers, self._attempt, self._limits.pause_s)
        if status in {401, 403} and self._target != self._first:
            # A signed address that a redirect gave has expired; the first URL gives a new one.
            self._target = self._first
            return error, 0.0
        raise error

    def _headers(self) -> dict[str, str]:
        received = self._parser.received
        step = self._limits.step_bytes if received else self._limits.first_bytes
        # Never much more than what is known to follow, so that little is transferred in vain.
        wanted = max(self._parser.likely - received, received // 8, self._limits.first_bytes)
        headers = {
            "Accept-Encoding": "identity",
            "Range": f"bytes={received}-{received + min(step, wanted) - 1}",
        }
        if received and is_strong(self._etag):
            headers["If-Range"] = self._etag
        if not received and self._kept:
            headers["If-None-Match"] = self._kept.etag
        return headers

    def _take(self, response: httpx.Response) -> tuple[GgufError, float] | None:
        part = piece(response.status_code, response.headers, self._parser.received, self._name)
        etag = response.headers.get("etag", "")
        if not self._parser.received:
            self._etag, self._size = etag, part.size
        elif _differ(etag, self._etag) or _differ(part.size, self._size):
            raise GgufError("the file was changed while it was read", self._name, None, "try again")
        if self._kept and not self._parser.received and etag == self._kept.etag:
            return self._use_kept()
        self._kept = None
        self._parser.size = self._size
        at = part.start
        for chunk in response.iter_raw():
            self._check_time()
            if part.end is not None and at + len(chunk) > part.end:
                raise GgufError("the server sends more bytes than it said", self._name)
            self._feed(at, chunk)
            at += len(chunk)
            if self._parser.complete:
                return None
        if self._parser.received == self._size or (response.status_code == 200 and part.end is None):
            self._parser.finish()
        return None

    def _feed(self, at: int, chunk: bytes) -> None:
        """Feed what is new of a chunk. A server that begins again at 0 has to send what it sent before."""
        known = min(self._parser.received - at, len(chunk))
        if known > 0:
            if self._parser.fed(at, at + known) != chunk[:known]:
                raise GgufError("the file was changed while it was read", self._name, None, "try again")
            chunk = chunk[known:]
        if chunk:
            self._parser.feed(chunk)
            if self._session.progress:
                self._session.progress(self._parser.received, self._parser.likely)

    def _use_kept(self) -> tuple[GgufError, float] | None:
        """Take the header from the cache. Where it is none, which another release may have left, forget it."""
        kept, self._kept = self._kept, None
        parser = self._new_parser()
        parser.size = kept.size if kept else None
        try:
            complete = kept is not None and parser.feed(kept.data) is None
        except GgufError:
            complete = False
        if not complete:
            return GgufError("the cached header cannot be used", self._name), 0.0
        self._parser, self._etag = parser, ""
        return None

    def _done(self) -> Header:
        header = self._parser.header
        if self._session.cache and self._etag:
            self._session.cache.store(
                self._first, Entry(self._etag, self._size, self._parser.fed(0, header.header_bytes))
            )
        return header

    def _new_parser(self) -> HeaderParser:
        return HeaderParser(self._name, identity_only=self._session.identity_only, max_bytes=self._limits.max_bytes)

    def _check_time(self, ahead: float = 0.0) -> None:
        if time.monotonic() + ahead > self._session.deadline:
            raise GgufError(f"the header is not complete after {self._limits.total_s:g} s", self._name)


def _differ(one: object, other: object) -> bool:
    """Say whether two answers contradict each other; one that does not say contradicts none."""
    return one not in {None, ""} and other not in {None, ""} and one != other


def _reason(error: httpx.HTTPError) -> str:
    return str(error) or type(error).__name__
