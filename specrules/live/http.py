"""One server that is asked over HTTP, bounded in time and size. Credentials are sent to it alone and never shown."""

from __future__ import annotations

import base64
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

from specrules.errors import EvidenceError, Location, Problem
from specrules.evidence.gguf import address
from specrules.evidence.gguf.visits import Visit, visit
from specrules.evidence.gguf.visits import client as guarded_client
from specrules.live.failures import LiveError, ServerGoneError, TooLargeError, failed, message_of, refused

if TYPE_CHECKING:
    import httpx

__all__ = [
    "Answer",
    "Limits",
    "LiveError",
    "Server",
    "ServerGoneError",
    "Streamed",
    "TooLargeError",
    "authorization",
    "base_shown",
    "check_base",
    "refusal",
    "server",
]

TOKEN_VARIABLE = "SPECRULES_TOKEN"  # noqa: S105 - the name of the variable, not what it holds
_BEARERS = frozenset({"bearer", "__token__"})


@dataclass(frozen=True, slots=True)
class Limits:
    """What asking may cost: seconds to connect, between two pieces of an answer and for one answer; bytes of one."""

    connect_s: float = 10.0
    read_s: float = 30.0
    total_s: float = 120.0
    max_bytes: int = 64 << 20


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer. `place` is the address without what may be secret in it."""

    status: int
    content_type: str
    body: bytes
    place: str
    sent_credentials: bool

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode("utf-8", errors="replace")

    def json(self) -> Any:
        """Return the body as JSON. LiveError where it is a page of HTML, cut off, or no JSON."""
        text = self.text
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


@dataclass(frozen=True, slots=True)
class Streamed:
    """An answer of which the body is still to come, in pieces as they arrive."""

    status: int
    content_type: str
    place: str
    sent_credentials: bool
    pieces: Iterator[bytes]

    def whole(self) -> Answer:
        """Read the rest. LiveError where it does not come, or is too much."""
        return Answer(self.status, self.content_type, b"".join(self.pieces), self.place, self.sent_credentials)


class Server:
    """A server at a base address, which may have a path. Made by `server`. May be asked from several threads."""

    def __init__(
        self, base: str, client: httpx.Client, limits: Limits, credentials: str, *, allow_private: bool = False
    ) -> None:
        self._base = base.rstrip("/")
        self._client = client
        self._limits = limits
        self._credentials = credentials
        self._allow_private = allow_private

    @property
    def place(self) -> str:
        """The base address as messages show it."""
        return address.shown(self._base)

    def get(self, path: str, parameters: Mapping[str, str] | None = None) -> Answer:
        """Return the answer to a GET request, whatever its status. LiveError where there is none."""
        with self._ask(path + (f"?{urlencode(parameters)}" if parameters else "")) as found:
            return found.whole()

    def post(self, path: str, body: Mapping[str, Any]) -> Answer:
        """Return the answer to a POST of JSON, whatever its status. LiveError where there is none."""
        with self._ask(path, body) as found:
            return found.whole()

    def json(self, path: str, parameters: Mapping[str, str] | None = None) -> Any:
        """Return a JSON answer of status 200. LiveError with what another status means."""
        answer = self.get(path, parameters)
        if answer.status != 200:
            raise self._refusal(answer)
        return answer.json()

    def posted_json(self, path: str, body: Mapping[str, Any]) -> Any:
        """Return the JSON answer of status 200 to a POST of JSON. LiveError with what another status means."""
        answer = self.post(path, body)
        if answer.status != 200:
            raise self._refusal(answer)
        return answer.json()

    @contextmanager
    def streamed(self, path: str, body: Mapping[str, Any]) -> Iterator[Streamed]:
        """Post JSON and give the answer while it comes. LiveError for another status than 200.

        While pieces are read: TooLargeError, ServerGoneError where the connection breaks or a limit of time is reached.
        """
        with self._ask(path, body) as found:
            if found.status != 200:
                raise self._refusal(found.whole())
            yield found

    def _refusal(self, answer: Answer) -> LiveError:
        """Return the error for an answer. Servers may repeat the token that they refuse: it is masked."""
        secret = self._credentials.partition(" ")[2].encode()
        return refusal(replace(answer, body=answer.body.replace(secret, b"***")) if secret else answer)

    @contextmanager
    def _ask(self, path: str, body: Mapping[str, Any] | None = None) -> Iterator[Streamed]:
        import httpx

        url = self._base + path
        place = address.shown(url)
        received = _Received(self._limits, place)
        try:
            with ExitStack() as stack:
                found = self._visited(stack, url, body)
                kind = found.response.headers.get("content-type", "")
                pieces = received.counted(found.response)
                yield Streamed(found.response.status_code, kind, place, found.sent, pieces)
        except httpx.HTTPError as error:
            raise failed(
                error, place, received.bytes, connect_s=self._limits.connect_s, read_s=self._limits.read_s
            ) from None

    def _visited(self, stack: ExitStack, url: str, body: Mapping[str, Any] | None) -> Visit:
        """Ask, and once more where the connection broke before anything came.

        A connection that is kept open may be closed by the server at the very moment at which it is used again.
        """
        import httpx

        def again() -> Visit:
            return stack.enter_context(
                visit(
                    self._client,
                    url,
                    {"Accept": "application/json, text/event-stream, */*"},
                    first=url,
                    credentials=self._credentials,
                    body=body,
                    allow_private=self._allow_private,
                )
            )

        try:
            return again()
        except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError):
            return again()


class _Received:
    """The bytes of one answer, counted and timed."""

    def __init__(self, limits: Limits, place: str) -> None:
        self.bytes = 0
        self._limits = limits
        self._place = place
        self._deadline = time.monotonic() + limits.total_s

    def counted(self, response: httpx.Response) -> Iterator[bytes]:
        for piece in response.iter_bytes():
            self.bytes += len(piece)
            if self.bytes > self._limits.max_bytes:
                limit = f"{self._limits.max_bytes >> 20} MiB"
                raise TooLargeError(f"the answer is larger than {limit}", self._place, status=response.status_code)
            if time.monotonic() > self._deadline:
                raise ServerGoneError(f"the answer is not complete after {self._limits.total_s:g} s", self._place)
            yield piece


@contextmanager
def server(
    base: str, *, limits: Limits | None = None, credentials: str = "", allow_private: bool = False
) -> Iterator[Server]:
    """Open a server and close its connections at the end. `credentials` is a header from `authorization`.

    With `allow_private` redirects may lead from a public address to a private one. Raises EvidenceError for what is no
    http or https URL, for one that holds a password or a query, and for credentials over http to a public address.
    """
    check_base(base)
    if credentials and urlsplit(base).scheme == "http" and not address.has_special_address(base):
        hint = "use https"
        raise LiveError("credentials would travel unencrypted over a public network", base_shown(base), hint)
    limits = limits or Limits()
    with guarded_client(base, connect_s=limits.connect_s, read_s=limits.read_s) as client:
        yield Server(base, client, limits, credentials, allow_private=allow_private)


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

    The file is that of the variable NETRC, else ~/.netrc; the login `bearer` makes its password a bearer token. Raises
    EvidenceError, which shows no secret, for a token or a file that cannot be used.
    """
    import netrc
    from pathlib import Path

    token = environ.get(token_variable, "").strip() if token_variable else ""
    if token:
        return _bearer(token, token_variable)
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
    if user in _BEARERS:
        return _bearer(password or "", "netrc")
    pair = f"{user or ''}:{password or ''}"
    return "Basic " + base64.b64encode(pair.encode()).decode()


def _bearer(token: str, source: str) -> str:
    if not (token.isascii() and token.isprintable()) or " " in token:
        raise EvidenceError(f"the token in {source} has characters that no token has")
    return f"Bearer {token}"


def refusal(answer: Answer) -> LiveError:
    """Return the error for an answer whose status says that it brings nothing, with what the server says of it."""
    return refused(answer.status, answer.place, message_of(answer.text), sent_credentials=answer.sent_credentials)
