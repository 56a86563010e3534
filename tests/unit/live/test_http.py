"""Servers that are asked: what is sent, what is refused, and what a failure is called."""

from __future__ import annotations

import socket

import pytest

from specrules.errors import EvidenceError
from specrules.live.http import Limits, LiveError, TooLargeError, authorization, server

from .answering import Reply, answering

SECRET = "s3cret-token"  # noqa: S105


def asked(url, path="/x", parameters=None, *, credentials="", limits=None):
    with server(url, credentials=credentials, limits=limits) as one:
        return one.json(path, parameters)


def failure(reply, **more):
    with answering(lambda _: reply) as running, pytest.raises(LiveError) as raised:
        asked(running.url, **more)
    (problem,) = raised.value.problems
    assert problem.where is not None
    assert problem.where.path == running.url + "/x"
    assert SECRET not in str(raised.value)
    return problem


def test_a_base_may_have_a_path_and_parameters_are_encoded():
    with answering(lambda _: Reply(b'{"a": 1}')) as running:
        assert asked(running.url + "/prometheus/", "/api", {"query": '{job="a b"}'}) == {"a": 1}
    (request,) = running.asked
    assert request.path == "/prometheus/api?query=%7Bjob%3D%22a+b%22%7D"
    assert request.headers["User-Agent"].startswith("specrules/")
    assert "Authorization" not in request.headers


@pytest.mark.parametrize(
    ("reply", "message", "hint"),
    [
        (Reply(b"{}", 401), "401: the server wants credentials", "put a token into the environment"),
        (Reply(b"{}", 404), "404: there is nothing at this address", ""),
        (Reply(b"{}", 500), "HTTP status 500", ""),
        (
            Reply(b"<!doctype html>", headers={"Content-Type": "text/html"}),
            "the answer is a page of HTML, not JSON",
            "is",
        ),
        (
            Reply(b" <html></html>"),
            "the answer is a page of HTML, not JSON",
            "is this the address of the server itself",
        ),
        (Reply(b'{"data": [1, 2'), "the answer is cut off", ""),
        (Reply(b'{"data": "ab'), "the answer is cut off", ""),
        (Reply(b"data: 1, 2, 3"), "the answer is not JSON: Expecting value", ""),
        (Reply(b'{"data": [1, 2]}', cut=7), "the answer was cut off after 7 bytes", ""),
        (Reply(b"[" * 100_000), "the answer is not JSON that can be read: maximum recursion depth", ""),
    ],
)
def test_what_a_failure_is_called(reply, message, hint):
    problem = failure(reply)
    assert problem.message.startswith(message)
    assert problem.hint.startswith(hint)


def test_credentials_that_were_sent_and_not_accepted_are_named_as_such():
    problem = failure(Reply(b"{}", 401), credentials=f"Bearer {SECRET}")
    assert problem.message == "401: the server does not accept the credentials"


def test_an_answer_has_a_limit():
    with answering(lambda _: Reply(b"x" * 3000)) as running, pytest.raises(TooLargeError, match="larger than 0 MiB"):
        asked(running.url, limits=Limits(max_bytes=2000))


def test_nobody_listens():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(LiveError, match="the connection was refused: nothing listens there"):
            asked(url)


def test_a_server_that_speaks_no_tls():
    with answering(lambda _: Reply(b"{}")) as running, pytest.raises(LiveError, match="TLS failed: ") as raised:
        asked(running.url.replace("http:", "https:"))
    assert "SSL_CERT_FILE" in raised.value.problems[0].hint


def test_a_silent_server():
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(LiveError, match=r"no answer for 0\.05 s"):
            asked(url, limits=Limits(read_s=0.05))


class TestRedirects:
    """Where a redirect may lead, and who gets the credentials."""

    def test_credentials_stay_with_the_origin(self):
        with answering(lambda _: Reply(b"{}")) as other:
            moved = Reply(status=302, headers={"Location": other.url + "/y"})
            with answering(lambda _: moved) as first:
                asked(first.url, credentials=f"Bearer {SECRET}")
        assert first.asked[0].headers["Authorization"] == f"Bearer {SECRET}"
        assert "Authorization" not in other.asked[0].headers

    def test_another_scheme_is_refused(self):
        moved = Reply(status=302, headers={"Location": "ftp://127.0.0.1/y"})
        with (
            answering(lambda _: moved) as first,
            pytest.raises(EvidenceError, match="redirects to another scheme, ftp"),
        ):
            asked(first.url)


class TestBase:
    """What is no address of a server."""

    @pytest.mark.parametrize("base", ["prometheus:9090", "file:///etc/passwd", "ftp://host", "http://", "http://h:x"])
    def test_only_http(self, base):
        with pytest.raises(EvidenceError, match=r"only http and https URLs can be asked|no URL: "), server(base):
            pass

    def test_a_password_is_refused_and_not_shown(self):
        with pytest.raises(EvidenceError) as raised, server(f"https://me:{SECRET}@host/x"):
            pass
        assert str(raised.value).startswith("https://host/x: user and password in a URL")
        assert SECRET not in str(raised.value)

    def test_a_query_is_refused(self):
        with pytest.raises(EvidenceError, match="has no query") as raised, server(f"https://host/?key={SECRET}"):
            pass
        assert SECRET not in str(raised.value)


class TestAuthorization:
    """Tokens come from the environment or netrc."""

    def test_a_token(self):
        assert authorization("https://h", "TOKEN", {"TOKEN": f" {SECRET}\n"}) == f"Bearer {SECRET}"

    def test_a_token_that_is_none(self):
        with pytest.raises(EvidenceError, match="the token in TOKEN has characters") as raised:
            authorization("https://h", "TOKEN", {"TOKEN": f"{SECRET} {SECRET}"})
        assert SECRET not in str(raised.value)

    def test_netrc_is_for_named_hosts_only(self, tmp_path):
        file = tmp_path / "netrc"
        file.write_text(f"machine h login me password {SECRET}\ndefault login any password one\n")
        file.chmod(0o600)
        environ = {"NETRC": str(file)}
        assert authorization("https://h:9090/p", "TOKEN", environ) == "Basic bWU6czNjcmV0LXRva2Vu"
        assert authorization("https://other", "TOKEN", environ) == ""
        assert authorization("https://h", "TOKEN", {"NETRC": str(tmp_path / "none")}) == ""

    def test_a_netrc_that_does_not_parse(self, tmp_path):
        file = tmp_path / "netrc"
        file.write_text(f"machine h login me\n{SECRET}\n")
        with pytest.raises(EvidenceError) as raised:
            authorization("https://h", "TOKEN", {"NETRC": str(file)})
        assert raised.value.problems[0].where.path == str(file)
        assert SECRET not in str(raised.value)
