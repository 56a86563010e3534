"""Requests that follow redirects, but not to where a server of strangers may not send this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from specrules.evidence.gguf import address
from specrules.evidence.gguf.errors import GgufError
from specrules.evidence.gguf.responses import REDIRECTS
from specrules.version import __version__

if TYPE_CHECKING:
    import httpx

MAX_REDIRECTS = 5
KEEP_METHOD = (307, 308)


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
    body: Any = None,
    allow_private: bool = False,
) -> Iterator[Visit]:
    """Ask for a URL, and for what its redirects lead to; with a `body`, a JSON value, by POST.

    `first` is what the user named. Credentials go to its origin only, and a redirect reaches a private address only
    where `first` has one, whether the name says so or the connection that was made, or where `allow_private` says that
    it may. A POST is sent on only by redirects that keep it one. `before` is called ahead of every request and may
    raise. Raises GgufError for a redirect that is not followed, and httpx.HTTPError as httpx does.
    """
    import httpx

    name = address.shown(first)
    try:
        for _ in range(redirects + 1):
            before()
            sends = bool(credentials) and address.same_origin(url, first)
            more = {"Authorization": credentials} if sends else {}
            method = "GET" if body is None else "POST"
            with client.stream(method, url, headers={**headers, **more}, json=body) as response:
                if not allow_private:
                    _check_peer(response, url, first)
                if response.status_code in REDIRECTS and "location" in response.headers:
                    url = address.redirected(first, url, response.headers["location"], allow_private=allow_private)
                    if body is not None and response.status_code not in KEEP_METHOD:
                        hint = f"name the address behind it: {address.shown(url)}"
                        raise GgufError("redirects the request to where it would be another one", name, None, hint)
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
    if isinstance(peer, tuple) and address.may_not_lead_to(first, str(peer[0])):
        raise GgufError("redirects to an address of a private network or of this machine", address.shown(first))
