"""Text cut out of a file, with the place of every character and of everything in it that nobody rendered."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from specrules.catalog.document import Source
from specrules.model.deployment import Place, Word

_FILLING = " \t\r\n'\"\\"
_WIDEST_GAP = 400
_LONGEST_ESCAPE = 10


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    """Characters of a file, in the order in which a program gets them.

    `runs` maps them to the file: from an offset in the text on, until the next run, they stand one after the other from
    an offset in the file. `holes` are stretches of the text that stand for something unknown.
    """

    source: Source
    value: str
    runs: tuple[tuple[int, int], ...]
    holes: tuple[tuple[int, int], ...] = ()

    @property
    def start(self) -> int:
        """The offset in the file of the first character."""
        return self.runs[0][1]

    @property
    def is_unknown(self) -> bool:
        """Whether nothing of it is known."""
        return self.holes == ((0, len(self.value)),)

    @property
    def rendered(self) -> bool:
        """Whether every character is known."""
        return not self.holes

    def at(self, offset: int) -> int:
        """The offset in the file of a character; of the end, where it lies beyond."""
        start, there = self.runs[max(bisect_right(self.runs, offset, key=lambda run: run[0]) - 1, 0)]
        return there + offset - start

    def cut(self, start: int, end: int) -> Text:
        """A stretch of the text."""
        builder = Builder(self.source, self.at(start))
        builder.add(self, start, end)
        return builder.text()

    def stripped(self) -> Text:
        """The text without white space around it."""
        left = len(self.value) - len(self.value.lstrip())
        return self.cut(left, max(len(self.value.rstrip()), left))

    def lines(self) -> Iterable[Text]:
        """The lines without their ends."""
        at = 0
        for line in self.value.split("\n"):
            yield self.cut(at, at + len(line.removesuffix("\r")))
            at += len(line) + 1

    def place(self) -> Place:
        """The span in the file. Of a text put together from several places, the one that most of it comes from."""
        start, end = max(self._islands(), key=lambda island: island[2])[:2]
        return place(self.source, start, end)

    def _islands(self) -> Iterable[tuple[int, int, int]]:
        """Stretches of the file that the text covers, with how many characters each gives.

        Quotes, escapes and the indent of continued lines stand between characters of one stretch.
        """
        start, end, length = self.start, self.start, 0
        for index, (begin, there) in enumerate(self.runs):
            stop = self.runs[index + 1][0] if index + 1 < len(self.runs) else len(self.value)
            between = self.source.text[end:there] if end <= there <= end + _WIDEST_GAP else None
            if between is None or (between.strip(_FILLING) and (len(between) > _LONGEST_ESCAPE or "\n" in between)):
                yield start, end, length
                start, length = there, 0
            end = there + stop - begin
            length += stop - begin
        yield start, end, length

    def word(self) -> Word:
        """The text as a word of a launch."""
        return Word(
            text=self.value,
            place=self.place(),
            rendered=self.rendered,
            runs=tuple(self._lines_of_runs()),
            holes=self.holes,
        )

    def _lines_of_runs(self) -> Iterable[tuple[int, int, int]]:
        """Runs by line and column; one that crosses a line end becomes one run per line."""
        for index, (start, there) in enumerate(self.runs):
            end = self.runs[index + 1][0] if index + 1 < len(self.runs) else len(self.value)
            where = self.source.location(there)
            yield start, where.line, where.column
            at = self.value.find("\n", start, end)
            while 0 <= at < end - 1:
                where = self.source.location(there + at + 1 - start)
                yield at + 1, where.line, where.column
                at = self.value.find("\n", at + 1, end)


class Builder:
    """Puts a text together from stretches of others."""

    def __init__(self, source: Source, start: int) -> None:
        self._source = source
        self._start = start
        self._parts: list[str] = []
        self._runs: list[tuple[int, int]] = []
        self._holes: list[tuple[int, int]] = []
        self._length = 0

    @property
    def length(self) -> int:
        """How many characters the text has so far."""
        return self._length

    def add(self, text: Text, start: int = 0, end: int | None = None) -> None:
        """Append a stretch of a text, with its holes."""
        end = len(text.value) if end is None else end
        if end <= start:
            return
        index = max(bisect_right(text.runs, start, key=lambda run: run[0]) - 1, 0)
        shift = self._length - start
        while index < len(text.runs) and text.runs[index][0] < end:
            begins, there = text.runs[index]
            first = max(begins, start)
            self._run(first + shift, there + first - begins)
            index += 1
        for at in range(bisect_right(text.holes, start, key=lambda hole: hole[1]), len(text.holes)):
            begin, stop = text.holes[at]
            if begin >= end:
                break
            self._holes.append((max(begin, start) + shift, min(stop, end) + shift))
        self._append(text.value[start:end])

    def character(self, value: str, there: int) -> None:
        """Append what an escape at an offset of the file stands for."""
        if value:
            self._run(self._length, there)
            self._append(value)

    def hole(self, text: Text, start: int, end: int) -> None:
        """Append a stretch as it is written, as something unknown."""
        begin = self._length
        self.add(text, start, end)
        self._holes.append((begin, self._length))

    def text(self) -> Text:
        """The finished text."""
        runs = tuple(self._runs) or ((0, self._start),)
        return Text(self._source, "".join(self._parts), runs, merged(self._holes))

    def _run(self, offset: int, there: int) -> None:
        if self._runs:
            start, before = self._runs[-1]
            if before + offset - start == there:
                return
        self._runs.append((offset, there))

    def _append(self, value: str) -> None:
        self._parts.append(value)
        self._length += len(value)


def whole(source: Source) -> Text:
    """All of a file."""
    return Text(source, source.text, ((0, 0),))


def stretch(source: Source, start: int, end: int) -> Text:
    """A stretch of a file as it is written."""
    return Text(source, source.text[start:end], ((0, start),))


def joined(source: Source, texts: Iterable[Text], between: str = "") -> Text:
    """Texts one after the other."""
    texts = list(texts)
    builder = Builder(source, texts[0].start if texts else 0)
    for index, text in enumerate(texts):
        if index and between:
            builder.character(between, text.start)
        builder.add(text)
    return builder.text()


def unknown(text: Text, shown: str | None = None) -> Text:
    """Something unknown that stands where a text stands; shown as it is written, or as something else."""
    value = (text.value if shown is None else shown) or "?"
    runs = text.runs if value == text.value else ((0, text.start),)
    return Text(text.source, value, runs, ((0, len(value)),))


def place(source: Source, start: int, end: int) -> Place:
    """A span of a file by its offsets."""
    first, last = source.location(start), source.location(end)
    return Place(path=source.path, line=first.line, column=first.column, end_line=last.line, end_column=last.column)


def merged(holes: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Holes in order, those that touch as one."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(holes):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return tuple(found)
