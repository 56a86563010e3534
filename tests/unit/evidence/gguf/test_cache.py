from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from specrules.evidence.gguf.cache import Entry, HeaderCache, default_cache, is_strong

ENTRY = Entry('"tag"', 1000, b"GGUF\n\x00\xff" * 50)
URL = "https://host/x?token=secret"


def test_what_is_stored_is_loaded_and_replaced(tmp_path: Path) -> None:
    cache = HeaderCache(tmp_path / "new" / "folder")
    assert cache.load(URL) is None
    cache.store(URL, ENTRY)
    assert cache.load(URL) == ENTRY
    assert cache.load(URL + "2") is None
    other = Entry('"other"', None, b"")
    cache.store(URL, other)
    assert cache.load(URL) == other
    assert len(list((tmp_path / "new" / "folder").iterdir())) == 1


def test_no_secret_is_stored_and_nobody_else_can_read_it(tmp_path: Path) -> None:
    cache = HeaderCache(tmp_path / "folder")
    cache.store(URL, ENTRY)
    (file,) = (tmp_path / "folder").iterdir()
    assert b"secret" not in file.read_bytes()
    assert "secret" not in file.name
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    "damage", [b"", b"\n", b"{}\n", b"[]\n", b"null\nx", b"\xff\xfe\n", b'{"etag": 1, "size": 2}\n']
)
def test_a_damaged_entry_is_absent(tmp_path: Path, damage: bytes) -> None:
    cache = HeaderCache(tmp_path)
    cache.store(URL, ENTRY)
    (file,) = tmp_path.iterdir()
    file.write_bytes(damage)
    assert cache.load(URL) is None


def test_a_cut_entry_and_one_of_another_kind_are_absent(tmp_path: Path) -> None:
    cache = HeaderCache(tmp_path)
    cache.store(URL, ENTRY)
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    for end in range(0, len(whole), 7):
        file.write_bytes(whole[:end])
        assert cache.load(URL) is None
    for before, after in ((b'"size": 1000', b'"size": "10"'), (b"tag", b""), (b'"format": 1', b'"format": 2')):
        assert before in whole
        file.write_bytes(whole.replace(before, after, 1))
        assert cache.load(URL) is None


def test_what_was_used_longest_ago_goes_first(tmp_path: Path) -> None:
    cache = HeaderCache(tmp_path, max_bytes=3000)
    for number in range(3):
        cache.store(f"u{number}", Entry('"t"', None, bytes(850)))
        for file in tmp_path.iterdir():
            os.utime(file, ns=(0, file.stat().st_mtime_ns - 10**10))
    assert cache.load("u0") is not None
    cache.store("u3", Entry('"t"', None, bytes(850)))
    assert [cache.load(f"u{number}") is not None for number in range(4)] == [True, False, True, True]


def test_a_folder_that_cannot_be_made_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    cache = HeaderCache(tmp_path / "file" / "folder")
    cache.store(URL, ENTRY)
    assert cache.load(URL) is None


@pytest.mark.parametrize(
    ("etag", "strong"), [('"a"', True), ('W/"a"', False), ('""', False), ("a", False), (None, False)]
)
def test_strong_tags(etag: object, strong: bool) -> None:
    assert is_strong(etag) is strong


@pytest.mark.parametrize(
    ("environ", "folder"),
    [
        ({"SPECRULES_CACHE": "CACHE"}, "gguf"),
        ({"XDG_CACHE_HOME": "CACHE"}, "specrules/gguf"),
        ({"SPECRULES_CACHE": "", "XDG_CACHE_HOME": "CACHE"}, "specrules/gguf"),
    ],
)
def test_where_the_cache_lies(tmp_path: Path, environ: dict[str, str], folder: str) -> None:
    cache = default_cache({key: value.replace("CACHE", str(tmp_path)) for key, value in environ.items()})
    cache.store(URL, ENTRY)
    assert len(list((tmp_path / folder).iterdir())) == 1


def test_it_lies_in_the_home_folder_otherwise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    default_cache({}).store(URL, ENTRY)
    assert len(list((tmp_path / ".cache" / "specrules" / "gguf").iterdir())) == 1
