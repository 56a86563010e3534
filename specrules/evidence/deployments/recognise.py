"""Which engine a launch starts, and its settings as the engine's file knows them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from specrules.evidence.deployments.identify import Identified, identify
from specrules.evidence.deployments.names import Names
from specrules.evidence.deployments.settings import read_settings
from specrules.evidence.deployments.stated import stated_facts
from specrules.model.deployment import Deployment, Gap, Launch, Word
from specrules.model.engine import Engine
from specrules.model.version import VersionScheme, version_key

_VERSIONS: dict[VersionScheme, re.Pattern[str]] = {
    "build": re.compile(r"(?<![A-Za-z0-9])b\d{3,6}(?![0-9])"),
    "dotted": re.compile(r"(?<![\w.])v?(\d+\.\d+(?:\.\d+)*(?:[.-]?(?:rc|post|a|b|dev)\d+)?)"),
}
_PINNED = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^\]]*\])?(?:==|@)v?([0-9b][A-Za-z0-9.+!_-]*)")


def recognise(launch: Launch, engines: Iterable[Engine]) -> Deployment | None:
    """The deployment that a launch is, or None where no engine recognises its image, command, flags or keys."""
    by_id = {engine.id: engine for engine in engines}
    sections = {name: engine.launch for name, engine in by_id.items() if engine.launch is not None}
    identified = identify(launch, sections)
    return None if identified is None else understood(launch, identified, by_id[identified.engine])


def understood(launch: Launch, identified: Identified, engine: Engine) -> Deployment:
    """A launch read as the engine reads it."""
    names = Names(engine)
    read = read_settings(launch, identified.arguments, names)
    gaps = [*launch.gaps, *read.gaps]
    if identified.hidden and launch.command:
        first = launch.command[0]
        why = f"{first.text} runs, and what it starts is not part of this file"
        gaps.append(Gap(of="command", why=why, place=first.place))
    if engine.launch is not None and engine.launch.elsewhere is not None and launch.format != "config":
        gaps.append(Gap(of="config", why=engine.launch.elsewhere, place=launch.place))
    version = _version(launch, identified, engine)
    positional = [(name, word) for word in read.positional[:1] for name in identified.positional]
    return Deployment(
        launch=launch.model_copy(update={"gaps": tuple(gaps)}),
        engine=engine.id,
        recognised_by=identified.by,
        version=version.text if version is not None else None,
        version_place=version.place if version is not None else None,
        settings=tuple(read.settings),
        facts=stated_facts(read.settings, positional, names, engine.true_words),
    )


def _version(launch: Launch, identified: Identified, engine: Engine) -> Word | None:
    """What pins the version: a package of the file, one named to a wrapper such as uvx, or the tag of the image."""
    section = engine.launch
    packages = section.packages if section is not None else ()
    for name in packages:
        if name in launch.packages:
            return _valid(launch.packages[name], engine)
    for word in launch.command[: identified.arguments]:
        found = _PINNED.fullmatch(word.text)
        if found is not None and found[1].lower() in packages:
            return _valid(_stretch(word, found.start(2), found.end(2)), engine)
    image = launch.image
    if image is None or identified.image is None or not identified.image.versioned:
        return None
    name = image.text.partition("@")[0]
    _, colon, tag = name.rpartition(":")
    start = len(name) - len(tag)
    if not colon or "/" in tag or any(begin < len(name) and end > start for begin, end in image.holes):
        return None
    found = _VERSIONS[engine.version.scheme].search(tag)
    if found is None:
        return None
    first, last = found.span(found.lastindex or 0)
    return _valid(_stretch(image, start + first, start + last), engine)


def _stretch(word: Word, start: int, end: int) -> Word:
    return Word(text=word.text[start:end], place=word.at(start, end - start))


def _valid(word: Word, engine: Engine) -> Word | None:
    try:
        version_key(word.text, engine.version.scheme)
    except ValueError:
        return None
    return word if word.rendered else None
