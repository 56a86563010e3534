"""Tokenizer files on a web server: one address and the files beside it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from specrules.evidence.gguf import address
from specrules.evidence.gguf.responses import refused
from specrules.evidence.gguf.visits import client, visit
from specrules.evidence.tokenizers import documents
from specrules.evidence.tokenizers.documents import MAX_DOCUMENT

if TYPE_CHECKING:
    import httpx

CONNECT_S, READ_S, TOTAL_S = 10.0, 30.0, 300.0
_ABSENT = frozenset({401, 403, 404, 410})


class WebFolder:
    """What lies beside a file on a web server, over one connection.

    A companion that is not there, or may not be read, counts as absent. Credentials come from the address or, for
    Hugging Face, from the environment; they go to the first host only and into no message.
    """

    def __init__(self, url: str, client: httpx.Client, environ: Mapping[str, str] = os.environ) -> None:
        self._url = address.download_url(url)
        self._client = client
        self._credentials = address.authorization(self._url, environ)
        self._deadline = time.monotonic() + TOTAL_S

    @property
    def name(self) -> str:
        """The name of the file that the address is of."""
        return address.file_name(self._url)

    def place(self, name: str) -> str:
        """Return the address of a file without what may be secret in it."""
        return address.shown(address.with_name(self._url, name))

    def read(self, name: str, first: int | None = None) -> bytes | None:
        """Return the content of a companion, or its first bytes, or None where there is none.

        Raises EvidenceError for a server that fails, and for more than 128 MiB.
        """
        return self._read(name, needed=False, first=first)

    def content(self) -> bytes:
        """Return the content of the file itself. EvidenceError where it cannot be had."""
        return self._read(self.name, needed=True) or b""

    def _read(self, name: str, *, needed: bool, first: int | None = None) -> bytes | None:
        import httpx

        place = self.place(name)
        headers = {} if first is None else {"Range": f"bytes=0-{first - 1}", "Accept-Encoding": "identity"}
        start = address.without_user(address.with_name(self._url, name))
        try:
            with visit(
                self._client, start, headers, first=start, credentials=self._credentials, before=self._check_time
            ) as found:
                status = found.response.status_code
                # Half a file that nobody asked for would be taken for a whole one.
                if status == 200 or (status == 206 and first is not None):
                    return self._body(found.response, place, first)
                if status in _ABSENT and not needed:
                    return None
                raise refused(status, found.response.headers, found.sent, place)
        except httpx.HTTPError as error:
            raise documents.refused(place, f"the connection failed: {error or type(error).__name__}") from None

    def _body(self, response: httpx.Response, place: str, first: int | None) -> bytes:
        data = bytearray()
        for chunk in response.iter_bytes():
            data += chunk
            if first is not None and len(data) >= first:
                return bytes(data[:first])
            if len(data) > MAX_DOCUMENT:
                raise documents.refused(place, f"the file is larger than {MAX_DOCUMENT >> 20} MiB")
            self._check_time()
        return bytes(data)

    def _check_time(self) -> None:
        if time.monotonic() > self._deadline:
            raise documents.refused(address.shown(self._url), f"not read after {TOTAL_S:g} s")


@contextmanager
def web_folder(url: str) -> Iterator[WebFolder]:
    """Open the folder of an address, and close the connection at the end. EvidenceError for what is no address."""
    with client(url, connect_s=CONNECT_S, read_s=READ_S) as opened:
        yield WebFolder(url, opened)
