"""Words with variables to texts: what the same file sets is filled in, everything else stays a hole."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from specrules.evidence.deployments.shell_parts import Part, RawWord
from specrules.evidence.deployments.text import Builder, Text

LONGEST_VALUE = 1 << 15
MOST_ENTRIES = 4096
_BLANKS = re.compile(r"[ \t\n]+")
_WITH_DEFAULT = frozenset({"", ":-", "-", ":=", "=", ":?", "?"})


@dataclass(frozen=True, slots=True)
class Value:
    """What a variable holds: one text, or those of an array."""

    texts: tuple[Text, ...]
    is_array: bool = False


Variables = Mapping[str, Value | None]
"""Variables by name. None: set, but nobody knows to what."""


class Expander:
    """Fills variables in, as long as the texts do not grow beyond what a file can mean."""

    def __init__(self, left: int = 1 << 20) -> None:
        self._left = left

    @property
    def exhausted(self) -> bool:
        """Whether nothing more is filled in."""
        return self._left < 0

    def take(self, length: int) -> bool:
        """Whether a value of this length may still be filled in."""
        self._left -= length + 8
        return self._left >= 0

    def words(self, raw: RawWord, text: Text, variables: Variables) -> list[Text]:
        """The words that a word becomes: values outside quotes are split at blanks, arrays into their entries."""
        found: list[Text] = []
        builder: Builder | None = None
        for part in raw.parts:
            if builder is None and (part.quoted or part.kind != "variable"):
                builder = Builder(text.source, text.at(part.start))
            value = self._value(part, variables)
            if part.kind != "variable" or value is None:
                builder = builder or Builder(text.source, text.at(part.start))
                _literal(part, text, builder)
                continue
            for index, piece in enumerate(self._pieces(part, value)):
                if piece is None or (index and value.is_array):
                    if builder is not None:
                        found.append(builder.text())
                    builder = None
                if piece is not None:
                    builder = builder or Builder(text.source, piece.start)
                    builder.add(piece)
        if builder is not None:
            found.append(builder.text())
        return found

    def one(self, raw: RawWord, text: Text, variables: Variables) -> Text:
        """The word as one text, as an assignment takes it: nothing is split."""
        quoted = [
            Part(part.kind, part.start, part.end, quoted=True, value=part.value, modifier=part.modifier)
            for part in raw.parts
        ]
        words = self.words(RawWord(raw.start, raw.end, tuple(quoted)), text, variables)
        if not words:
            return text.cut(raw.start, raw.start)
        if len(words) == 1:
            return words[0]
        builder = Builder(text.source, words[0].start)
        for index, word in enumerate(words):
            builder.character(" " if index else "", word.start)
            builder.add(word)
        return builder.text()

    def _value(self, part: Part, variables: Variables) -> Value | None:
        if part.kind != "variable" or part.modifier not in _WITH_DEFAULT:
            return None
        name, _, index = part.value.partition("[")
        value = variables.get(name)
        if value is None or (any(text.is_unknown for text in value.texts) and not value.is_array):
            return None
        if bool(index) != value.is_array or (index and index not in ("@]", "*]")):
            return None
        length = sum(len(text.value) for text in value.texts)
        if length > LONGEST_VALUE or len(value.texts) > MOST_ENTRIES or not self.take(length + 8 * len(value.texts)):
            return None
        if part.modifier.startswith(":") and not length:
            return None
        return value

    def _pieces(self, part: Part, value: Value) -> Iterator[Text | None]:
        """The texts of a value; None is where a word ends."""
        for text in value.texts:
            if part.quoted:
                yield text
            else:
                yield from _fields(text)


def _fields(text: Text) -> Iterator[Text | None]:
    """What is between blanks. Blanks at the ends divide the value from what stands beside it."""
    done = 0
    for blank in _BLANKS.finditer(text.value):
        hole = bisect_right(text.holes, (blank.start(), len(text.value))) - 1
        if hole >= 0 and text.holes[hole][1] > blank.start():
            continue
        if blank.start() > done:
            yield text.cut(done, blank.start())
        yield None
        done = blank.end()
    if done < len(text.value):
        yield text.cut(done, len(text.value))


def _literal(part: Part, text: Text, builder: Builder) -> None:
    if part.kind == "text":
        builder.add(text, part.start, part.end)
    elif part.kind == "escape":
        builder.character(part.value, text.at(part.start))
    else:
        builder.hole(text, part.start, part.end)


def replaced(
    text: Text, pattern: re.Pattern[str], resolve: Callable[[re.Match[str]], Text | str | None], expander: Expander
) -> Text:
    """The text with each match filled in: by a text, by a character that an escape stands for, or as a hole (None)."""
    builder = Builder(text.source, text.start)
    done = 0
    for match in pattern.finditer(text.value):
        builder.add(text, done, match.start())
        value = None if expander.exhausted else resolve(match)
        done = match.end()
        if isinstance(value, str):
            builder.character(value, text.at(match.start()))
        elif (
            value is None or value.is_unknown or len(value.value) > LONGEST_VALUE or not expander.take(len(value.value))
        ):
            builder.hole(text, match.start(), match.end())
        else:
            builder.add(value)
    if not done:
        return text
    builder.add(text, done)
    return builder.text()
