"""A file server in a thread that can be told to misbehave, and that remembers what it was asked and what it sent."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

#: Answers a request itself, or returns False to have the file sent as it should be.
Behaviour = Callable[["Handler"], bool]


@dataclass
class FileServer:
    """What is served. `asked` has the path and the headers of every request, `sent` counts the bytes of bodies."""

    files: dict[str, bytes]
    behave: Behaviour | None = None
    etag: str = '"one"'
    origin: str = ""
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    sent: int = 0

    def url(self, path: str = "/model.gguf") -> str:
        return self.origin + path

    @property
    def ranges(self) -> list[str]:
        return [headers.get("range", "") for _, headers in self.asked]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    state: FileServer

    def log_request(self, code: object = "-", size: object = "-") -> None:
        """Nothing is written to the standard error of the tests."""

    def do_GET(self) -> None:
        state = self.state
        state.asked.append((self.path, {key.lower(): value for key, value in self.headers.items()}))
        with suppress(ConnectionError):
            if not (state.behave and state.behave(self)):
                self.serve()

    @property
    def count(self) -> int:
        """Which request this is, from 1."""
        return len(self.state.asked)

    @property
    def content(self) -> bytes | None:
        return self.state.files.get(self.path.partition("?")[0])

    @property
    def wanted(self) -> tuple[int, int]:
        match = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers["Range"])
        assert match
        return int(match[1]), int(match[2]) + 1

    def serve(self) -> None:
        """Send what was asked for, as RFC 9110 has it."""
        if self.content is None:
            self.answer(404, b"not here")
        elif self.headers.get("If-None-Match") == self.state.etag:
            self.answer(304, None, ETag=self.state.etag)
        elif self.headers.get("If-Range", self.state.etag) != self.state.etag:
            self.answer(200, self.content, ETag=self.state.etag)
        elif self.wanted[0] >= len(self.content):
            self.answer(416, b"", **{"Content-Range": f"bytes */{len(self.content)}"})
        else:
            self.part(*self.wanted)

    def part(self, start: int, end: int, **headers: str) -> None:
        """Send a part of the file as 206."""
        content = self.content or b""
        end = min(end, len(content))
        said = {"Content-Range": f"bytes {start}-{end - 1}/{len(content)}", "ETag": self.state.etag}
        self.answer(206, content[start:end], **(said | headers))

    def answer(self, status: int, body: bytes | None, **headers: str) -> None:
        self.send_response(status)
        for key, value in headers.items():
            if value:
                self.send_header(key.replace("_", "-"), value)
        if body is not None and "Content-Length" not in headers:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.send(body or b"")

    def send(self, body: bytes) -> None:
        for at in range(0, len(body), 1 << 14):
            piece = body[at : at + (1 << 14)]
            self.state.sent += len(piece)  # before it goes out: the client may be done with it at once
            self.wfile.write(piece)

    def drip(self, body: bytes, seconds: float) -> None:
        """Send a byte at a time."""
        for byte in body:
            self.send(bytes([byte]))
            time.sleep(seconds)


class Quiet(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that go away are what most tests are about."""


@contextmanager
def serving(files: dict[str, bytes], behave: Behaviour | None = None) -> Iterator[FileServer]:
    state = FileServer(files, behave)
    handler = type("Bound", (Handler,), {"state": state})
    with Quiet(("127.0.0.1", 0), handler) as server:
        state.origin = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield state
        finally:
            server.shutdown()
            thread.join()
