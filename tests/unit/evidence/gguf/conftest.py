from __future__ import annotations

import pytest

from specrules.evidence.gguf import Header, read_header
from tests.unit.evidence.gguf.vocabulary import LARGE


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Header:
    path = tmp_path_factory.mktemp("large") / "model.gguf"
    path.write_bytes(LARGE)
    return read_header(path)
