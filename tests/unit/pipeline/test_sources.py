"""Files and addresses that a user names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from specrules.errors import EvidenceError
from specrules.evidence.gguf import HeaderCache, Progress
from specrules.pipeline.sources import Sources, each, is_gguf, shown
from tests.unit.evidence.gguf.build import toy
from tests.unit.evidence.gguf.server import serving


def test_paths_count_from_the_folder(tmp_path: Path) -> None:
    (tmp_path / "a.gguf").write_bytes(toy())
    assert Sources(tmp_path).model("a.gguf").name == str(tmp_path / "a.gguf")
    assert len(Sources(tmp_path).tokenizer("a.gguf").texts) == 5


@pytest.mark.parametrize(
    ("name", "web", "message"),
    [
        ("https://me:secret@h.test/a.gguf?t=secret", False, "https://h.test/a.gguf is an address, and nothing is"),
        ("HTTPS://h.test/a.gguf", False, "is an address, and nothing is fetched"),
        ("hf://models/secret?x", True, "hf://models/secret: only http and https addresses can be read"),
        ("http://h.test:99999/secret", True, "no URL: Port out of range"),
        ("http://h.test:99999/secret", False, "http://... is an address"),
    ],
)
def test_addresses_that_are_not_fetched(name: str, web: bool, message: str) -> None:
    for read in (Sources(web=web).model, Sources(web=web).tokenizer):
        with pytest.raises(EvidenceError, match=message.replace("?", r"\?")) as caught:
            read(name)
        assert "t=secret" not in str(caught.value)


def test_an_address_is_watched_and_kept(tmp_path: Path) -> None:
    told: list[object] = []

    @contextmanager
    def watch(name: str) -> Iterator[Progress]:
        told.append(name)
        yield lambda received, expected: told.append((received, expected))
        told.append("end")

    with serving({"/a.gguf": toy()}) as server:
        sources = Sources(tmp_path, web=True, cache=HeaderCache(tmp_path / "cache"), watch=watch)
        assert sources.model(server.url("/a.gguf?token=secret")).values["one.I"] == 7
        assert told[0] == server.url("/a.gguf")
        assert told[-1] == "end"
        assert told[1:-1]
        server.sent = 0
        assert len(sources.tokenizer(server.url("/a.gguf?token=secret")).texts) == 5
        assert server.sent == 0
    (tmp_path / "a.gguf").write_bytes(toy())
    told.clear()
    sources.model("a.gguf")
    assert told == []


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.gguf", True),
        ("a.gguf?x", False),
        ("https://h/a.gguf?download=true", True),
        ("https://h/a.gguf#x", True),
        ("https://h/tokenizer.json?x=.gguf", False),
        ("folder", False),
    ],
)
def test_what_names_a_gguf_file(name: str, expected: bool) -> None:
    assert is_gguf(name) is expected


def test_nothing_secret_is_shown() -> None:
    assert shown("https://me:secret@h.test:8443/a?token=secret#secret") == "https://h.test:8443/a"
    assert shown("a?b") == "a?b"


def test_all_problems_come_at_once(tmp_path: Path) -> None:
    with pytest.raises(EvidenceError) as caught:
        each(Sources(tmp_path).model, ["one.gguf", "two.gguf"])
    assert [problem.where.path for problem in caught.value.problems if problem.where] == [
        str(tmp_path / "one.gguf"),
        str(tmp_path / "two.gguf"),
    ]
