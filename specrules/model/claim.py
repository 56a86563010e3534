"""Claims about engines: how they are known, since when, and for which versions they hold."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from specrules.model.base import Day, Identifier, Model

HowKnown = Literal["source", "run", "documentation", "thread", "secondary", "seed", "unverified"]
VERIFIED: frozenset[HowKnown] = frozenset({"source", "run", "documentation"})


class Source(Model):
    """One place that was read or one program that was run, and when."""

    id: Identifier
    by: HowKnown
    title: str
    on: Day
    version: str | None = None
    url: str | None = None


class Claim(Model):
    """Something that an engine does. `known` names one of the engine's sources.

    A claim whose source is neither a read source, a run nor the engine's documentation is unverified: gates that
    rest on it are unknown, never pass.
    """

    known: Identifier
    since: str | None = Field(default=None, description="first version it holds for")
    until: str | None = Field(default=None, description="last version it holds for")
    note: str = ""
