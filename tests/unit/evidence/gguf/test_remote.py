from __future__ import annotations

import gzip
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from specrules.errors import EvidenceError
from specrules.evidence.gguf import GgufError, Header, load_model
from specrules.evidence.gguf.cache import HeaderCache
from specrules.evidence.gguf.download import Limits
from specrules.evidence.gguf.remote import fetch_header, fetch_model
from tests.unit.evidence.gguf.build import LITTLE as B
from tests.unit.evidence.gguf.build import toy
from tests.unit.evidence.gguf.server import Behaviour, FileServer, Handler, serving
from tests.unit.evidence.gguf.vocabulary import LARGE, same

SMALL = toy()
PATH = "/model.gguf"
QUICK = Limits(read_s=5, total_s=10, pause_s=0)


def failing(server: FileServer, limits: Limits = QUICK, **more: object) -> str:
    with pytest.raises(GgufError) as caught:
        fetch_header(server.url(), limits=limits, environ={}, **more)
    assert caught.value.problems[0].where is not None
    return str(caught.value).removeprefix(server.url() + ": ")


# A server that does what it should.


def test_the_header_is_that_of_the_file_and_little_more_is_transferred(large: Header) -> None:
    with serving({PATH: LARGE}) as server:
        header = fetch_header(server.url(), environ={})
    assert same(header, large)
    assert header.name == server.url()
    assert server.sent <= 1.125 * large.header_bytes
    assert len(server.asked) <= 12
    assert [headers.get("if-range") for _, headers in server.asked] == [None, *['"one"'] * (len(server.asked) - 1)]
    assert all(headers["accept-encoding"] == "identity" for _, headers in server.asked)


def test_no_request_asks_for_more_than_4_mb_and_each_goes_on_where_the_last_ended() -> None:
    body = B.file([B.strings("a", ["x" * 92] * 100_000)])
    with serving({PATH: body}) as server:
        fetch_header(server.url(), environ={})
    edges = [tuple(map(int, said.removeprefix("bytes=").split("-"))) for said in server.ranges]
    assert [start for start, _ in edges] == [0, *(end + 1 for _, end in edges[:-1])]
    assert max(end + 1 - start for start, end in edges) == 4 << 20
    assert server.sent <= 1.2 * len(body)


def test_a_small_header_takes_one_request_of_64_kib() -> None:
    with serving({PATH: SMALL}) as server:
        header = fetch_header(server.url(), environ={})
    assert server.ranges == ["bytes=0-65535"]
    assert header.values["one.I"] == 7
    assert header.file_bytes == len(SMALL)


def test_progress_is_told_and_ends_at_what_came(large: Header) -> None:
    told: list[tuple[int, int]] = []
    with serving({PATH: LARGE}) as server:
        fetch_header(server.url(), environ={}, progress=lambda *now: told.append(now))
    assert [received for received, _ in told] == sorted({received for received, _ in told})
    assert large.header_bytes <= told[-1][0] <= server.sent
    assert all(expected <= 1.2 * large.header_bytes for _, expected in told)


def test_a_split_model_has_the_tensors_of_all_files_and_its_identity_needs_the_first_alone() -> None:
    def shard(number: int) -> bytes:
        split = [B.number("split.no", 2, number), B.number("split.count", 2, 2), B.number("split.tensors.count", 5, 1)]
        keys = [B.string("general.architecture", "llama"), B.strings("tokenizer.ggml.tokens", ["a"])]
        return B.file([*split, *(keys if number == 0 else [])], [B.tensor("t")] if number else [])

    files = {f"/m-0000{number + 1}-of-00002.gguf": shard(number) for number in (0, 1)}
    with serving(files) as server:
        whole = fetch_model(server.url("/m-00002-of-00002.gguf"), environ={})
        assert [path for path, _ in server.asked] == list(files)
        assert [tensor.name for tensor in whole.tensors] == ["t"]
        assert [header.name for header in whole.shards] == [server.url(path) for path in files]
        server.asked.clear()
        identity = load_model(server.url("/m-00002-of-00002.gguf?x=1"), identity_only=True)
        assert [path for path, _ in server.asked] == ["/m-00001-of-00002.gguf?x=1"]
        assert identity.values["general.architecture"] == "llama"


# Servers that do something else.


