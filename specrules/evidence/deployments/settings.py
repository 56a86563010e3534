"""The settings of a launch: arguments, variables and keys as the engine itself would take them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from specrules.catalog.document import Source
from specrules.evidence.deployments.json_nodes import read_json
from specrules.evidence.deployments.names import Names
from specrules.evidence.deployments.nodes import Malformed, Mapping, flattened
from specrules.evidence.deployments.secrets import MASK, is_secret_name
from specrules.evidence.deployments.text import Text
from specrules.model.deployment import ConfigDocument, Gap, Launch, Part, Place, Setting, SettingKind, Word

_INLINE = re.compile(r"([A-Za-z_][\w-]*)=([^,]*)")
_NUMBER = re.compile(r"-\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|-\.\d+")
_JOINED = "its value as a word of its own, not behind an equals sign"
_PART_OF: dict[SettingKind, Part] = {"config": "config", "env": "environment", "flag": "command"}
_STANDS_ABOVE: dict[SettingKind, int] = {"config": 0, "env": 1, "flag": 2}


@dataclass
class Read:
    """Settings in the order of the file, arguments that are no flags, and what could not be followed.

    `inside` maps the index of a setting to that of the setting in whose value it stands.
    """

    settings: list[Setting] = field(default_factory=list)
    positional: list[Word] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    inside: dict[int, int] = field(default_factory=dict)

    def add(self, setting: Setting, inside: int | None = None) -> int:
        """Append a setting and return its index."""
        index = len(self.settings)
        self.settings.append(setting if inside is None else setting.model_copy(update={"inside": True}))
        if inside is not None:
            self.inside[index] = inside
        return index


@dataclass(frozen=True, slots=True)
class _Written:
    """A setting as it stands in the file."""

    kind: SettingKind
    name: str
    known: str | None
    value: Word | None
    place: Place
    fault: str = ""


def read_settings(launch: Launch, arguments: int, names: Names) -> Read:
    """The settings of a launch whose arguments begin at a word of its command."""
    read = Read()
    _take_document(launch.config, names, read, preset=launch.format == "preset")
    for name, word in launch.environment.items():
        known = names.variable(name)
        if known is not None or any(fnmatchcase(name, pattern) for pattern in names.launching.variables):
            place = launch.environment_places.get(name, word.place)
            _take(_Written("env", name, known, word, place), names, read)
    _Arguments(launch, arguments, names, read).take()
    if launch.doubtful:
        read.settings = [_doubted(setting, launch) for setting in read.settings]
    _mark(read)
    return read


class _Arguments:
    """Goes through the arguments of a command once."""

    def __init__(self, launch: Launch, start: int, names: Names, read: Read) -> None:
        self._launch = launch
        self._words: Sequence[Word] = launch.command
        self._at = start
        self._names = names
        self._read = read

    def take(self) -> None:
        """Take every argument."""
        while self._at < len(self._words):
            word = self._words[self._at]
            self._at += 1
            if not word.rendered and not word.text.startswith("-"):
                self._gap(word)
            elif _is_flag(word.text):
                self._flag(word)
            elif word.text != "--":
                self._read.positional.append(word)

    def _flag(self, word: Word) -> None:
        written, equals, _ = word.text.partition("=")
        if any(start < len(written) for start, _ in word.holes):
            self._gap(word)
            return
        known = self._names.flag(written)
        fault = ""
        if equals and written.startswith("--"):
            value: Word | None = _cut(word, len(written) + 1)
            fault = "" if self._names.joined_values else _JOINED
        else:
            value = self._value(None if known is None else self._names.takes_value(known))
        if value is not None and self._names.names_config(known, written):
            self._config(value)
        place = word.at(0, len(written))
        _take(_Written("flag", written, known, value, place, fault), self._names, self._read)

    def _value(self, takes: bool | None) -> Word | None:
        """The next word where it is the flag's value; of a flag that nobody described, what does not look like one."""
        following = self._words[self._at] if self._at < len(self._words) else None
        if takes is False or following is None:
            return None
        if _is_flag(following.text) and (takes is None or self._names.flag(following.text.partition("=")[0])):
            return None
        self._at += 1
        return following

    def _config(self, path: Word) -> None:
        document = self._launch.documents.get(path.text)
        if document is None:
            why = f"settings come from {path.text}, which is not part of this file"
            self._read.gaps.append(Gap(of="config", why=why, place=path.place))
        else:
            _take_document(document, self._names, self._read, preset=False)

    def _gap(self, word: Word) -> None:
        self._read.gaps.append(Gap(of="command", why=f"{word.text} may hold more arguments", place=word.place))


def _is_flag(text: str) -> bool:
    return len(text) > 1 and text.startswith("-") and text != "--" and not _NUMBER.fullmatch(text)


def _take_document(document: ConfigDocument, names: Names, read: Read, *, preset: bool) -> None:
    """Every key that the engine knows, and the other single values: they may be misspelt ones."""
    inner = next(
        (item.flag for item in names.launching.config.inner if all(key in document.values for key in item.keys)), None
    )
    blocks = {key.rpartition(".")[0] for key in document.values}
    indexes: dict[str, int] = {}
    closed: set[str] = set()
    for key, word in document.values.items():
        above = key.rpartition(".")[0]
        if above in closed:
            closed.add(key)
            continue
        known = names.preset_key(key) if preset else names.key(key if inner is None else f"{inner}.{key}")
        is_block = key in blocks
        if known is None and is_block:
            continue
        written = _Written("config", key, known, word, document.places.get(key, word.place))
        if is_block or known is None or not names.is_parent(known):
            indexes[key] = read.add(_setting(written), indexes.get(above))
        else:
            _take(written, names, read)
        if known is not None and not names.is_parent(known):
            closed.add(key)


