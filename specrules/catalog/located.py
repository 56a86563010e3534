"""Text to documents: a YAML 1.2 subset, read through the events of libyaml so that nothing escapes notice.

The events are used rather than the node graph above them: the graph drops anchors, resolves aliases and stops at the
first thing it dislikes, and walking the events directly takes half the time of building the graph.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from specrules.catalog.document import Document, Source, Spot
from specrules.catalog.scalars import plain_value
from specrules.errors import LoadError, Location, Problem

MAX_BYTES = 4 << 20
MAX_DEPTH = 64
MAX_PROBLEMS = 100

# Also line ends of Unicode that libyaml counts as lines and no editor does.
_REFUSED = re.compile("[^\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_REFUSED_ESCAPES = re.compile("[\x00\ud800-\udfff]")
_ALIAS = object()
_REUSE = "write the value out, or build on a whole document with 'extends: ID'"


def load_document(text: str | bytes, path: str, layer: str = "") -> Document:
    """Return the document in `text`. Raises LoadError with every problem in it, in order of place."""
    document = read_document(text, path, layer)
    if document.problems:
        raise LoadError(document.problems)
    return document


def load_file(path: str | os.PathLike[str]) -> Document:
    """Return the document in a file. Raises LoadError, also where the file cannot be read."""
    shown = os.fspath(path)
    try:
        with Path(path).open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise LoadError(Problem(f"cannot be read: {reason}", Location(shown))) from None
    return load_document(content, shown)


def read_document(text: str | bytes, path: str, layer: str = "") -> Document:
    """Return the document in `text` with its problems as values. With problems its data is what could be read."""
    source, problems = _decode(text, path, layer)
    if problems:
        return Document(source, {}, Spot(source, 0), tuple(problems))
    builder = _Builder(source)
    builder.run()
    data, root = builder.root
    if not isinstance(data, dict):
        data, root = {}, Spot(source, 0)
    found = sorted(builder.problems, key=lambda problem: problem.where or Location(path))
    return Document(source, data, root, tuple(found))


def _decode(text: str | bytes, path: str, layer: str) -> tuple[Source, list[Problem]]:
    """Return the text and what is wrong with its characters; the parser sees only text without problems."""
    size = len(text) if isinstance(text, bytes) else len(text.encode("utf-8", "surrogatepass"))
    if size > MAX_BYTES:
        return Source(path, "", layer), [Problem(f"larger than {MAX_BYTES >> 20} MiB", Location(path))]
    if isinstance(text, bytes):
        raw = text
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            source = Source(path, raw.decode("utf-8", "replace").removeprefix("\ufeff"), layer)
            offset = len(raw[: error.start].decode("utf-8").removeprefix("\ufeff"))
            hint = "it looks like UTF-16: " if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else ""
            return source, [source.problem(f"not UTF-8: byte 0x{raw[error.start]:02x}", offset, f"{hint}save as UTF-8")]
    source = Source(path, text.removeprefix("\ufeff"), layer)
    refused = list(itertools.islice(_REFUSED.finditer(source.text), MAX_PROBLEMS))
    return source, [_refused_character(source, found.group(), found.start()) for found in refused]


def _refused_character(source: Source, character: str, offset: int) -> Problem:
    hint = 'write it as an escape in double quotes, like "\\u001b"'
    return source.problem(f"character U+{ord(character):04X} is not allowed", offset, hint)


class _StopReading(Exception):  # noqa: N818
    """What follows in the file makes no sense any more; the reason is already among the problems."""


class _List:
    """A list that is being filled."""

    def __init__(self, source: Source, start: int) -> None:
        self.data: list[Any] = []
        self.spots: list[Spot] = []
        self.spot = Spot(source, start, self.spots)


class _Mapping:
    """A mapping that is being filled. `key` is the one that waits for its value; None drops the value."""

    def __init__(self, source: Source, start: int) -> None:
        self.data: dict[str, Any] = {}
        self.spots: dict[str, Spot] = {}
        self.spot = Spot(source, start, self.spots)
        self.key: str | None = None
        self.key_start = 0
        self.wants_key = True


class _Builder:
    """Builds data and spots from the events of one text, and collects what is wrong on the way."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.problems: list[Problem] = []
        self.root: tuple[Any, Spot] = (None, Spot(source, 0))
        self._open: list[_List | _Mapping] = []
        self._documents = 0

    def run(self) -> None:
        """Read the whole text, or as far as it can be understood."""
        with contextlib.suppress(_StopReading):
            self._read()

    def _read(self) -> None:
        for event in self._events():
            self._take(event, type(event).__name__)
        if not self.problems:
            self._check_root()

    def _events(self) -> Iterator[Any]:
        import yaml

        try:
            yield from yaml.parse(self.source.text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        except yaml.MarkedYAMLError as error:
            self._structural(error)
        except (yaml.YAMLError, ValueError, OverflowError) as error:
            # Only the pure Python scanner gets here, on escapes beyond Unicode and oversized directives.
            self.problems.append(Problem(f"not valid YAML: {error}", Location(self.source.path)))

    def _take(self, event: Any, name: str) -> None:
        start = event.start_mark.index
        if name == "ScalarEvent":
            self._refuse_decoration(event, start)
            self._put(self._scalar(event, start), Spot(self.source, start), plain=event.implicit[0])
        elif name in ("MappingStartEvent", "SequenceStartEvent"):
            self._refuse_decoration(event, start)
            if len(self._open) == MAX_DEPTH:
                self._stop(f"nested deeper than {MAX_DEPTH} levels", start)
            self._open.append((_Mapping if name == "MappingStartEvent" else _List)(self.source, start))
        elif name in ("MappingEndEvent", "SequenceEndEvent"):
            closed = self._open.pop()
            self._put(closed.data, closed.spot)
        elif name == "AliasEvent":
            self._report(f"alias '*{event.anchor}' is not allowed", start, _REUSE)
            self._put(_ALIAS, Spot(self.source, start))
        elif name == "DocumentStartEvent":
            self._documents += 1
            if self._documents > 1:
                self._stop("a second document begins here: a file holds one", start)

    def _scalar(self, event: Any, start: int) -> Any:
        text = event.value
        if not event.implicit[0]:
            if _REFUSED_ESCAPES.search(text):
                self._report("text with a NUL character or half a surrogate pair is not allowed", start)
            return text
        try:
            return plain_value(text)
        except OverflowError as error:
            self._report(f"number {error}", start)
            return 0

    def _put(self, value: Any, spot: Spot, *, plain: bool = False) -> None:
        if not self._open:
            self.root = value, spot
            return
        parent = self._open[-1]
        if isinstance(parent, _List):
            parent.data.append(value)
            parent.spots.append(spot)
        elif parent.wants_key:
            parent.wants_key = False
            parent.key = self._key(value, spot.start, parent, plain=plain)
            parent.key_start = spot.start
        else:
            parent.wants_key = True
            if parent.key is not None:
                spot.key = parent.key_start
                parent.data[parent.key] = value
                parent.spots[parent.key] = spot

    def _key(self, value: Any, start: int, parent: _Mapping, *, plain: bool) -> str | None:
        """Return the key, or None where it is refused and its value is to be dropped."""
        if value is _ALIAS:
            return None
        if not isinstance(value, str):
            shown = _noun(value) if isinstance(value, dict | list) else "empty" if value is None else _written(value)
            hint = f'put it in quotes: "{shown}"' if isinstance(value, int | float) else ""
            self._report(f"a key must be text, not {shown}", start, hint)
            return None
        if value == "<<" and plain:
            self._report("merge key '<<' is not allowed", start, _REUSE)
            return None
        if value in parent.data:
            first = self.source.location(parent.spots[value].key or 0)
            self._report(f"duplicate key {value!r}", start, f"first at line {first.line}")
            return None
        return value

    def _refuse_decoration(self, event: Any, start: int) -> None:
        if event.anchor is not None:
            self._report(f"anchor '&{event.anchor}' is not allowed", start, _REUSE)
        if event.tag is not None:
            shown = event.tag.replace("tag:yaml.org,2002:", "!!")
            self._report(f"tag '{shown}' is not allowed", start, "leave it out; text goes in quotes")

    def _check_root(self) -> None:
        data, root = self.root
        if data is None:
            self._report("the file is empty", 0)
        elif not isinstance(data, dict):
            noun = _noun(data) if isinstance(data, list) else "a single value"
            self._report(f"the document must be a mapping of keys to values, not {noun}", root.start)

    def _structural(self, error: Any) -> None:
        """Report what the parser stumbled over, in words that say what to do."""
        text = self.source.text
        mark, opened = error.problem_mark or error.context_mark, error.context_mark
        at = min(mark.index, len(text)) if mark else 0
        problem, hint = error.problem or error.context or "syntax error", ""
        if "nesting depth" in problem:
            self._report(f"nested deeper than {MAX_DEPTH} levels", at)
            return
        if "cannot start any token" in problem:
            tab = text[at : at + 1] == "\t"
            problem = "a tab cannot indent" if tab else f"{text[at]!r} cannot start a value"
            hint = "use spaces" if tab else "put the text in quotes"
        elif problem.startswith("mapping values are not allowed"):
            problem, hint = "a ':' does not fit here", "check the indent, and put text that holds ': ' in quotes"
        elif error.context and opened and not text[at:].strip():
            problem, at = f"the file ends {error.context} that begins here", opened.index
        elif error.context and opened:
            hint = f"{error.context} that begins at line {self.source.location(opened.index).line}"
        self._report(f"not valid YAML: {problem}", at, hint)

    def _report(self, message: str, offset: int, hint: str = "") -> None:
        self.problems.append(self.source.problem(message, offset, hint))
        if len(self.problems) == MAX_PROBLEMS:
            self.problems.append(self.source.problem(f"more than {MAX_PROBLEMS} problems: reading stops here", offset))
            raise _StopReading

    def _stop(self, message: str, offset: int) -> None:
        self._report(message, offset)
        raise _StopReading


def _noun(value: dict[str, Any] | list[Any]) -> str:
    return "a mapping" if isinstance(value, dict) else "a list"


def _written(value: float) -> str:
    return str(value).lower()
