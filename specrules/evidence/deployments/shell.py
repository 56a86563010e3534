"""A shell script to the commands in it, with variables, arrays and here-documents that the script itself sets.

Nothing is run. What depends on a branch, a loop, an argument or another program is unknown after it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from specrules.evidence.deployments.expand import MOST_ENTRIES, Expander, Value
from specrules.evidence.deployments.shell_commands import ASSIGNMENT, Array, RawCommand, shell_steps
from specrules.evidence.deployments.shell_parts import Part, RawWord
from specrules.evidence.deployments.shell_words import heredoc_word
from specrules.evidence.deployments.text import Builder, Text, unknown

MAX_COMMANDS = 5000
MAX_EXPORTS = 128
_OPENING = frozenset({"if", "while", "until", "for", "case", "select", "{"})
_CLOSING = frozenset({"fi", "done", "esac", "}"})
_PREFIXES = frozenset({"then", "do", "!", "time", "if", "while", "until", "elif", "else", "{"})
_BRANCHES = frozenset({"else", "elif"})
_DECLARING = frozenset({"export", "declare", "typeset", "local", "readonly"})
_TESTING = frozenset({"[", "[[", "test", "grep", "which", "command", "false", "!"})
_WRITERS = frozenset({"cat", "tee"})
_SOURCING = frozenset({"source", "."})
_NO_PROGRAMS = frozenset(
    {"[", "[[", "test", "echo", "printf", "cd", "set", "shift", "trap", "ulimit", "wait", "sleep", "true", "false", ":"}
    | {"exit", "return", "mkdir", "rm", "cp", "mv", "ln", "chmod", "chown", "touch", "cat", "kill", "pushd", "popd"}
)
_PINNED = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^\]]*\])?==([A-Za-z0-9][A-Za-z0-9.+!_-]*)")


@dataclass(frozen=True, slots=True)
class Assigned:
    """A variable of the environment: its value, and where its name stands in the file."""

    value: Text
    key: int


@dataclass(frozen=True, slots=True)
class Command:
    """A simple command, what it sees of the environment, and where it ends in the file."""

    words: tuple[Text, ...]
    environment: Mapping[str, Assigned]
    end: int


@dataclass
class Script:
    """What a script was seen to do: commands in order, files that it writes, packages that it installs.

    `sourced` are the files that it reads for variables, `cut_off` says that it has more commands than are read.
    """

    commands: list[Command] = field(default_factory=list)
    files: dict[str, Text] = field(default_factory=dict)
    packages: dict[str, Text] = field(default_factory=dict)
    sourced: list[Text] = field(default_factory=list)
    cut_off: bool = False


@dataclass(slots=True)
class _Block:
    """A branch, a loop, a function or a subshell; what is assigned in it is unknown behind it."""

    word: str
    assigned: set[str] = field(default_factory=set)


def read_script(text: Text, environment: Mapping[str, Assigned], expander: Expander) -> Script:
    """Read a script that is started with this environment."""
    reader = _Reader(text, environment, expander)
    reader.run()
    return reader.script


class _Reader:
    """Goes through a script once, from command to command."""

    def __init__(self, text: Text, environment: Mapping[str, Assigned], expander: Expander) -> None:
        self.script = Script()
        self._text = text
        self._expander = expander
        self._variables: dict[str, Value | None] = {name: Value((item.value,)) for name, item in environment.items()}
        self._environment = dict(environment)
        self._export_all = False
        self._blocks: list[_Block] = []
        self._doubtful = False
        self._last = ""

    def run(self) -> None:
        """Read every command."""
        for step in shell_steps(self._text):
            if isinstance(step, RawCommand):
                self._command(step)
            elif step.value == "(":
                self._blocks.append(_Block("("))
            elif step.value == ")":
                self._close("(")
            else:
                self._doubtful = step.value == "||" or (
                    step.value == "&&" and (self._doubtful or self._last in _TESTING)
                )
            if len(self.script.commands) >= MAX_COMMANDS or len(self._environment) > MAX_EXPORTS:
                self.script.cut_off = True
                return

    def _command(self, raw: RawCommand) -> None:
        words = self._without_keywords(list(raw.words))
        own: dict[str, Assigned] = {}
        while words and (assigned := self._assignment(words[0])) is not None:
            words.pop(0)
            name, value, key = assigned
            if words:
                own[name] = Assigned(value.texts[0], key)
            else:
                self._assign(name, value, key)
        found = [text for word in words if isinstance(word, RawWord) for text in self._words(word)]
        if not found:
            return
        self._last = found[0].value
        if self._last in _DECLARING:
            self._declare(words[1:])
        elif self._last == "set" and any(text.value in ("-a", "allexport") for text in found[1:]):
            self._export_all = True
        elif self._last == "unset":
            for text in found[1:]:
                self._forget(text.value)
        elif self._last in _SOURCING and len(found) > 1:
            self.script.sourced.append(found[1])
        elif self._last in _WRITERS:
            self._write(raw, found)
        elif self._last in ("read", "mapfile", "readarray", "getopts"):
            for text in found[1:]:
                self._forget(text.value)
        else:
            self._record(found, own)

    def _record(self, found: list[Text], own: dict[str, Assigned]) -> None:
        for text in found:
            pinned = _PINNED.fullmatch(text.value)
            if pinned is not None and text.rendered:
                self.script.packages[pinned.group(1).lower()] = text.cut(pinned.start(2), pinned.end(2))
        if found[0].value in _NO_PROGRAMS:
            return
        last = found[-1]
        end = last.at(max(len(last.value) - 1, 0)) + 1
        self.script.commands.append(Command(tuple(found), {**self._environment, **own}, end))

    def _without_keywords(self, words: list[RawWord | Array]) -> list[RawWord | Array]:
        """Take keywords from the front, and open and close blocks as they say."""
        while words and isinstance(words[0], RawWord):
            word = words[0].literal(self._text)
            if word in _CLOSING:
                self._close(word)
            elif word in _OPENING:
                self._blocks.append(_Block(word))
            elif word in _BRANCHES and self._blocks:
                self._settle(self._blocks[-1])
            if word in ("for", "select") and len(words) > 1 and isinstance(words[1], RawWord):
                self._forget(words[1].literal(self._text) or "")
                return []
            if word in ("case", "function"):
                return []
            if word not in _PREFIXES and word not in _CLOSING:
                break
            words.pop(0)
        return words

    def _assignment(self, word: RawWord | Array) -> tuple[str, Value, int] | None:
        """Name, value and place of the name, where a word assigns."""
        raw = word.word if isinstance(word, Array) else word
        first = raw.parts[0] if raw.parts else None
        if first is None or first.kind != "text" or first.quoted:
            return None
        found = ASSIGNMENT.match(self._text.value, first.start, first.end)
        if found is None or found.group(2):
            return None
        name, adds = found.group(1), bool(found.group(3))
        if isinstance(word, Array):
            entries = tuple(text for entry in word.entries for text in self._words(entry))
            value = Value(entries, is_array=True)
        else:
            parts = (Part("text", found.end(), first.end, quoted=True), *raw.parts[1:])
            value = Value((self._expander.one(RawWord(found.end(), raw.end, parts), self._text, self._variables),))
        if adds:
            value = self._added(self._variables.get(name), value, raw)
        return name, value, self._text.at(first.start)

    def _added(self, before: Value | None, value: Value, raw: RawWord) -> Value:
        if before is None:
            unknown = Builder(self._text.source, self._text.at(raw.start))
            unknown.hole(self._text, raw.start, raw.end)
            return Value((unknown.text(), *(value.texts if value.is_array else ())), is_array=value.is_array)
        if len(before.texts) > MOST_ENTRIES:
            return before
        if value.is_array or before.is_array:
            return Value((*before.texts, *value.texts), is_array=True)
        builder = Builder(self._text.source, before.texts[0].start)
        builder.add(before.texts[0])
        builder.add(value.texts[0])
        return Value((builder.text(),))

    def _assign(self, name: str, value: Value, key: int) -> None:
        self._variables[name] = value
        if not value.is_array and (self._export_all or name in self._environment):
            self._environment[name] = Assigned(value.texts[0], key)
        if self._blocks:
            self._blocks[-1].assigned.add(name)
        if self._doubtful:
            self._doubt(name)

    def _declare(self, words: list[RawWord | Array]) -> None:
        """`export NAME=value` and the like. Only export and declare -x make it part of the environment."""
        exports = self._last == "export"
        for word in words:
            assigned = self._assignment(word)
            literal = word.literal(self._text) if isinstance(word, RawWord) else None
            if literal is not None and literal.startswith("-"):
                exports = exports or "x" in literal
            elif assigned is not None:
                name, value, key = assigned
                if exports and not value.is_array:
                    self._environment[name] = Assigned(value.texts[0], key)
                self._assign(name, value, key)
            elif literal is not None and exports:
                known = self._variables.get(literal)
                if known is not None and not known.is_array:
                    assert isinstance(word, RawWord)  # noqa: S101
                    self._environment[literal] = Assigned(known.texts[0], self._text.at(word.start))

    def _write(self, raw: RawCommand, found: list[Text]) -> None:
        """`cat > FILE <<END` and `tee FILE <<END` write a file that a later command may read."""
        if not raw.heredocs:
            return
        targets = [target for operator, target in raw.targets if operator in (">", ">|", ">>")]
        names = [text for target in targets for text in self._words(target)]
        names += [text for text in found[1:] if self._last == "tee" and not text.value.startswith("-")]
        body = self._expander.one(heredoc_word(self._text, raw.heredocs[-1]), self._text, self._variables)
        for name in names:
            if name.rendered:
                self.script.files[name.value] = body

    def _words(self, word: RawWord) -> list[Text]:
        return self._expander.words(word, self._text, self._variables)

    def _close(self, word: str) -> None:
        if word == "(" and not any(block.word == "(" for block in self._blocks):
            return
        if self._blocks:
            block = self._blocks.pop()
            self._settle(block)
            if self._blocks:
                self._blocks[-1].assigned |= block.assigned

    def _settle(self, block: _Block) -> None:
        for name in block.assigned:
            self._doubt(name)

    def _doubt(self, name: str) -> None:
        """From here on nobody can say what the variable holds."""
        if name in self._environment:
            before = self._environment[name]
            self._environment[name] = Assigned(unknown(before.value), before.key)
        self._variables[name] = None

    def _forget(self, name: str) -> None:
        self._variables[name] = None
        self._environment.pop(name, None)
        if self._blocks:
            self._blocks[-1].assigned.add(name)
