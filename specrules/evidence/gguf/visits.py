"""Requests that follow redirects, but not to where a server of strangers may not send this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from specrules.evidence.gguf import address
from specrules.evidence.gguf.errors import GgufError
from specrules.evidence.gguf.responses import REDIRECTS
from specrules.version import __version__

if TYPE_CHECKING:
    import httpx

MAX_REDIRECTS = 5


@dataclass(frozen=True)
class Visit:
    """An answer whose body is still to be read, the URL that gave it, and whether credentials were sent there."""

    response: httpx.Response
    url: str
    sent: bool


def client(url: str, *, connect_s: float, read_s: float) -> httpx.Client:
    """Return a client that follows no redirect by itself, for a URL and what lies beside it.

    Raises GgufError for what is no http or https URL, and where the settings of the environment make no client.
    """
    import ssl

    import httpx

    # Over http no certificates are needed, and no redirect leads to https; loading them takes longer than the rest.
    plain = address.download_url(url).startswith("http:")
    try:
        return httpx.Client(
            timeout=httpx.Timeout(read_s, connect=connect_s),
            follow_redirects=False,
            verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else True,
            headers={"User-Agent": f"specrules/{__version__}"},
        )
    except (ValueError, ImportError, OSError):
        raise GgufError("the proxy or certificate settings of the environment cannot be used", "") from None


@contextmanager
def visit(
    client: httpx.Client,
    url: str,
    headers: Mapping[str, str],
    *,
    first: str,
    credentials: str = "",
    redirects: int = MAX_REDIRECTS,
    before: Callable[[], None] = lambda: None,
) -> Iterator[Visit]:
    """Ask for a URL, and for what its redirects lead to.

    `first` is what the user named. Credentials go to its origin only, and a redirect reaches a private address only
    where `first` has one, whether the name says so or the connection that was made. `before` is called ahead of every
    request and may raise. Raises GgufError for a redirect that is not followed, and httpx.HTTPError as httpx does.
    """
    import httpx

    name = address.shown(first)
    try:
        for _ in range(redirects + 1):
            before()
            sends = bool(credentials) and address.same_origin(url, first)
            more = {"Authorization": credentials} if sends else {}
            with client.stream("GET", url, headers={**headers, **more}) as response:
                _check_peer(response, url, first)
                if response.status_code in REDIRECTS and "location" in response.headers:
                    url = address.redirected(first, url, response.headers["location"])
                    continue
                yield Visit(response, url, sends)
                return
    except httpx.InvalidURL:
        raise GgufError("redirects to what is no URL", name) from None
    raise GgufError(f"more than {redirects} redirects", name)


def _check_peer(response: httpx.Response, url: str, first: str) -> None:
    """Refuse a redirect to a name that was public when it was looked up, and no longer when it was connected to."""
    from urllib.request import getproxies

    if address.same_origin(url, first) or getproxies():
        return
    peer = response.extensions["network_stream"].get_extra_info("server_addr")
    if isinstance(peer, tuple) and address.is_special(str(peer[0])) and not address.has_special_address(first):
        raise GgufError("redirects to an address of a private network or of this machine", address.shown(first))
