"""One server that is asked over HTTP, bounded in time and size. Credentials are sent to it alone and never shown."""

from __future__ import annotations

import base64
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

from specrules.errors import EvidenceError, Location, Problem
from specrules.evidence.gguf import address
from specrules.evidence.gguf.visits import client as guarded_client
from specrules.evidence.gguf.visits import visit

if TYPE_CHECKING:
    import httpx


@dataclass(frozen=True, slots=True)
class Limits:
    """What asking may cost: seconds to connect, between two pieces of an answer and for one answer; bytes of one."""

    connect_s: float = 10.0
    read_s: float = 30.0
    total_s: float = 120.0
    max_bytes: int = 64 << 20


class LiveError(EvidenceError):
    """A server gave no answer that can be used. `status` is None where it gave none at all."""

    def __init__(self, message: str, place: str, hint: str = "", status: int | None = None) -> None:
        self.status = status
        super().__init__(Problem(message, Location(place), hint))


class TooLargeError(LiveError):
    """An answer is larger than the limit."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer. `place` is the address without what may be secret in it."""

    status: int
    content_type: str
    body: bytes
    place: str
    sent_credentials: bool

    def json(self) -> Any:
        """Return the body as JSON. LiveError where it is a page of HTML, cut off, or no JSON."""
        text = self.body.decode("utf-8", errors="replace")
        if "html" in self.content_type.lower() or text.lstrip()[:1] == "<":
            hint = "is this the address of the server itself, or of a page or a log-in in front of it?"
            raise LiveError("the answer is a page of HTML, not JSON", self.place, hint, self.status)
        try:
            return json.loads(text)
        except json.JSONDecodeError as error:
            cut = error.pos >= len(text.rstrip()) - 1 or error.msg.startswith("Unterminated")
            message = "the answer is cut off" if cut else f"the answer is not JSON: {error.msg}"
            raise LiveError(message, self.place, status=self.status) from None
        except (ValueError, RecursionError) as error:
            raise LiveError(f"the answer is not JSON that can be read: {error}", self.place) from None


class Server:
    """A server at a base address, which may have a path. Made by `server`."""

    def __init__(self, base: str, client: httpx.Client, limits: Limits, credentials: str) -> None:
        self._base = base.rstrip("/")
        self._client = client
        self._limits = limits
        self._credentials = credentials

    @property
    def place(self) -> str:
        """The base address as messages show it."""
        return address.shown(self._base)

    def get(self, path: str, parameters: Mapping[str, str] | None = None) -> Answer:
        """Return the answer to a GET request, whatever its status. LiveError where there is none."""
        import httpx

        url = self._base + path + (f"?{urlencode(parameters)}" if parameters else "")
        place = address.shown(url)
        deadline = time.monotonic() + self._limits.total_s
        data = bytearray()
        try:
            with visit(self._client, url, {}, first=url, credentials=self._credentials) as found:
                response = found.response
                for chunk in response.iter_bytes():
                    data += chunk
                    if len(data) > self._limits.max_bytes:
                        limit = f"{self._limits.max_bytes >> 20} MiB"
                        raise TooLargeError(f"the answer is larger than {limit}", place, status=response.status_code)
                    if time.monotonic() > deadline:
                        raise LiveError(f"the answer is not complete after {self._limits.total_s:g} s", place)
                kind = response.headers.get("content-type", "")
                return Answer(response.status_code, kind, bytes(data), place, found.sent)
        except httpx.ConnectTimeout:
            raise LiveError(f"no connection after {self._limits.connect_s:g} s", place) from None
        except httpx.TimeoutException:
            raise LiveError(f"no answer for {self._limits.read_s:g} s", place) from None
        except httpx.ConnectError as error:
            raise _no_connection(error, place) from None
        except (httpx.RemoteProtocolError, httpx.ReadError, httpx.DecodingError):
            message = f"the answer was cut off after {len(data)} bytes" if data else "the server hung up"
            raise LiveError(message, place) from None
        except httpx.HTTPError as error:
            raise LiveError(f"the connection failed: {error or type(error).__name__}", place) from None

    def json(self, path: str, parameters: Mapping[str, str] | None = None) -> Any:
        """Return a JSON answer of status 200. LiveError with what another status means."""
        answer = self.get(path, parameters)
        if answer.status != 200:
            raise refusal(answer)
        return answer.json()


