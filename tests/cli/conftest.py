from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty current folder, and no layers from the environment."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SPECRULES_PATH", raising=False)
    monkeypatch.delenv("SPECRULES_DEBUG", raising=False)
    return tmp_path
