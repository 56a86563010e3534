"""Remote headers from a real nginx. Skipped where there is none."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from specrules.evidence.gguf import GgufError, Header, HeaderCache
from specrules.evidence.gguf.remote import fetch_header, fetch_model
from tests.unit.evidence.gguf.build import LITTLE as B
from tests.unit.evidence.gguf.nginx import NGINX, Nginx, serving_nginx
from tests.unit.evidence.gguf.test_remote import QUICK, SMALL
from tests.unit.evidence.gguf.vocabulary import LARGE, same

pytestmark = pytest.mark.skipif(not NGINX, reason="nginx is not installed")


@pytest.fixture(scope="module")
def nginx(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nginx]:
    folder = tmp_path_factory.mktemp("nginx")
    (folder / "files").mkdir()
    (folder / "files" / "model.gguf").write_bytes(LARGE)
    (folder / "files" / "small.gguf").write_bytes(SMALL)
    (folder / "files" / "cut.gguf").write_bytes(LARGE[:70_000])
    (folder / "files" / "empty.gguf").write_bytes(b"")
    (folder / "files" / "page.gguf").write_text("<!doctype html><title>x</title>")
    with serving_nginx(folder) as running:
        yield running


@pytest.fixture
def log(nginx: Nginx) -> Nginx:
    (nginx.folder / "access").write_text("")
    return nginx


def test_little_more_than_the_header_is_transferred(log: Nginx, large: Header) -> None:
    assert same(fetch_header(f"{log.origin}/model.gguf", environ={}), large)
    time.sleep(0.05)
    lines = log.log(3)
    assert all(line.startswith("206 ") and '"bytes=' in line for line in lines)
    assert large.header_bytes <= sum(int(line.split()[1]) for line in lines) <= 1.2 * large.header_bytes


def test_the_cache_is_valid_as_long_as_the_file_is_the_same(log: Nginx, large: Header, tmp_path: Path) -> None:
    cache = HeaderCache(tmp_path)
    url = f"{log.origin}/model.gguf"
    fetch_header(url, cache=cache, environ={})
    before = len(log.log(3))
    assert same(fetch_header(url, cache=cache, environ={}), large)
    assert log.log(before + 1)[before:] == ['304 0 "bytes=0-65535" /model.gguf']


def test_a_server_that_ignores_ranges(nginx: Nginx, large: Header) -> None:
    assert same(fetch_header(f"{nginx.origin}/whole/model.gguf", environ={}), large)


def test_a_server_that_would_compress(nginx: Nginx, large: Header) -> None:
    assert same(fetch_header(f"{nginx.origin}/packed/model.gguf", environ={}), large)


def test_a_redirect(log: Nginx, large: Header) -> None:
    header = fetch_header(f"{log.origin}/moved/x.gguf", environ={})
    assert same(header, large)
    assert header.name == f"{log.origin}/moved/x.gguf"
    time.sleep(0.05)
    assert [line.split()[0] for line in log.log(3)].count("302") == 1


def test_user_and_password(nginx: Nginx) -> None:
    closed = f"{nginx.origin}/closed/small.gguf"
    assert fetch_header(closed.replace("://", "://me:right@"), environ={}).values["one.I"] == 7
    with pytest.raises(GgufError, match="401: the server does not accept the credentials"):
        fetch_header(closed.replace("://", "://me:wrong@"), environ={})
    with pytest.raises(GgufError, match="401: the server wants credentials"):
        fetch_header(closed, environ={})


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("forbidden/x.gguf", "403: access is refused"),
        ("busy/x.gguf", "503: the server is busy"),
        ("none.gguf", "404: there is no such file"),
        ("cut.gguf", "is the file cut short"),
        ("empty.gguf", "it is empty"),
        ("page.gguf", "HTML"),
    ],
)
def test_what_cannot_be_read(nginx: Nginx, path: str, words: str) -> None:
    with pytest.raises(GgufError, match=words):
        fetch_header(f"{nginx.origin}/{path}", limits=QUICK, environ={})


def test_a_split_model(nginx: Nginx) -> None:
    for number in (0, 1):
        split = [B.number("split.no", 2, number), B.number("split.count", 2, 2)]
        path = nginx.folder / "files" / f"m-0000{number + 1}-of-00002.gguf"
        path.write_bytes(B.file(split, [B.tensor(f"t{number}")]))
    model = fetch_model(f"{nginx.origin}/m-00002-of-00002.gguf", environ={})
    assert [tensor.name for tensor in model.tensors] == ["t0", "t1"]
