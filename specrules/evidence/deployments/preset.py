"""Preset files of llama.cpp: one section per model, each key an option without its dashes or the name of a variable."""

from __future__ import annotations

import re

from specrules.catalog.document import Source
from specrules.evidence.deployments.nodes import Malformed
from specrules.evidence.deployments.text import Text, place, whole
from specrules.model.deployment import ConfigDocument, Launch, Place, Word

FORMAT = "preset"
EVERY = "*"
MAX_SECTIONS = 1000
MAX_ENTRIES = 1000
_SECTION = re.compile(r"\s*\[([^\]\n]+)\]\s*(?:[#;].*)?$")
_ENTRY = re.compile(r"\s*([A-Za-z][\w.-]*)\s*=\s*")


def preset_launches(source: Source) -> tuple[Launch, ...]:
    """One launch per section. What stands in `[*]` counts for every section that does not say it itself.

    Raises Malformed at a line that is neither a section nor an entry.
    """
    common: dict[str, tuple[Text, Text]] = {}
    sections: list[tuple[Text, dict[str, tuple[Text, Text]]]] = []
    entries: dict[str, tuple[Text, Text]] = {}
    for line in whole(source).lines():
        if not line.value.strip() or line.value.lstrip().startswith(("#", ";")):
            continue
        header = _SECTION.match(line.value)
        if header is not None:
            title = line.cut(header.start(1), header.end(1)).stripped()
            entries = common if title.value == EVERY else {}
            if title.value != EVERY:
                sections.append((title, entries))
            if len(sections) > MAX_SECTIONS:
                msg = f"more than {MAX_SECTIONS} sections: split the file"
                raise Malformed(msg, title.start)
            continue
        entry = _ENTRY.match(line.value)
        if entry is None:
            msg = "neither a [section] nor 'option = value'"
            raise Malformed(msg, line.start)
        if len(entries) == MAX_ENTRIES:
            msg = f"a section of more than {MAX_ENTRIES} entries"
            raise Malformed(msg, line.start)
        key = line.cut(entry.start(1), entry.end(1))
        entries[key.value] = (key, line.cut(entry.end(), len(line.value)).stripped())
    return tuple(_launch(source, title, {**common, **own}) for title, own in sections)


def looks_like_preset(text: str) -> bool:
    """Whether a text has a section and entries as presets have them."""
    return re.search(r"(?m)^\s*\[[^\]\n]+\]\s*$", text) is not None


def _launch(source: Source, title: Text, entries: dict[str, tuple[Text, Text]]) -> Launch:
    values: dict[str, Word] = {}
    places: dict[str, Place] = {}
    for name, (key, value) in entries.items():
        values[name], places[name] = value.word(), key.place()
    return Launch(
        name=f"preset {title.value}",
        format=FORMAT,
        place=place(source, title.start, title.at(len(title.value))),
        config=ConfigDocument(values=values, places=places),
    )
