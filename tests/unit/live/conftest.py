"""The catalogue, loaded once, and servers opened as commands open them."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from specrules.catalog.catalogue import Catalog
from specrules.pipeline.servers import Access, opened


@pytest.fixture(scope="session")
def catalog():
    return Catalog.load()


@pytest.fixture
def open_server():
    """Open a URL for as long as the test runs."""
    with ExitStack() as stack:
        yield lambda url, **more: stack.enter_context(
            opened(url, Access(silent_s=5, environ={"NETRC": "/none"}, **more))
        )
