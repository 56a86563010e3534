"""What crosses the wire for a header, counted by the server."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gguf_files import SIZES, Size, write_model

from specrules.evidence.gguf.remote import fetch_header
from tests.unit.evidence.gguf.nginx import NGINX, serving_nginx
from tests.unit.evidence.gguf.server import serving


@dataclass(frozen=True)
class Transfer:
    """How one client read one header."""

    like: str
    client: str
    header_bytes: int
    sent_bytes: int
    requests: int

    @property
    def ratio(self) -> float:
        """Bytes sent for each byte of the header."""
        return self.sent_bytes / self.header_bytes


def server_name() -> str:
    """Say which server is asked."""
    return "nginx" if NGINX else "http.server"


def transfers() -> Iterator[Transfer]:
    """Yield how every client that is installed reads every size of header."""
    clients = {"specrules": _specrules, **_others()}
    for size in SIZES:
        for name, fetch in clients.items():
            with tempfile.TemporaryDirectory() as folder, _serving(Path(folder), size) as (url, header_bytes, sent):
                fetch(url)
                yield Transfer(size.like, name, header_bytes, *sent())


@contextmanager
def _serving(folder: Path, size: Size) -> Iterator[tuple[str, int, Callable[[], tuple[int, int]]]]:
    """Serve a model. Yields its URL, the bytes of its header, and a function for the bytes and answers sent so far."""
    (folder / "files").mkdir()
    path = folder / "files" / "model.gguf"
    header_bytes = write_model(path, size)
    if not NGINX:
        with serving({"/model.gguf": path.read_bytes()}) as server:
            yield server.url(), header_bytes, lambda: (server.sent, len(server.asked))
        return
    with serving_nginx(folder) as nginx:

        def sent() -> tuple[int, int]:
            time.sleep(0.2)  # nginx logs a request after its answer
            answers = [int(line.split()[1]) for line in nginx.log(1)]
            return sum(answers), len(answers)

        yield f"{nginx.origin}/model.gguf", header_bytes, sent


def _specrules(url: str) -> None:
    fetch_header(url, environ={})


def _others() -> dict[str, Callable[[str], None]]:
    try:
        import httpx2
        from hf_mem.gguf.fetch import fetch_gguf_metadata
    except ImportError:
        return {}

    async def fetch(url: str) -> None:
        async with httpx2.AsyncClient() as client:
            await fetch_gguf_metadata(client, url)

    return {"hf-mem": lambda url: asyncio.run(fetch(url))}
