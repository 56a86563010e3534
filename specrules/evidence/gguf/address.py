"""Where a remote file lies, what may be shown of its URL, and whom credentials may be sent to."""

from __future__ import annotations

import base64
import ipaddress
import socket
from collections.abc import Mapping
from urllib.parse import SplitResult, unquote, urljoin, urlsplit, urlunsplit

from specrules.evidence.gguf.errors import GgufError

HUGGING_FACE = "https://huggingface.co"
SCHEMES = ("http", "https")
_PORTS = {"http": 80, "https": 443}
_TOKENS = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


def is_url(source: str) -> bool:
    """Say whether a source is a URL that can be fetched, and no path."""
    return source.lower().startswith(("http://", "https://"))


def shown(url: str) -> str:
    """Return the URL without user, password and query, all of which can hold secrets."""
    parts = urlsplit(url)
    host = _host(parts)
    port = f":{parts.port}" if parts.port else ""
    return urlunsplit((parts.scheme, f"[{host}]{port}" if ":" in host else host + port, parts.path, "", ""))


def download_url(url: str) -> str:
    """Return the URL under which the bytes of a file are: on Hugging Face, `resolve` for the page `blob`.

    Raises GgufError for what is no http or https URL.
    """
    try:
        parts = urlsplit(url.strip())
        parts.port  # noqa: B018  a port that is no number raises here
    except ValueError as error:
        raise GgufError(f"no URL: {error}", "") from None
    if parts.scheme not in SCHEMES or not parts.hostname:
        raise GgufError("only http and https URLs can be read", shown(url) if parts.hostname else "")
    pieces = parts.path.split("/")
    if parts.hostname in {"huggingface.co", "www.huggingface.co"} and len(pieces) > 5 and pieces[3] == "blob":
        parts = parts._replace(path="/".join([*pieces[:3], "resolve", *pieces[4:]]), query="")
    return urlunsplit(parts._replace(fragment=""))


def without_user(url: str) -> str:
    """Return the URL without user and password."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def with_name(url: str, name: str) -> str:
    """Return the URL of another file in the same folder, with the same query."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(path=parts.path.rpartition("/")[0] + "/" + name))


def file_name(url: str) -> str:
    """Return the last part of the path."""
    return urlsplit(url).path.rpartition("/")[2]


def authorization(url: str, environ: Mapping[str, str]) -> str:
    """Return the header for the host of the URL: its own user and password, or the token of Hugging Face, or nothing.

    The token is taken from `HF_TOKEN` or `HUGGING_FACE_HUB_TOKEN`, for the host of `HF_ENDPOINT` (huggingface.co).
    Raises GgufError for a token that cannot be sent, without showing it.
    """
    parts = urlsplit(url)
    if parts.username is not None:
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        return "Basic " + base64.b64encode(pair.encode()).decode()
    if not same_origin(url, environ.get("HF_ENDPOINT") or HUGGING_FACE):
        return ""
    for name in _TOKENS:
        token = environ.get(name, "").strip()
        if token:
            if not (token.isascii() and token.isprintable()) or " " in token:
                raise GgufError(f"the token in {name} has characters that no token has", shown(url))
            return f"Bearer {token}"
    return ""


def same_origin(one: str, other: str) -> bool:
    """Say whether scheme, host and port are the same."""
    return _origin(urlsplit(one)) == _origin(urlsplit(other))


def redirected(first: str, current: str, location: str, *, allow_private: bool = False) -> str:
    """Return where a redirect leads. Raises GgufError where it may not be followed.

    The scheme has to stay. A private, local or otherwise special address is followed only where the first URL had one,
    or with `allow_private`: else a public server could make this machine ask its own network. A link-local one, where
    clouds keep the credentials of their machines, is followed only where the first URL was link-local itself.
    """
    try:
        target = urljoin(current, location)
        parts = urlsplit(target)
        parts.port  # noqa: B018
    except ValueError:
        raise GgufError("redirects to what is no URL", shown(current)) from None
    if parts.scheme != urlsplit(first).scheme:
        hint = "use the https URL" if parts.scheme == "https" else ""
        raise GgufError(f"redirects to another scheme, {parts.scheme or 'none'}", shown(current), None, hint)
    if not parts.hostname:
        raise GgufError("redirects to what is no URL", shown(current))
    if not allow_private and not same_origin(first, target) and _leads_inside(first, target):
        message = f"redirects to {parts.hostname}, which is an address of a private network or of this machine"
        raise GgufError(message, shown(current))
    return without_user(urlunsplit(parts._replace(fragment="")))


def has_special_address(url: str) -> bool:
    """Say whether the host of a URL has any address that is not public. False where it cannot be found out."""
    return any(is_special(found) for found in _addresses(url))


def may_not_lead_to(first: str, found: str) -> bool:
    """Say whether an IP address is one that redirects from `first` may not reach. ValueError for what is none."""
    if _is_link_local(found):
        return not any(_is_link_local(own) for own in _addresses(first))
    return is_special(found) and not has_special_address(first)


def _leads_inside(first: str, target: str) -> bool:
    return any(may_not_lead_to(first, found) for found in _addresses(target))


def _addresses(url: str) -> list[str]:
    """Return the IP addresses of a URL's host, none where they cannot be found out."""
    parts = urlsplit(url)
    host = _host(parts)
    try:
        is_special(host)
    except ValueError:
        pass
    else:
        return [host]
    try:
        found = socket.getaddrinfo(host, parts.port or _PORTS.get(parts.scheme), type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return [str(address[0]) for *_, address in found]


def is_special(address: str) -> bool:
    """Say whether an IP address is not public: private, of this machine, link-local, multicast, reserved.

    Raises ValueError for what is no IP address.
    """
    parsed = _parsed(address)
    return not parsed.is_global or parsed.is_multicast


def _is_link_local(address: str) -> bool:
    return _parsed(address).is_link_local


def _parsed(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """Parse an address; one that stands for an IPv4 address is that."""
    parsed = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(parsed, ipaddress.IPv6Address):
        inner = parsed.ipv4_mapped or parsed.sixtofour
        if parsed in _NAT64:
            inner = ipaddress.IPv4Address(int(parsed) & 0xFFFFFFFF)
        if inner is not None:
            return inner
    return parsed


def _origin(parts: SplitResult) -> tuple[str, str, int | None]:
    return parts.scheme, _host(parts), parts.port or _PORTS.get(parts.scheme)


def _host(parts: SplitResult) -> str:
    return (parts.hostname or "").rstrip(".")