def test_a_server_that_ignores_ranges_is_read_only_as_far_as_the_header_goes(large: Header) -> None:
    body = LARGE + bytes(48 << 20)

    def whole(handler: Handler) -> bool:
        handler.answer(200, body)
        return True

    with serving({PATH: LARGE}, whole) as server:
        header = fetch_header(server.url(), environ={})
        assert header.tensors == large.tensors
        assert header.file_bytes == len(body)
        assert len(server.asked) == 1
        assert server.sent < len(body) / 2


def test_a_server_that_gives_half_of_what_was_asked_for_is_asked_again(large: Header) -> None:
    def half(handler: Handler) -> bool:
        start, end = handler.wanted
        handler.part(start, (start + end) // 2 + 1)
        return True

    with serving({PATH: LARGE}, half) as server:
        assert same(fetch_header(server.url(), environ={}), large)


def test_a_connection_that_breaks_is_taken_up_where_it_broke(large: Header) -> None:
    def breaks(handler: Handler) -> bool:
        start, end = handler.wanted
        body = LARGE[start : min(end, len(LARGE))]
        said = f"bytes {start}-{start + len(body) - 1}/{len(LARGE)}"
        handler.answer(206, body[: len(body) * 2 // 3], **{"Content-Range": said, "Content-Length": str(len(body))})
        handler.close_connection = True
        return True

    with serving({PATH: LARGE}, breaks) as server:
        assert same(fetch_header(server.url(), environ={}), large)
        assert server.sent <= 1.2 * large.header_bytes


def test_a_server_that_begins_again_from_the_start_must_send_the_same_bytes(large: Header) -> None:
    def restarts(body: bytes, handler: Handler) -> bool:
        if handler.count == 1:
            handler.part(0, 50_000)
        else:
            handler.answer(200, body, ETag=handler.state.etag)
        return True

    with serving({PATH: LARGE}, lambda handler: restarts(LARGE, handler)) as server:
        assert same(fetch_header(server.url(), environ={}), large)
    other = LARGE[:40_000] + b"!" + LARGE[40_001:]
    with serving({PATH: LARGE}, lambda handler: restarts(other, handler)) as server:
        assert failing(server) == "the file was changed while it was read (try again)"


def test_a_file_that_changes_between_two_requests_is_refused() -> None:
    def changes(handler: Handler) -> bool:
        handler.state.etag = f'"{min(handler.count, 2)}"'
        return False

    with serving({PATH: LARGE}, changes) as server:
        assert failing(server) == "the file was changed while it was read (try again)"


def test_a_file_that_grows_between_two_requests_is_refused() -> None:
    def grows(handler: Handler) -> bool:
        handler.state.etag = ""
        handler.state.files[PATH] += b"x"
        return False

    with serving({PATH: LARGE}, grows) as server:
        assert failing(server) == "the file was changed while it was read (try again)"


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("bytes 1-100/5000", "'bytes 1-100/5000', and the bytes from 0 on were asked for"),
        ("bytes 0-5000/5000", "were asked for"),
        ("bytes 5-4/5000", "were asked for"),
        ("items 0-9/10", "which says nothing"),
        ("bytes 0-99999999999999999999/*", "which says nothing"),
        ("", "206 with the range '', which says nothing"),
    ],
)
def test_a_range_that_cannot_be_is_refused(said: str, words: str) -> None:
    def lies(handler: Handler) -> bool:
        handler.answer(206, SMALL, **{"Content-Range": said})
        return True

    with serving({PATH: SMALL}, lies) as server:
        assert words in failing(server)


def test_more_bytes_than_the_range_says_are_refused() -> None:
    def more(handler: Handler) -> bool:
        handler.answer(206, LARGE[:9000], **{"Content-Range": f"bytes 0-99/{len(LARGE)}"})
        return True

    with serving({PATH: LARGE}, more) as server:
        assert failing(server) == "the server sends more bytes than it said"


@pytest.mark.parametrize("encoding", ["gzip", "br", "gzip, identity"])
def test_a_body_in_another_encoding_is_refused(encoding: str) -> None:
    def packs(handler: Handler) -> bool:
        handler.answer(200, gzip.compress(SMALL), **{"Content-Encoding": encoding})
        return True

    with serving({PATH: SMALL}, packs) as server:
        assert failing(server) == f"the server sends the file in the encoding {encoding!r}, though it was asked not to"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"<!doctype html><title>Sign in</title>", "byte 0: no GGUF file: it is an HTML or XML page"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 9\n", "Git LFS pointer"),
        (gzip.compress(SMALL), "it is compressed with gzip"),
        (b'{"error":"x"}', "it is JSON"),
        (SMALL[:300], "is the file cut short?"),
    ],
)
@pytest.mark.parametrize("ranges", [True, False])
def test_what_is_no_gguf_file_is_named(content: bytes, words: str, ranges: bool) -> None:
    def whole(handler: Handler) -> bool:
        if not ranges:
            handler.answer(200, content)
        return not ranges

    with serving({PATH: content}, whole) as server:
        assert words in failing(server)


