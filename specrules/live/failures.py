"""What went wrong with a server or its answer, in one line each."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from specrules.errors import EvidenceError, Location, Problem

if TYPE_CHECKING:
    import httpx

_LONGEST = 160
_MEANINGS = {
    403: ("403: access is refused", ""),
    404: ("404: there is nothing at this address", ""),
    405: ("405: the server takes no such request here", "is this the address of the server itself?"),
    429: ("429: too many requests", "try again later"),
    501: ("501: the server has this switched off", ""),
    502: ("502: a proxy does not reach the server", ""),
    503: ("503: the server is busy", "try again later"),
    504: ("504: a proxy waited too long for the server", ""),
}


class LiveError(EvidenceError):
    """A server gave no answer that can be used. `status` is None where it gave none at all."""

    def __init__(self, message: str, place: str, hint: str = "", status: int | None = None) -> None:
        self.status = status
        super().__init__(Problem(message, Location(place), hint))


class TooLargeError(LiveError):
    """An answer is larger than the limit."""


class ServerGoneError(LiveError):
    """The server is not there, or was lost in the middle of an answer."""


def failed(error: httpx.HTTPError, place: str, received: int, *, connect_s: float, read_s: float) -> LiveError:
    """Return the error for a connection that failed after so many bytes of the answer."""
    import httpx

    if isinstance(error, httpx.ConnectTimeout):
        return ServerGoneError(f"no connection after {connect_s:g} s", place)
    if isinstance(error, httpx.TimeoutException):
        return ServerGoneError(f"no answer for {read_s:g} s", place)
    if isinstance(error, httpx.ConnectError):
        return _no_connection(error, place)
    if isinstance(error, httpx.RemoteProtocolError | httpx.ReadError | httpx.WriteError | httpx.DecodingError):
        return ServerGoneError(
            f"the answer was cut off after {received} bytes" if received else "the server hung up", place
        )
    return ServerGoneError(f"the connection failed: {error or type(error).__name__}", place)


def refused(status: int, place: str, said: str = "", *, sent_credentials: bool = False) -> LiveError:
    """Return the error for a status that brings nothing; `said` is what the server says of it."""
    if status == 401 and sent_credentials:
        message, hint = "401: the server does not accept the credentials", "is the token right, and not expired?"
    elif status == 401:
        message, hint = (
            "401: the server wants credentials",
            "put a token into the environment, or the host into ~/.netrc",
        )
    else:
        message, hint = _MEANINGS.get(status, (f"HTTP status {status}", ""))
    return LiveError(f"{message}: {said}" if said else message, place, hint, status)


def message_of(text: str) -> str:
    """Return what an error answer says in the shapes that servers use, on one line; nothing where it says nothing."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    for key in ("error", "message", "detail"):
        found = data.get(key) if isinstance(data, dict) else None
        if isinstance(found, dict):
            found = found.get("message")
        if isinstance(found, str) and found.strip():
            return one_line(found)
    return ""


def one_line(text: str) -> str:
    """Return the beginning of a text as one line of printable characters."""
    clean = "".join(char if char.isprintable() else " " for char in text[: 4 * _LONGEST])
    short = " ".join(clean.split())
    return short if len(short) <= _LONGEST else short[:_LONGEST] + " .."


def _no_connection(error: httpx.ConnectError, place: str) -> LiveError:
    """Return the error for a connection that was not made: TLS, a name that is not known, or nobody who listens."""
    text = str(error)
    lowered = text.lower()
    if "certificate" in lowered or "ssl" in lowered or "tls" in lowered:
        hint = "put the authority's certificate into the file that SSL_CERT_FILE names"
        reason = text.split("] ", 1)[-1].split(" (_ssl", 1)[0]
        return LiveError(f"TLS failed: {reason}", place, hint)
    if "refused" in lowered:
        return ServerGoneError("the connection was refused: nothing listens there", place)
    return ServerGoneError(f"no connection: {text or type(error).__name__}", place)
