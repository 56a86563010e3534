"""Programs whose output is evidence: engines, and bench tools that measure any engine from outside."""

from __future__ import annotations

from pydantic import Field

from specrules.model.base import Identifier, Many, Model, SchemaVersion
from specrules.model.claim import Source
from specrules.model.reader import Reader
from specrules.model.version import VersionScheme


class Versioning(Model):
    """How a program numbers its releases, and how a user finds the number."""

    scheme: VersionScheme
    facts_from: str = Field(description="the version that the facts of this file were read from")
    how_to_find: str


class Program(Model):
    """What is known about every program that prints evidence."""

    schema_version: SchemaVersion = Field(alias="schema")
    id: Identifier
    title: str
    overrides: bool = False
    aliases: Many[Identifier] = ()
    description: str
    sources: Many[Source]
    version: Versioning
    readers: Many[Reader] = ()


class Bench(Program):
    """A tool that measures a server of any engine from outside."""

    readers: Many[Reader]