@contextmanager
def server(base: str, *, limits: Limits | None = None, credentials: str = "") -> Iterator[Server]:
    """Open a server and close its connections at the end. `credentials` is a header from `authorization`.

    Raises EvidenceError for what is no http or https URL, and for one that holds a password or a query.
    """
    check_base(base)
    limits = limits or Limits()
    with guarded_client(base, connect_s=limits.connect_s, read_s=limits.read_s) as client:
        yield Server(base, client, limits, credentials)


def check_base(base: str) -> None:
    """Raise EvidenceError for what is no address of a server."""
    try:
        parts = urlsplit(base)
        port_is_number = parts.port is None or parts.port >= 0
    except ValueError as error:
        raise EvidenceError(f"no URL: {error}") from None
    if parts.scheme not in address.SCHEMES or not parts.hostname or not port_is_number:
        raise EvidenceError("only http and https URLs can be asked")
    if parts.username is not None or parts.password is not None:
        hint = "leave them out and put them into ~/.netrc"
        raise LiveError(
            "user and password in a URL end up in lists of processes and in reports", base_shown(base), hint
        )
    if parts.query or parts.fragment:
        raise LiveError("the address of a server has no query", base_shown(base))


def base_shown(base: str) -> str:
    """Return an address without user, password and query."""
    return address.shown(base)


def authorization(base: str, token_variable: str, environ: Mapping[str, str] = os.environ) -> str:
    """Return the header for a server: a bearer token from a variable, or what netrc has for the host, or nothing.

    The file is that of the variable NETRC, else ~/.netrc. Raises EvidenceError, which shows no secret, for a token or
    a file that cannot be used.
    """
    import netrc
    from pathlib import Path

    token = environ.get(token_variable, "").strip() if token_variable else ""
    if token:
        if not (token.isascii() and token.isprintable()) or " " in token:
            raise EvidenceError(f"the token in {token_variable} has characters that no token has")
        return f"Bearer {token}"
    path = Path(environ.get("NETRC") or Path.home() / ".netrc")
    try:
        if not path.is_file():
            return ""
        # An entry `default` is for whoever asks, and this is not for whoever asks.
        found = netrc.netrc(str(path)).hosts.get(urlsplit(base).hostname or "")
    except netrc.NetrcParseError as error:
        # Its message may quote a password.
        raise EvidenceError(Problem("does not parse as netrc", Location(str(path), error.lineno or 0))) from None
    except (OSError, ValueError) as error:
        raise EvidenceError(Problem(f"cannot be read: {error}", Location(str(path)))) from None
    if found is None:
        return ""
    user, _, password = found
    pair = f"{user or ''}:{password or ''}"
    return "Basic " + base64.b64encode(pair.encode()).decode()


def refusal(answer: Answer) -> LiveError:
    """Return the error for an answer whose status says that it brings nothing."""
    meanings = {
        401: ("401: the server does not accept the credentials", "is the token right, and not expired?")
        if answer.sent_credentials
        else ("401: the server wants credentials", "put a token into the environment, or the host into ~/.netrc"),
        403: ("403: access is refused", ""),
        404: ("404: there is nothing at this address", ""),
        429: ("429: too many requests", "try again later"),
        503: ("503: the server is busy", "try again later"),
    }
    message, hint = meanings.get(answer.status, (f"HTTP status {answer.status}", ""))
    return LiveError(message, answer.place, hint, answer.status)


def _no_connection(error: httpx.ConnectError, place: str) -> LiveError:
    """Return the error for a connection that was not made: TLS, a name that is not known, or nobody who listens."""
    text = str(error)
    lowered = text.lower()
    if "certificate" in lowered or "ssl" in lowered or "tls" in lowered:
        hint = "put the authority's certificate into the file that SSL_CERT_FILE names"
        reason = text.split("] ", 1)[-1].split(" (_ssl", 1)[0]
        return LiveError(f"TLS failed: {reason}", place, hint)
    if "refused" in lowered:
        return LiveError("the connection was refused: nothing listens there", place)
    return LiveError(f"no connection: {text or type(error).__name__}", place)
