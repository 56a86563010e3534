"""Tokenizer files on a web server of this machine."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from specrules.errors import EvidenceError
from specrules.evidence.tokenizers import load_tokenizer

from .build import SIZE, gguf_file, tokenizer_json

TOKENIZER = json.dumps(tokenizer_json()).encode()


class Handler(BaseHTTPRequestHandler):
    files: ClassVar[dict[str, bytes | int | str]] = {}
    ranges: ClassVar[list[str]] = []
    seen: ClassVar[list[tuple[str, str | None]]] = []

    def do_GET(self) -> None:
        self.seen.append((self.path, self.headers.get("Authorization")))
        self.ranges.append(self.headers.get("Range", ""))
        answer = self.files.get(self.path.partition("?")[0], 404)
        if isinstance(answer, str):
            self.send_response(302)
            self.send_header("Location", answer)
        else:
            self.send_response(answer if isinstance(answer, int) else 200)
        body = answer if isinstance(answer, bytes) else b""
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Stay silent."""


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "HF_ENDPOINT", "HF_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    Handler.files, Handler.seen, Handler.ranges = {}, [], []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_tokenizer_json_with_what_lies_beside_it(site: str) -> None:
    Handler.files = {
        "/m/tokenizer.json": TOKENIZER,
        "/m/config.json": b'{"vocab_size": 420}',
        "/m/tokenizer_config.json": 403,
    }
    found = load_tokenizer(f"{site}/m/tokenizer.json")
    assert (found.rows, len(found.texts), found.source) == (SIZE, SIZE, f"{site}/m/tokenizer.json")


def test_secrets_of_an_address_are_sent_and_not_shown(site: str) -> None:
    Handler.files = {"/tokenizer.json": "/moved/here.json", "/moved/here.json": TOKENIZER}
    address = site.replace("http://", "http://me:pass@") + "/tokenizer.json?token=secret"
    found = load_tokenizer(address)
    assert found.source == f"{site}/tokenizer.json"
    basic = "Basic bWU6cGFzcw=="
    assert Handler.seen[:2] == [("/tokenizer.json?token=secret", basic), ("/moved/here.json", basic)]


def test_credentials_do_not_follow_to_another_host(site: str) -> None:
    Handler.files = {
        "/tokenizer.json": site.replace("127.0.0.1", "localhost") + "/there.json",
        "/there.json": TOKENIZER,
    }
    load_tokenizer(site.replace("http://", "http://me:pass@") + "/tokenizer.json")
    assert ("/there.json", None) in Handler.seen


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (404, "there is no such file"),
        (401, "credentials"),
        (206, "HTTP status 206"),
        (500, "HTTP status 500"),
        ("file:///etc/passwd", "another scheme"),
        ("/tokenizer.json", "more than 5 redirects"),
        (b"<html>", "no tokenizer is recognised"),
    ],
)
def test_what_a_server_does_instead(site: str, answer: bytes | int | str, message: str) -> None:
    Handler.files = {"/tokenizer.json": answer}
    with pytest.raises(EvidenceError, match=message) as caught:
        load_tokenizer(f"{site}/tokenizer.json?token=secret")
    assert "secret" not in str(caught.value)


class Names:
    """A name server that may say something else when the connection is made than when it was asked before."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, looked_up: dict[str, str]) -> None:
        self.real = socket.getaddrinfo
        self.looked_up = looked_up
        monkeypatch.setattr(socket, "getaddrinfo", self.answer)

    def answer(self, host: str, port: int, *args: Any, **more: Any) -> Any:
        address = self.looked_up.get(host, "127.0.0.1") if "type" in more else "127.0.0.1"
        return self.real(address, port, *args, **more)


@pytest.mark.parametrize(
    ("looked_up", "message"),
    [
        ({"start.test": "8.8.8.8"}, r"redirects to there.test, which is an address of a private network"),
        ({"start.test": "8.8.8.8", "there.test": "8.8.4.4"}, r"redirects to an address of a private network"),
    ],
    ids=["looked up", "connected to"],
)
@pytest.mark.parametrize("name", ["tokenizer.json", "config.json"])
def test_a_public_server_leads_to_no_private_one(
    site: str, monkeypatch: pytest.MonkeyPatch, looked_up: dict[str, str], message: str, name: str
) -> None:
    Names(monkeypatch, looked_up)
    there = site.replace("127.0.0.1", "there.test") + "/secret.json"
    Handler.files = {"/tokenizer.json": TOKENIZER, "/secret.json": TOKENIZER, f"/{name}": there}
    with pytest.raises(EvidenceError, match=message):
        load_tokenizer(site.replace("127.0.0.1", "start.test") + "/tokenizer.json")
    assert (("/secret.json", None) in Handler.seen) is ("there.test" in looked_up)


def test_a_private_server_may_lead_to_another(site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Names(monkeypatch, {})
    there = site.replace("127.0.0.1", "there.test") + "/there.json"
    Handler.files = {"/tokenizer.json": there, "/there.json": TOKENIZER}
    assert len(load_tokenizer(site.replace("127.0.0.1", "start.test") + "/tokenizer.json").texts) == SIZE


def test_settings_of_a_proxy_that_make_no_sense(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "gopher://proxy")
    with pytest.raises(EvidenceError, match="proxy or certificate settings"):
        load_tokenizer("http://127.0.0.1:9/tokenizer.json")


def test_a_companion_that_fails_is_not_taken_for_absent(site: str) -> None:
    Handler.files = {"/tokenizer.json": TOKENIZER, "/config.json": 500}
    with pytest.raises(EvidenceError, match=r"config.json: HTTP status 500"):
        load_tokenizer(f"{site}/tokenizer.json")


def test_a_file_that_is_too_large(site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("specrules.evidence.tokenizers.web.MAX_DOCUMENT", 1000)
    Handler.files = {"/tokenizer.json": TOKENIZER}
    with pytest.raises(EvidenceError, match="larger than"):
        load_tokenizer(f"{site}/tokenizer.json")


def test_nobody_listens() -> None:
    with pytest.raises(EvidenceError, match="the connection failed"):
        load_tokenizer("http://127.0.0.1:9/tokenizer.json")


def test_a_head_on_a_server_reads_the_names_of_its_tensors_only(site: str) -> None:
    header = b'{"d2t": {}}'
    weights = len(header).to_bytes(8, "little") + header + bytes(1000)
    Handler.files = {"/config.json": b'{"vocab_size": 8, "draft_vocab_size": 4}', "/model.safetensors": weights}
    head = load_tokenizer(f"{site}/config.json").head
    assert head is not None
    assert (head.rows, head.table) == (4, True)
    assert Handler.ranges[-2:] == ["bytes=0-7", f"bytes=0-{len(header) + 7}"]


def test_a_gguf_file_on_a_server(site: str, tmp_path: Path) -> None:
    path = Path(gguf_file(tmp_path / "a.gguf"))
    Handler.files = {"/a.gguf": path.read_bytes()}
    found = load_tokenizer(f"{site}/a.gguf")
    assert found.texts.sha256 == load_tokenizer(str(path)).texts.sha256
