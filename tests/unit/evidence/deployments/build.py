"""Texts of files, and what is read out of them, in a few words."""

from __future__ import annotations

from textwrap import dedent

from specrules.catalog.document import Source
from specrules.evidence.deployments import LaunchReading, read_launches_text
from specrules.evidence.deployments.text import Text, whole
from specrules.model.deployment import Launch, Place, Word


def text(value: str) -> Text:
    """A whole file of this text."""
    return whole(Source("file", value))


def read(value: str, path: str) -> LaunchReading:
    """Read a file whose text is indented in the test."""
    return read_launches_text(dedent(value).lstrip("\n"), path)


def one(value: str, path: str) -> Launch:
    """The only launch of a file without problems."""
    reading = read(value, path)
    assert not reading.problems
    (launch,) = reading.launches
    return launch


def words(launch: Launch) -> list[str]:
    """The texts of a command; what nobody rendered in angle brackets."""
    return [word.text if word.rendered else f"<{word.text}>" for word in launch.command]


def at(where: Place | Word) -> str:
    """`line:column` of a place or of the place of a word."""
    place = where.place if isinstance(where, Word) else where
    return f"{place.line}:{place.column}"


def span(place: Place) -> str:
    """`line:column-line:column`."""
    return f"{place.line}:{place.column}-{place.end_line}:{place.end_column}"
