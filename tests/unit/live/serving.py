"""Small HTTP servers on this machine that answer, stream, stall and break off as a test says, on real sockets."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Reply:
    """A whole answer. `cut` says how many bytes of the body are really sent."""

    body: Any = b""
    status: int = 200
    kind: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    cut: int | None = None

    @property
    def data(self) -> bytes:
        if isinstance(self.body, bytes):
            return self.body
        return self.body.encode() if isinstance(self.body, str) else json.dumps(self.body).encode()


@dataclass
class Stream:
    """An answer in pieces; a number between them is a pause in seconds. `breaks` drops the connection at the end."""

    pieces: Iterable[bytes | float]
    kind: str = "text/event-stream"
    breaks: bool = False


@dataclass
class Asked:
    """A request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any
    at: float


Answer = Reply | Stream | None
Answers = Callable[[Asked], Answer]


@dataclass
class Running:
    """A server that runs. `most` is how many requests it answered at once at most."""

    url: str
    asked: list[Asked]
    stop: Callable[[], None]
    most: int = 0

    def paths(self, method: str | None = None) -> list[str]:
        return [item.path for item in self.asked if method is None or item.method == method]


@contextmanager
def serving(answer: Answers) -> Iterator[Running]:
    """Serve until the block ends. `answer` may return None to drop the connection without a word."""
    asked: list[Asked] = []
    state = Running("", asked, lambda: None)
    lock, busy = threading.Lock(), [0]
    open_sockets: set[socket.socket] = set()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            self._answered("GET", None)

        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self._answered("POST", json.loads(data) if data else None)

        def _answered(self, method: str, body: Any) -> None:
            request = Asked(method, self.path, dict(self.headers), body, time.monotonic())
            with lock:
                asked.append(request)
                busy[0] += 1
                state.most = max(state.most, busy[0])
            try:
                with suppress(ConnectionError):
                    self._send(answer(request))
            finally:
                with lock:
                    busy[0] -= 1

        def _send(self, reply: Answer) -> None:
            if reply is None:
                self._drop()
                return
            if isinstance(reply, Stream):
                self._stream(reply)
                return
            self.send_response(reply.status)
            self.send_header("Content-Type", reply.kind)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            data = reply.data
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data if reply.cut is None else data[: reply.cut])
            if reply.cut is not None:
                self._drop()

        def _stream(self, reply: Stream) -> None:
            self.send_response(200)
            self.send_header("Content-Type", reply.kind)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for piece in reply.pieces:
                if isinstance(piece, bytes):
                    self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
                    self.wfile.flush()
                else:
                    time.sleep(piece)
            if reply.breaks:
                self._drop()
            else:
                self.wfile.write(b"0\r\n\r\n")

        def _drop(self) -> None:
            self.close_connection = True
            with suppress(OSError):
                self.connection.shutdown(socket.SHUT_RDWR)

        def setup(self) -> None:
            super().setup()
            open_sockets.add(self.connection)

        def log_message(self, *_arguments: object) -> None:
            """Nothing is written to the standard error of the tests."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 64

        def handle_error(self, *_: object) -> None:
            """A connection that broke is what the test wanted."""

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    stopped = [False]

    def stop() -> None:
        """End the server as a kill does: nothing listens any more, and open connections break."""
        if stopped[0]:
            return
        stopped[0] = True
        server.shutdown()
        server.socket.close()
        for item in list(open_sockets):
            with suppress(OSError):
                item.shutdown(socket.SHUT_RDWR)
        thread.join()

    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    state.stop = stop
    try:
        yield state
    finally:
        stop()
        server.server_close()


def event(document: Any) -> bytes:
    """One server-sent event."""
    return b"data: " + (document.encode() if isinstance(document, str) else json.dumps(document).encode()) + b"\n\n"
