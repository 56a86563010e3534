"""Opening the servers that a command names: with what limits, and with whose credentials."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from specrules.catalog.catalogue import Catalog
from specrules.model.engine import Engine

if TYPE_CHECKING:
    from specrules.live.http import Limits, Server

TOKEN_VARIABLE = "SPECRULES_TOKEN"  # noqa: S105 - the name of the variable, not what it holds


@dataclass(frozen=True, slots=True)
class Access:
    """How servers may be asked. A token comes from the variable `token_variable` or from netrc.

    `silent_s` is the longest time without a byte, `total_s` holds for one whole answer.
    """

    token_variable: str = TOKEN_VARIABLE
    allow_private: bool = False
    silent_s: float = 30.0
    total_s: float = 120.0
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)

    @property
    def limits(self) -> Limits:
        """The limits of one request."""
        from specrules.live.http import Limits

        return Limits(read_s=self.silent_s, total_s=self.total_s)


@contextmanager
def opened(url: str, access: Access) -> Iterator[Server]:
    """Open the server that a URL names, and close its connections at the end. EvidenceError for what is no such URL."""
    from specrules.live.http import authorization, check_base, server

    base = base_url(url)
    check_base(base)
    credentials = authorization(base, access.token_variable, access.environ)
    with server(base, limits=access.limits, credentials=credentials, allow_private=access.allow_private) as found:
        yield found


def base_url(url: str) -> str:
    """Return the address of a server as engine files count paths from it.

    Clients are given `http://host/v1`, and the paths of engine files begin with `/v1` themselves.
    """
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return url
    path = parts.path.rstrip("/").removesuffix("/v1")
    return urlunsplit(parts._replace(path=path))


def engines_of(catalog: Catalog, name: str | None) -> tuple[tuple[Engine, ...], Engine | None]:
    """Return the engines to tell apart, and the one that the user named. CatalogError where there is none so named."""
    stated = None if name is None else catalog.engine(name).model
    if stated is not None:
        return (stated,), stated
    return tuple(catalog.engine(each).model for each in catalog.engine_ids), None
