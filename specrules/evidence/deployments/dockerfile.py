"""Dockerfiles: what the last stage starts, with the variables and packages of the stages that it builds on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from specrules.catalog.document import Source
from specrules.evidence.deployments.expand import Expander, replaced
from specrules.evidence.deployments.json_nodes import read_json
from specrules.evidence.deployments.nodes import Malformed, Scalar, Sequence
from specrules.evidence.deployments.process import Process
from specrules.evidence.deployments.shell import Assigned, read_script
from specrules.evidence.deployments.split import split_words
from specrules.evidence.deployments.text import Builder, Text, stretch, unknown

FORMAT = "dockerfile"
_INSTRUCTION = re.compile(r"\s*([A-Za-z]+)(?:\s+|$)")
_DIRECTIVE = re.compile(r"#\s*escape\s*=\s*(\S)\s*$", re.IGNORECASE)
_HEREDOC = re.compile(r"<<-?(['\"]?)([A-Za-z_]\w*)\1")
_VARIABLE = re.compile(r"\\\$|\$\{([A-Za-z_]\w*)\}|\$\{[^}]*\}|\$([A-Za-z_]\w*)")
_NAME = re.compile(r"[A-Za-z_][\w.-]*")


@dataclass
class _Stage:
    """What a stage has set so far."""

    image: Text
    start: int
    environment: dict[str, Assigned] = field(default_factory=dict)
    packages: dict[str, Text] = field(default_factory=dict)
    files: dict[str, Text] = field(default_factory=dict)
    entrypoint: _Line | None = None
    command: _Line | None = None


@dataclass(frozen=True)
class _Line:
    """An instruction: its arguments without continuation lines and comments, and its here-documents by name."""

    word: str
    text: Text
    start: int
    bodies: tuple[tuple[str, Text], ...] = ()

    def script(self) -> Text:
        """What RUN gives to the shell: its here-document alone, or the command with what it reads."""
        if not self.bodies or self.text.value.lstrip().startswith("<<"):
            return self.bodies[0][1] if self.bodies else self.text
        builder = Builder(self.text.source, self.text.start)
        builder.add(self.text)
        for name, body in self.bodies:
            builder.character("\n", body.start)
            builder.add(body)
            builder.character(f"{name}\n", body.at(len(body.value)))
        return builder.text()


def dockerfile_processes(source: Source, expander: Expander) -> Iterator[Process]:
    """The process that the image of the last stage starts."""
    reader = _Reader(source, expander)
    for line in _lines(source):
        reader.take(line)
    if reader.stage is not None:
        yield reader.process(reader.stage)


class _Reader:
    """Goes through the instructions once."""

    def __init__(self, source: Source, expander: Expander) -> None:
        self.stage: _Stage | None = None
        self._source = source
        self._expander = expander
        self._stages: dict[str, _Stage] = {}
        self._arguments: dict[str, Assigned] = {}

    def take(self, line: _Line) -> None:
        """Take one instruction."""
        if line.word == "FROM":
            self._from(line)
        elif line.word == "ARG":
            for name, value, key in _pairs(line.text):
                given = unknown(stretch(self._source, key, key + len(name))) if value is None else self._filled(value)
                self._arguments[name] = Assigned(given, key)
        elif self.stage is None:
            return
        elif line.word == "ENV":
            for name, value, key in _pairs(line.text):
                if value is not None:
                    self.stage.environment[name] = Assigned(self._filled(value), key)
        elif line.word == "RUN":
            read = read_script(line.script(), {**self._arguments, **self.stage.environment}, self._expander)
            self.stage.packages |= read.packages
            self.stage.files |= read.files
        elif line.word in ("COPY", "ADD") and line.bodies:
            target = split_words(line.text)[-1].value
            for name, body in line.bodies:
                self.stage.files[f"{target.rstrip('/')}/{name}" if target.endswith("/") else target] = body
        elif line.word == "ENTRYPOINT":
            self.stage.entrypoint, self.stage.command = line, None
        elif line.word == "CMD":
            self.stage.command = line

    def process(self, stage: _Stage) -> Process:
        """What a container of the stage runs when nothing else is asked of it.

        A CMD without an ENTRYPOINT is the argument of an entrypoint that the image may inherit.
        """
        entrypoint, command = stage.entrypoint, stage.command
        words = [] if entrypoint is None else self._words(entrypoint)
        if command is not None and (entrypoint is None or _exec_form(entrypoint.text) is not None):
            words += self._words(command)
        first = entrypoint or command
        return Process(
            name="image",
            format=FORMAT,
            source=self._source,
            start=first.start if first is not None else stage.start,
            end=first.text.at(len(first.text.value)) if first is not None else stage.start,
            image=stage.image,
            words=tuple(words),
            own_program=entrypoint is not None or (command is not None and _exec_form(command.text) is None),
            environment=stage.environment,
            files=stage.files,
            packages=stage.packages,
        )

    def _from(self, line: _Line) -> None:
        words = [word for word in split_words(line.text) if not word.value.startswith("--")]
        if not words:
            return
        image = self._filled(words[0])
        parent = self._stages.get(image.value.lower())
        self.stage = _Stage(image if parent is None else parent.image, line.start)
        if parent is not None:
            self.stage.environment = dict(parent.environment)
            self.stage.packages, self.stage.files = dict(parent.packages), dict(parent.files)
            self.stage.entrypoint, self.stage.command = parent.entrypoint, parent.command
        if len(words) > 2 and words[1].value.lower() == "as":
            self._stages[words[2].value.lower()] = self.stage

    def _words(self, line: _Line) -> list[Text]:
        """The words of the exec form as they are; the shell form is what `/bin/sh -c` gets."""
        words = _exec_form(line.text)
        if words is not None:
            return [_with_unknown_variables(word, self._expander) for word in words]
        near = stretch(self._source, line.start, line.start)
        return [_written(near, "/bin/sh"), _written(near, "-c"), line.text]

    def _filled(self, text: Text) -> Text:
        known = {**self._arguments, **(self.stage.environment if self.stage is not None else {})}

        def value(match: re.Match[str]) -> Text | str | None:
            if match.group() == "\\$":
                return "$"
            name = match.group(1) or match.group(2)
            return known[name].value if name in known else None

        return replaced(text, _VARIABLE, value, self._expander) if "$" in text.value else text


def _written(near: Text, value: str) -> Text:
    builder = Builder(near.source, near.start)
    builder.character(value, near.start)
    return builder.text()


def _with_unknown_variables(text: Text, expander: Expander) -> Text:
    """Nothing fills in a variable of the exec form; whoever wrote one meant something that is not known here."""
    return replaced(text, _VARIABLE, lambda _: None, expander) if "$" in text.value else text


def _exec_form(text: Text) -> list[Text] | None:
    if not text.value.lstrip().startswith("["):
        return None
    try:
        node = read_json(text)
    except Malformed:
        return None
    if not isinstance(node, Sequence):
        return None
    return [item.text for item in node.items if isinstance(item, Scalar)]


def _pairs(text: Text) -> Iterator[tuple[str, Text | None, int]]:
    """`NAME=value` words, a name alone, or `NAME value` of old."""
    words = split_words(text)
    if len(words) > 1 and "=" not in words[0].value and _NAME.fullmatch(words[0].value):
        rest = text.stripped()
        yield words[0].value, rest.cut(len(words[0].value), len(rest.value)).stripped(), words[0].start
        return
    for word in words:
        name, equals, _ = word.value.partition("=")
        if _NAME.fullmatch(name):
            yield name, word.cut(len(name) + 1, len(word.value)) if equals else None, word.start


def _lines(source: Source) -> Iterator[_Line]:
    """Instructions with their continuation lines put together."""
    text = source.text
    escape, at = "\\", 0
    builder: Builder | None = None
    while at < len(text):
        begins, at = at, _line_end(text, at) + 1
        line = text[begins : at - 1].rstrip()
        if not line or line.lstrip().startswith("#"):
            found = _DIRECTIVE.match(line)
            escape = found.group(1) if found and builder is None else escape
            continue
        goes_on = line.endswith(escape)
        builder = builder or Builder(source, begins)
        builder.add(stretch(source, begins, begins + len(line) - (1 if goes_on else 0)))
        if goes_on:
            builder.character(" ", begins + len(line) - 1)
            continue
        instruction, builder = builder.text(), None
        word = _INSTRUCTION.match(instruction.value)
        if word is None:
            continue
        arguments = instruction.cut(word.end(), len(instruction.value))
        bodies: list[tuple[str, Text]] = []
        if word.group(1).upper() in ("RUN", "COPY", "ADD"):
            for heredoc in _HEREDOC.finditer(arguments.value):
                body, at = _body(source, at, heredoc.group(2))
                bodies.append((heredoc.group(2), body))
        yield _Line(word.group(1).upper(), arguments, instruction.at(word.start(1)), tuple(bodies))


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _body(source: Source, at: int, delimiter: str) -> tuple[Text, int]:
    """The lines up to a delimiter, and where the file goes on."""
    begin = at
    while at < len(source.text):
        end = _line_end(source.text, at)
        if source.text[at:end].strip() == delimiter:
            return stretch(source, begin, at), end + 1
        at = end + 1
    return stretch(source, begin, len(source.text)), len(source.text)
