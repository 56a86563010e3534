"""The options that a program's own help text lists."""

from __future__ import annotations

from dataclasses import dataclass

from specrules.errors import EvidenceError, Problem
from specrules.evidence.readers.patterns import Pattern
from specrules.evidence.source import Source
from specrules.model.flag import HelpText

_NAME_END = " ,=<[{"


@dataclass(frozen=True, slots=True)
class Option:
    """One option as the help text shows it. `default` is None where none is named, `section` empty outside of any."""

    names: tuple[str, ...]
    default: str | None
    section: str
    line: int

    @property
    def name(self) -> str:
        """The first long name that does not negate the option."""
        return next((name for name in self.names if name.startswith("--") and name[:5] != "--no-"), self.names[0])


def read_options(source: Source, help_text: HelpText) -> tuple[Option, ...]:
    """Return the options of a help text in their order. Raises EvidenceError where it holds none of this shape."""
    entry, default = Pattern(help_text.entry), Pattern(help_text.default)
    section = None if help_text.section is None else Pattern(help_text.section)
    title, found = "", []
    lines: list[tuple[int, list[str], list[str], str]] = []
    for number, line in enumerate(source.text.splitlines(), start=1):
        heading = None if section is None else section.first_group(line)
        if heading is not None:
            title = heading
            continue
        head = entry.first_group(line)
        names = _names(head) if head is not None else []
        if names:
            lines.append((number, names, [line], title))
        elif lines and line.strip():
            lines[-1][2].append(line.strip())
    for number, names, text, where in lines:
        stated = default.first_group(" ".join(text))
        found.append(Option(tuple(names), _word(stated, help_text), where, number))
    if not found:
        raise EvidenceError(Problem("no option of the engine's help text is recognised in this file", source.at()))
    return tuple(found)


def _names(head: str) -> list[str]:
    """The names in `-md, --model-draft FNAME`."""
    names = []
    for part in head.replace("|", ",").split(","):
        word = part.strip()
        end = min((word.find(mark) for mark in _NAME_END if mark in word), default=len(word))
        if word.startswith("-") and len(word[:end].strip("-")) > 0:
            names.append(word[:end])
    return names


def _word(stated: str | None, help_text: HelpText) -> str | None:
    if stated is None:
        return None
    text = stated.strip().strip("'\"")
    for shown, meant in help_text.default_words.items():
        if text == shown or text.startswith((f"{shown},", f"{shown} ")):
            return meant or None
    return text or None
