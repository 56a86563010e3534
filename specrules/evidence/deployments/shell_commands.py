"""Tokens of a shell to simple commands: words, redirections, arrays, and the operators between commands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from specrules.evidence.deployments.shell_parts import Heredoc, Operator, RawWord
from specrules.evidence.deployments.shell_words import shell_tokens
from specrules.evidence.deployments.text import Text

ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(\[[^\]]*\])?(\+?)=")
_REDIRECTIONS = frozenset({">", ">>", "<", ">|", "&>", "&>>", "<&", ">&", "<>", "<<<"})


@dataclass(slots=True)
class Array:
    """`NAME=(...)`: the word with the name, and the words in it."""

    word: RawWord
    entries: list[RawWord] = field(default_factory=list)


@dataclass(slots=True)
class RawCommand:
    """A command as it is written. `heredocs` and `targets` are what its redirections name."""

    words: list[RawWord | Array] = field(default_factory=list)
    heredocs: list[Heredoc] = field(default_factory=list)
    targets: list[tuple[str, RawWord]] = field(default_factory=list)


Step: TypeAlias = RawCommand | Operator


def shell_steps(text: Text) -> Iterator[Step]:
    """Commands and the operators between them, in order. Bodies of here-documents are there when a step comes out."""
    tokens = list(shell_tokens(text))
    command = RawCommand()
    at = 0
    while at < len(tokens):
        token = tokens[at]
        at += 1
        if isinstance(token, Heredoc):
            command.heredocs.append(token)
        elif isinstance(token, RawWord):
            command.words.append(token)
        elif token.value in _REDIRECTIONS:
            _drop_descriptor(command, token, text)
            following = tokens[at] if at < len(tokens) else None
            if isinstance(following, RawWord):
                command.targets.append((token.value, following))
                at += 1
        elif token.value == "(" and _names_array(command, token, text):
            array = Array(command.words.pop())  # type: ignore[arg-type]
            while at < len(tokens):
                inner = tokens[at]
                at += 1
                if isinstance(inner, RawWord):
                    array.entries.append(inner)
                elif isinstance(inner, Operator) and inner.value == ")":
                    break
            command.words.append(array)
        else:
            if command.words or command.heredocs or command.targets:
                yield command
                command = RawCommand()
            yield token
    if command.words or command.heredocs or command.targets:
        yield command


def _names_array(command: RawCommand, token: Operator, text: Text) -> bool:
    last = command.words[-1] if command.words else None
    if not isinstance(last, RawWord) or last.end != token.start:
        return False
    return ASSIGNMENT.fullmatch(text.value, last.start, last.end) is not None


def _drop_descriptor(command: RawCommand, token: Operator, text: Text) -> None:
    """The `2` of `2>` is no word of the command."""
    last = command.words[-1] if command.words else None
    if isinstance(last, RawWord) and last.end == token.start and text.value[last.start : last.end].isdigit():
        command.words.pop()
