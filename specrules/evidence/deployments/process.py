"""A process as a format describes it, before shells, containers and wrappers around its program are looked through."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from specrules.catalog.document import Source
from specrules.evidence.deployments.shell import Assigned
from specrules.evidence.deployments.text import Text, place
from specrules.model.deployment import Gap, Part


@dataclass(frozen=True, slots=True)
class Process:
    """One process of a file. Offsets are those of the file.

    `own_program` is false where the words are arguments only and the program is the image's own. A `script` is what a
    shell runs in place of the words. `files` are files that
    the deployment brings along, by the path under which the process sees them; `doubtful` stretches of the file that
    may not be there.
    """

    name: str
    format: str
    source: Source
    start: int
    end: int
    image: Text | None = None
    words: tuple[Text, ...] = ()
    script: Text | None = None
    own_program: bool = True
    environment: Mapping[str, Assigned] = field(default_factory=dict)
    files: Mapping[str, Text] = field(default_factory=dict)
    packages: Mapping[str, Text] = field(default_factory=dict)
    gaps: tuple[Gap, ...] = ()
    doubtful: tuple[tuple[int, int], ...] = ()
    notes: tuple[str, ...] = ()

    def with_gap(self, of: Part, why: str, start: int | None = None, end: int | None = None) -> Process:
        """The process with one more thing that could not be followed."""
        first = self.start if start is None else start
        gap = Gap(of=of, why=why, place=place(self.source, first, first if end is None else end))
        return replace(self, gaps=(*self.gaps, gap))

    def with_environment(self, more: Mapping[str, Assigned]) -> Process:
        """The process with more variables; later ones count."""
        return replace(self, environment={**self.environment, **more}) if more else self


def base_name(path: str) -> str:
    """The last part of a path."""
    return path.replace("\\", "/").rsplit("/", 1)[-1]


def file_named(files: Mapping[str, Text], path: str) -> Text | None:
    """The file at a path, or the only one with that name: where it is mounted is not always said."""
    if path in files:
        return files[path]
    same = [text for name, text in files.items() if base_name(name) == base_name(path)]
    return same[0] if len(same) == 1 else None
