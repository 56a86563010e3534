"""Systemd units and drop-ins, and the container units of Podman: what ExecStart runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from specrules.catalog.document import Source
from specrules.evidence.deployments.expand import Expander, replaced
from specrules.evidence.deployments.process import Process, base_name
from specrules.evidence.deployments.shell import Assigned
from specrules.evidence.deployments.split import split_words
from specrules.evidence.deployments.text import Builder, Text, whole

FORMAT = "systemd"
_SECTION = re.compile(r"\[([A-Za-z0-9 _-]+)\]$")
_ENTRY = re.compile(r"([A-Za-z0-9]+)\s*=\s*")
_SPECIFIER = re.compile(r"%(?:%|[a-zA-Z])")
_VARIABLE = re.compile(r"\$\$|\$\{([A-Za-z_]\w*)\}|\$([A-Za-z_]\w*)")
_PREFIX = re.compile(r"[-@:+!|]*")


@dataclass
class _Unit:
    """What the sections of a unit say about its process."""

    commands: list[Text] = field(default_factory=list)
    environment: dict[str, Assigned] = field(default_factory=dict)
    environment_files: list[Text] = field(default_factory=list)
    image: Text | None = None
    entrypoint: Text | None = None
    arguments: Text | None = None
    start: int = 0


def systemd_processes(source: Source, expander: Expander) -> Iterator[Process]:
    """One process per ExecStart line, or the container of a Podman unit."""
    unit = _read(source, expander)
    name = base_name(source.path)
    base = Process(name=name, format=FORMAT, source=source, start=0, end=0, environment=unit.environment)
    for path in unit.environment_files:
        base = base.with_gap("environment", f"variables come from {path.value}", path.start)
    if unit.image is not None:
        words = split_words(unit.arguments) if unit.arguments is not None else []
        program = split_words(unit.entrypoint) if unit.entrypoint is not None else []
        yield replace(
            base,
            image=unit.image,
            words=tuple(_filled(word, unit, expander) for word in (*program, *words)),
            own_program=bool(program),
            start=unit.image.start,
            end=unit.image.at(len(unit.image.value)),
        )
    for command in unit.commands:
        prefix = _PREFIX.match(command.value)
        words = split_words(command.cut(prefix.end() if prefix else 0, len(command.value)))
        filled = [part for word in words for part in _expanded(word, unit, expander)]
        yield replace(
            base, words=tuple(filled), own_program=True, start=command.start, end=command.at(len(command.value))
        )


def _read(source: Source, expander: Expander) -> _Unit:
    unit = _Unit()
    section = ""
    for line in _lines(source):
        found = _SECTION.match(line.value)
        if found is not None:
            section = found.group(1)
            continue
        entry = _ENTRY.match(line.value)
        if entry is None or section not in ("Service", "Container"):
            continue
        value = replaced(line.cut(entry.end(), len(line.value)).stripped(), _SPECIFIER, _specifier, expander)
        _take(unit, entry.group(1), value)
    return unit


def _take(unit: _Unit, key: str, value: Text) -> None:
    """An entry without a value takes back what was said before, as drop-ins do it."""
    if key == "ExecStart":
        unit.commands = [*unit.commands, value] if value.value else []
    elif key == "Environment":
        for word in split_words(value):
            name, equals, _ = word.value.partition("=")
            if equals:
                unit.environment[name] = Assigned(word.cut(len(name) + 1, len(word.value)), word.start)
    elif key == "EnvironmentFile":
        unit.environment_files.append(value.cut(1 if value.value.startswith("-") else 0, len(value.value)))
    elif key == "Image":
        unit.image = value
    elif key == "Exec":
        unit.arguments = value
    elif key == "Entrypoint":
        unit.entrypoint = value


def _specifier(match: re.Match[str]) -> Text | str | None:
    return "%" if match.group() == "%%" else None


def _filled(word: Text, unit: _Unit, expander: Expander) -> Text:
    """`${NAME}` and `$NAME` filled in with what Environment= sets; `$$` is a dollar."""
    if "$" not in word.value:
        return word

    def value(match: re.Match[str]) -> Text | str | None:
        if match.group() == "$$":
            return "$"
        known = unit.environment.get(match.group(1) or match.group(2))
        return None if known is None else known.value

    return replaced(word, _VARIABLE, value, expander)


def _expanded(word: Text, unit: _Unit, expander: Expander) -> list[Text]:
    """A word that is one `$NAME` without braces is split at blanks."""
    filled = _filled(word, unit, expander)
    found = _VARIABLE.fullmatch(word.value)
    return split_words(filled) if found is not None and found.group(2) else [filled]


def _lines(source: Source) -> Iterator[Text]:
    """Lines with their continuations, without comments."""
    builder: Builder | None = None
    for line in whole(source).lines():
        value = line.value.strip()
        if value.startswith(("#", ";")) or (not value and builder is None):
            continue
        goes_on = line.value.endswith("\\")
        builder = builder or Builder(source, line.start)
        builder.add(line, 0, len(line.value) - (1 if goes_on else 0))
        if goes_on:
            builder.character(" ", line.at(len(line.value)))
            continue
        text, builder = builder.text().stripped(), None
        yield text
    if builder is not None:
        yield builder.text().stripped()


def looks_like_unit(text: str) -> bool:
    """Whether a text has a section of a service."""
    return re.search(r"(?m)^\[(?:Service|Container)\]\s*$", text) is not None