def _take(written: _Written, names: Names, read: Read) -> None:
    """A setting, and those inside its value where that is an object."""
    setting, value = _setting(written), written.value
    if value is not None and written.known is not None and names.has_inline_keys(written.known):
        _take_inline(written, value, names, read)
        return
    if value is None or written.known is None or not names.is_parent(written.known):
        read.add(setting)
        return
    try:
        node = read_json(_text(value))
    except Malformed as problem:
        if value.secret:
            why = f"{written.name} holds a secret, and what else it holds cannot be read"
            read.gaps.append(Gap(of=_PART_OF[written.kind], why=why, place=written.place))
        elif value.rendered and (written.kind == "flag" or value.text.lstrip().startswith("{")):
            fault = f"not JSON: {problem.message}"
            setting = setting.model_copy(update={"fault": fault, "value_place": value.at(problem.offset)})
        read.add(setting)
        return
    index = read.add(setting)
    for key, where, inner in flattened(node) if isinstance(node, Mapping) else ():
        name = names.flag(f"{written.known}.{key}")
        place = written.place if where is None else _at(value, where.start, len(where.text.value))
        word = _inner_word(value, inner)
        read.add(_setting(_Written(written.kind, f"{written.name}.{key}", name, word, place)), index)


def _take_inline(written: _Written, value: Word, names: Names, read: Read) -> None:
    """A word with keys behind it: `mtp:n_max=2,p_min=0.5`."""
    word, colon, _ = value.text.partition(":")
    index = read.add(_setting(replace(written, value=_cut(value, 0, len(word)))))
    for found in _INLINE.finditer(value.text, len(word) + 1) if colon else ():
        inner = _cut(value, found.start(2), found.end(2))
        name = names.flag(f"{written.known}.{found[1]}")
        place = value.at(found.start(1), len(found[1]))
        read.add(_setting(_Written(written.kind, f"{written.name}.{found[1]}", name, inner, place)), index)


def _text(word: Word) -> Text:
    """The value of a word as a text of its own, whose offsets are those in the word."""
    return Text(Source("", word.text), word.text, ((0, 0),), word.holes)


def _inner_word(outer: Word, inner: Text) -> Word:
    """A text out of the value of a word, with its place in the file."""
    length = inner.at(len(inner.value) - 1) + 1 - inner.start if inner.value else 0
    secret = outer.secret and MASK in inner.value
    return Word(text=inner.value, place=_at(outer, inner.start, max(length, 0)), rendered=inner.rendered, secret=secret)


def _at(word: Word, offset: int, length: int) -> Place:
    """A stretch of a word. Behind a mask nobody can count columns any more: that is the whole word's place."""
    masked = word.text.find(MASK) if word.secret else -1
    return word.place if 0 <= masked < offset + length else word.at(offset, length)


def _setting(written: _Written) -> Setting:
    value = written.value
    return Setting(
        kind=written.kind,
        written=written.name,
        name=written.known,
        value=None if value is None or not value.rendered else value.text,
        rendered=value is None or value.rendered,
        secret=value is not None and (value.secret or is_secret_name(written.name)),
        place=written.place,
        value_place=None if value is None else value.place,
        fault=written.fault,
    )


def _cut(word: Word, start: int, end: int | None = None) -> Word:
    """The rest of a word from an offset on, or a stretch of it."""
    end = len(word.text) if end is None else end
    runs = tuple(
        (max(begin, start) - start, line, column + max(start - begin, 0))
        for index, (begin, line, column) in enumerate(word.runs)
        if index + 1 == len(word.runs) or word.runs[index + 1][0] > start
    )
    holes = tuple(
        (max(begin, start) - start, stop - start) for begin, stop in word.holes if begin < end and stop > start
    )
    place = word.at(start, end - start)
    if end == len(word.text):
        place = place.model_copy(update={"end_line": word.place.end_line, "end_column": word.place.end_column})
    return word.model_copy(
        update={"text": word.text[start:end], "place": place, "runs": runs, "holes": holes, "rendered": not holes}
    )


def _doubted(setting: Setting, launch: Launch) -> Setting:
    """A setting inside a branch that nobody rendered: it may not be there, so its value is not known."""
    here = (setting.place.line, setting.place.column)
    doubtful = any((one.line, one.column) <= here < (one.end_line or 0, one.end_column or 0) for one in launch.doubtful)
    return setting.model_copy(update={"value": None, "rendered": False}) if doubtful else setting


def _mark(read: Read) -> None:
    """Mark what does not count: flags stand above variables and those above files; of two alike the later one counts.

    What stands inside a value that does not count does not count either.
    """
    best: dict[str, int] = {}
    for index, setting in enumerate(read.settings):
        before = None if setting.name is None else best.get(setting.name)
        if setting.name is not None and (
            before is None or _STANDS_ABOVE[setting.kind] >= _STANDS_ABOVE[read.settings[before].kind]
        ):
            best[setting.name] = index
    for index, setting in enumerate(read.settings):
        outer = read.inside.get(index)
        counts = setting.name is None or best[setting.name] == index
        if not counts or (outer is not None and not read.settings[outer].effective):
            read.settings[index] = setting.model_copy(update={"effective": False})
