from __future__ import annotations

import pytest

from specrules.evidence.gguf import Header, read_header
from tests.unit.evidence.gguf.vocabulary import LARGE


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Header:
    path = tmp_path_factory.mktemp("large") / "model.gguf"
    path.write_bytes(LARGE)
    return read_header(path)