def test_an_empty_file_is_named() -> None:
    with serving({PATH: b""}) as server:
        assert failing(server) == "byte 0: no GGUF file: it is empty"


def test_a_file_of_unknown_size_that_ends_early_is_cut_short() -> None:
    def unknown(handler: Handler) -> bool:
        start, end = handler.wanted
        if start >= 70_000:
            return False
        end = min(end, 70_000)
        handler.part(start, end, **{"Content-Range": f"bytes {start}-{end - 1}/*"})
        return True

    with serving({PATH: LARGE[:70_000]}, unknown) as server:
        assert "and the file has 70000 bytes (is the file cut short?)" in failing(server)
        assert server.asked[-1][1]["range"].startswith("bytes=70000-")


@pytest.mark.parametrize(
    ("status", "environ", "words"),
    [
        (401, {}, "401: the server wants credentials (for Hugging Face set HF_TOKEN;"),
        (401, {"HF_TOKEN": "hf_secret"}, "401: the server does not accept the credentials"),
        (403, {}, "403: access is refused (a gated model"),
        (403, {"HF_TOKEN": "hf_secret"}, "403: the credentials give no access"),
        (404, {}, "404: there is no such file"),
        (410, {}, "410: the file is gone"),
        (418, {}, "HTTP status 418"),
        (304, {}, "HTTP status 304"),
        (204, {}, "HTTP status 204"),
        (301, {}, "HTTP status 301"),
        (429, {}, "429: too many requests"),
        (500, {}, "HTTP status 500"),
        (503, {}, "503: the server is busy"),
    ],
)
def test_every_status_has_words_of_its_own(status: int, environ: dict[str, str], words: str) -> None:
    def says(handler: Handler) -> bool:
        handler.answer(status, None if status in {204, 304} else b"<html>no</html>")
        return True

    with serving({PATH: SMALL}, says) as server:
        with pytest.raises(GgufError) as caught:
            fetch_header(server.url(), limits=QUICK, environ=environ | {"HF_ENDPOINT": server.origin})
        assert str(caught.value).startswith(f"{server.url()}: {words}")
        assert "secret" not in str(caught.value)
        assert len(server.asked) == (3 if status in {429, 500, 503} else 1)


def test_the_reason_that_hugging_face_gives_is_shown_if_it_is_a_word() -> None:
    def says(code: str, handler: Handler) -> bool:
        handler.answer(403, b"", X_Error_Code=code)
        return True

    with serving({}, lambda handler: says("GatedRepo", handler)) as server:
        assert failing(server).startswith("403: access is refused (GatedRepo) (")
    with serving({}, lambda handler: says("\x1b[31m<b>", handler)) as server:
        assert failing(server).startswith("403: access is refused (a gated")


def test_a_server_that_is_busy_for_a_moment_is_waited_for() -> None:
    def busy(handler: Handler) -> bool:
        if handler.count == 1:
            handler.answer(503, b"", Retry_After="0")
        return handler.count == 1

    with serving({PATH: SMALL}, busy) as server:
        assert fetch_header(server.url(), limits=QUICK, environ={}).values["one.I"] == 7


def test_a_server_that_sends_no_bytes_is_given_up() -> None:
    def silent(handler: Handler) -> bool:
        handler.answer(206, b"", **{"Content-Range": f"bytes 0-99/{len(SMALL)}"})
        return True

    with serving({PATH: SMALL}, silent) as server:
        assert failing(server) == "the server sends no bytes"
        assert len(server.asked) == 3


def test_a_server_that_gives_one_byte_a_time_is_given_up() -> None:
    def stingy(handler: Handler) -> bool:
        start, _ = handler.wanted
        handler.part(start, start + 1)
        return True

    with serving({PATH: SMALL}, stingy) as server:
        assert failing(server, Limits(requests=20)) == "the header is not complete after 20 requests"


def test_a_server_that_stalls_is_given_up() -> None:
    def stalls(handler: Handler) -> bool:
        time.sleep(0.5)
        return True

    with serving({PATH: SMALL}, stalls) as server:
        assert failing(server, Limits(read_s=0.05, retries=1, pause_s=0)) == "the connection failed: timed out"


