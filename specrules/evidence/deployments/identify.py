"""What gives an engine away: its program, its image, and failing those flags, keys or variables that only it has."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from specrules.evidence.deployments.process import base_name
from specrules.evidence.deployments.unfold import WRAPPERS
from specrules.model.deployment import Launch, Word
from specrules.model.launching import Image, Launching, Program

_PYTHON = re.compile(r"python(?:\d+(?:\.\d+)*)?|pypy\d*")
_PYTHON_SWITCHES = frozenset({"-u", "-O", "-OO", "-B", "-s", "-S", "-I", "-E", "-X", "-W"})
_FOLLOWABLE = re.compile(r"(?i)\.(?:sh|bash|bat|ps1)$|entrypoint|^start|^run|^launch|^serve")


@dataclass(frozen=True, slots=True)
class Identified:
    """The engine of a launch, what gave it away, and where its arguments begin in the command.

    `hidden` says that the command is a program that nobody can look into.
    """

    engine: str
    by: str
    arguments: int
    program: Program | None = None
    image: Image | None = None
    hidden: bool = False

    @property
    def positional(self) -> tuple[str, ...]:
        """The facts that the first argument states."""
        owner = self.program or self.image
        return () if owner is None else owner.positional


def identify(launch: Launch, sections: Mapping[str, Launching]) -> Identified | None:
    """The engine that a launch starts, or None where none of these gives itself away."""
    return (
        _by_program(launch, sections)
        or _by_image(launch, sections)
        or _by_preset(launch, sections)
        or _by_flags(launch, sections)
        or _by_keys(launch, sections)
        or _by_variables(launch, sections)
    )


def repository(image: str) -> str:
    """The name of an image without tag and digest."""
    name = image.partition("@")[0]
    head, colon, tag = name.rpartition(":")
    return head if colon and "/" not in tag else name


def _by_program(launch: Launch, sections: Mapping[str, Launching]) -> Identified | None:
    """Programs that say more about themselves than their words come first."""
    found: list[tuple[bool, int, Identified]] = []
    for engine, section in sections.items():
        for program in section.programs:
            end = _end_of(program.words, launch.command)
            if end is None or not _is_meant(program, launch):
                continue
            special = bool(program.with_flags or program.in_path)
            by = f"the command {' '.join(program.words)}"
            found.append((special, len(program.words), Identified(engine, by, end, program, _image(launch, section))))
    return max(found, key=lambda item: item[:2])[2] if found else None


def _is_meant(program: Program, launch: Launch) -> bool:
    if not program.with_flags and program.in_path is None:
        return True
    given = {word.text.partition("=")[0] for word in launch.command}
    places = [launch.image.text if launch.image else "", *(word.text for word in launch.command[:1])]
    in_path = program.in_path is not None and any(program.in_path in text for text in places)
    return in_path or bool(given & set(program.with_flags))


def _end_of(words: Sequence[str], command: Sequence[Word]) -> int | None:
    """Where the words of a program end in a command, also behind wrappers; None where they do not stand there."""
    if not command:
        return None
    wrapped = WRAPPERS.fullmatch(base_name(command[0].text)) is not None
    for start in range(len(command) if wrapped else 1):
        end = _matched(words, command, start)
        if end is None and wrapped and start and words[0] == "python":
            end = _matched(words[1:], command, start)
        if end is not None:
            return end
    return None


def _matched(words: Sequence[str], command: Sequence[Word], at: int) -> int | None:
    for index, word in enumerate(words):
        while index and words[index - 1] == "python" and at < len(command) and command[at].text in _PYTHON_SWITCHES:
            at += 1
        if at >= len(command):
            return None
        text = command[at].text
        same = _PYTHON.fullmatch(base_name(text)) if word == "python" else word in (text, base_name(text))
        if not same:
            return None
        at += 1
    return at


def _image(launch: Launch, section: Launching) -> Image | None:
    name = repository(launch.image.text) if launch.image is not None else ""
    return next((item for item in section.images if name and _is_called(name, item.name)), None)


def _is_called(name: str, pattern: str) -> bool:
    return fnmatchcase(name, pattern) or fnmatchcase(name, f"*/{pattern}")


def _by_image(launch: Launch, sections: Mapping[str, Launching]) -> Identified | None:
    """An image tells what it starts, unless the deployment starts something else in it."""
    for engine, section in sections.items():
        image = _image(launch, section)
        if image is None or launch.image is None:
            continue
        by = f"the image {repository(launch.image.text)}"
        if not launch.entrypoint or not launch.command:
            return Identified(engine, by, 0, image=image)
        if not launch.command[0].rendered or _FOLLOWABLE.search(base_name(launch.command[0].text)):
            return Identified(engine, by, 1, image=image, hidden=True)
    return None


def _by_preset(launch: Launch, sections: Mapping[str, Launching]) -> Identified | None:
    if launch.format != "preset":
        return None
    return next(
        (Identified(engine, "a preset file", 0) for engine, section in sections.items() if section.config.presets), None
    )


def _by_flags(launch: Launch, sections: Mapping[str, Launching]) -> Identified | None:
    """The engine with most flags that no other one has."""
    given = [word.text.partition("=")[0] for word in launch.command if word.text.startswith("-")]
    counts = {
        engine: [flag for flag in given if _any(section.flags, flag, underscores=section.underscores)]
        for engine, section in sections.items()
    }
    engine = _most(counts)
    if engine is None:
        return None
    return Identified(engine, f"the flag {counts[engine][0]}", 0 if not launch.entrypoint else 1)


def _by_keys(launch: Launch, sections: Mapping[str, Launching]) -> Identified | None:
    """The engine whose configuration has most of the keys."""
    keys = {key.replace("-", "_"): key for key in launch.config.values}
    counts: dict[str, list[str]] = {}
    for engine, section in sections.items():
        inner = [key for item in section.config.inner if all(key in keys for key in item.keys) for key in item.keys]
        wanted = [key.replace("-", "_") for key in section.config.keys]
        counts[engine] = [*inner, *(keys[key] for key in wanted if key in keys)]
    leader = _most(counts)
    return None if leader is None else Identified(leader, f"the key {counts[leader][0]}", 0)


def _by_variables(launch: Launch, sections: Mapping[str, Launching]) -> Identified | None:
    counts = {
        engine: [name for name in launch.environment if _any(section.variables, name)]
        for engine, section in sections.items()
    }
    engine = _most(counts)
    if engine is None or launch.image is None:
        return None
    return Identified(engine, f"the variable {counts[engine][0]}", 0, hidden=launch.entrypoint)


def _any(patterns: Iterable[str], text: str, *, underscores: bool = False) -> bool:
    given = text.replace("_", "-") if underscores else text
    return any(fnmatchcase(given, pattern) for pattern in patterns)


def _most(counts: Mapping[str, Sequence[str]]) -> str | None:
    """The engine with most hits; None where none has any or two are even."""
    best = max((len(hits) for hits in counts.values()), default=0)
    leaders = [engine for engine, hits in counts.items() if len(hits) == best]
    return leaders[0] if best and len(leaders) == 1 else None