def test_a_server_that_drips_is_given_up_after_the_time_for_all() -> None:
    def drips(handler: Handler) -> bool:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(SMALL)))
        handler.end_headers()
        handler.drip(SMALL, 0.02)
        return True

    with serving({PATH: SMALL}, drips) as server:
        start = time.monotonic()
        assert failing(server, Limits(total_s=0.2)) == "the header is not complete after 0.2 s"
        assert time.monotonic() - start < 2


def test_nobody_there(tmp_path: Path) -> None:
    with serving({}) as server:
        pass
    assert failing(server).startswith("the connection failed: ")


def test_a_header_beyond_the_limit_is_refused_before_it_is_read() -> None:
    with serving({PATH: LARGE}) as server:
        message = failing(server, Limits(max_bytes=100_000))
        assert "headers of at most 100000 bytes are read" in message
        assert server.sent <= 1 << 17


def test_a_count_of_the_file_is_bounded_by_what_the_server_says_of_its_size() -> None:
    body = B.header([B.array("a", 8, 2_000_000, b"")]) + bytes(1000)
    with serving({PATH: body}) as server:
        assert "2000000 strings in 'a' would end at" in failing(server)
        assert server.sent == len(body)


# Redirects and credentials.


def leads_to(*targets: str, status: int = 302) -> Behaviour:
    def leads(handler: Handler) -> bool:
        if handler.count <= len(targets):
            handler.answer(status, b"", Location=targets[handler.count - 1])
        return handler.count <= len(targets)

    return leads


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_followed_and_the_last_address_is_kept(status: int, large: Header) -> None:
    with serving({"/cdn/x": LARGE}, leads_to("/second", "/cdn/x?Signature=secret", status=status)) as server:
        header = fetch_header(server.url(), environ={})
        assert same(header, large)
        assert header.name == server.url()
        assert [path for path, _ in server.asked[:3]] == [PATH, "/second", "/cdn/x?Signature=secret"]
        assert {path for path, _ in server.asked[3:]} == {"/cdn/x?Signature=secret"}


def test_redirects_in_a_circle_are_given_up() -> None:
    with serving({}, leads_to(*["/model.gguf"] * 50)) as server:
        assert failing(server) == "more than 5 redirects"
        assert len(server.asked) == 6


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("https://127.0.0.1/x", "redirects to another scheme, https (use the https URL)"),
        ("ftp://127.0.0.1/x", "redirects to another scheme, ftp"),
        ("file:///etc/passwd", "redirects to another scheme, file"),
        ("http://127.0.0.1:99999/x", "redirects to what is no URL"),
    ],
)
def test_redirects_that_are_not_followed(target: str, words: str) -> None:
    with serving({}, leads_to(target)) as server:
        assert failing(server) == words
        assert len(server.asked) == 1


def test_the_token_goes_to_the_endpoint_and_not_where_it_redirects_to() -> None:
    with serving({"/cdn": SMALL}) as other, serving({}, leads_to(other.url("/cdn"))) as first:
        environ = {"HF_TOKEN": "hf_secret", "HF_ENDPOINT": first.origin}
        fetch_header(first.url(), environ=environ)
        assert [headers.get("authorization") for _, headers in first.asked] == ["Bearer hf_secret"]
        assert [headers.get("authorization") for _, headers in other.asked] == [None]
        fetch_header(other.url("/cdn"), environ=environ)
        assert other.asked[-1][1].get("authorization") is None


def test_user_and_password_of_the_url_are_sent_to_its_host_and_shown_nowhere() -> None:
    with serving({}) as other, serving({}, leads_to(other.url("/cdn?sig=secret"))) as first:
        url = first.url("/model.gguf?token=secret").replace("://", "://me:secret%21@")
        with pytest.raises(GgufError) as caught:
            fetch_header(url, environ={})
        assert str(caught.value) == f"{first.url()}: 404: there is no such file"
        assert first.asked[0][1]["authorization"] == "Basic bWU6c2VjcmV0IQ=="
        assert other.asked[0][1].get("authorization") is None


def test_a_signed_address_that_expires_is_asked_for_again(large: Header) -> None:
    def expires(handler: Handler) -> bool:
        if handler.path == PATH:
            handler.answer(302, b"", Location=f"/cdn?{handler.count}")
            return True
        if handler.count == 4:
            handler.answer(403, b"expired")
            return True
        return False

    with serving({"/cdn": LARGE}, expires) as server:
        assert same(fetch_header(server.url(), limits=QUICK, environ={}), large)
        assert [path for path, _ in server.asked].count(PATH) == 2


@pytest.mark.parametrize(
    "url", ["ftp://host/x.gguf", "file:///x.gguf", "http:///x.gguf", "http://host:port/x", "x.gguf"]
)
def test_only_web_addresses_are_fetched(url: str) -> None:
    with pytest.raises(EvidenceError):
        fetch_header(url, environ={})


def test_a_name_that_leads_elsewhere_after_it_was_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name server that gives a public address first, and this machine when the connection is made."""
    real = socket.getaddrinfo

    def rebound(host: str, port: int, *args: Any, **more: Any) -> Any:
        public = host.endswith(".test") and "type" in more
        return real("8.8.8.8" if public else "127.0.0.1", port, *args, **more)

    monkeypatch.setattr(socket, "getaddrinfo", rebound)
    with serving({"/cdn": SMALL}) as other, serving({}) as first:
        first.behave = leads_to(other.url("/cdn").replace("127.0.0.1", "cdn.test"))
        with pytest.raises(GgufError, match="redirects to an address of a private network or of this machine"):
            fetch_header(first.url().replace("127.0.0.1", "start.test"), environ={})


# The cache.


def test_a_second_reading_transfers_nothing(tmp_path: Path, large: Header) -> None:
    cache = HeaderCache(tmp_path)
    with serving({PATH: LARGE}) as server:
        fetch_header(server.url(), cache=cache, environ={})
        server.asked.clear()
        server.sent = 0
        assert same(fetch_header(server.url(), cache=cache, environ={}), large)
        assert [headers.get("if-none-match") for _, headers in server.asked] == ['"one"']
        assert server.sent == 0


def test_a_file_that_has_changed_is_read_anew(tmp_path: Path) -> None:
    cache = HeaderCache(tmp_path)
    with serving({PATH: SMALL}) as server:
        fetch_header(server.url(), cache=cache, environ={})
        server.files[PATH], server.etag = toy(tokens=("new",)), '"two"'
        for _ in range(2):
            header = fetch_header(server.url(), cache=cache, environ={})
            assert list(header.values["tokenizer.ggml.tokens"]) == ["new"]
    assert server.asked[-1][1]["if-none-match"] == '"two"'


def test_a_server_that_knows_no_conditions_still_saves_reading_on(tmp_path: Path, large: Header) -> None:
    def part(handler: Handler) -> bool:
        handler.part(*handler.wanted)
        return True

    cache = HeaderCache(tmp_path)
    with serving({PATH: LARGE}, part) as server:
        fetch_header(server.url(), cache=cache, environ={})
        server.asked.clear()
        assert same(fetch_header(server.url(), cache=cache, environ={}), large)
        assert len(server.asked) == 1


@pytest.mark.parametrize("etag", ["", 'W/"weak"', "bare"])
def test_nothing_is_kept_without_a_strong_entity_tag(tmp_path: Path, etag: str) -> None:
    with serving({PATH: SMALL}) as server:
        server.etag = etag
        for _ in range(2):
            fetch_header(server.url(), cache=HeaderCache(tmp_path), environ={})
        assert "if-none-match" not in server.asked[-1][1]
    assert not list(tmp_path.iterdir())


def test_a_cached_header_that_is_damaged_is_read_anew(tmp_path: Path) -> None:
    cache = HeaderCache(tmp_path)
    with serving({PATH: SMALL}) as server:
        fetch_header(server.url(), cache=cache, environ={})
        (kept,) = tmp_path.iterdir()
        kept.write_bytes(kept.read_bytes()[:-1] + b"?")
        assert fetch_header(server.url(), cache=cache, environ={}).values["one.I"] == 7
        assert "if-none-match" not in server.asked[-1][1]


def test_a_server_that_says_304_of_what_cannot_be_parsed_is_asked_for_the_file(tmp_path: Path) -> None:
    cache = HeaderCache(tmp_path)
    with serving({PATH: SMALL}) as server:
        fetch_header(server.url(), cache=cache, environ={})
        assert failing(server, Limits(max_bytes=200), cache=cache).endswith("headers of at most 200 bytes are read")
        assert [headers.get("if-none-match") for _, headers in server.asked] == [None, '"one"', None]
