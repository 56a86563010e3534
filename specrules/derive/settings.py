"""How to switch the candidate on at a draft length, and off again."""

from __future__ import annotations

import re
from collections.abc import Mapping
from shlex import quote

from specrules.derive.situation import Situation
from specrules.model.verdict import Settings

_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")


def filled(text: str, words: Mapping[str, str]) -> str:
    """Replace `{name}` by its word. A name without a word keeps its braces: a reader sees what is to fill in."""
    return _PLACEHOLDER.sub(lambda match: words.get(match[1], match[0]), text)


def words(given: Situation, draft_length: int | None) -> dict[str, str]:
    """What the placeholders of an engine file stand for in this case, quoted for a shell: readers copy commands."""
    found = {"target": quote(given.case.target.name), "drafter": quote(given.case.drafter.name)}
    if given.sides.method is not None:
        found["method"] = quote(given.sides.method.id)
    if draft_length is not None:
        found |= {"draft_length": str(draft_length), "verify_rows": str(draft_length + 1)}
    if given.case.drafter.device is not None:
        found["drafter_device"] = quote(given.case.drafter.device)
    return found


def settings(given: Situation, draft_length: int | None) -> Settings | None:
    """The settings of the candidate's method, or None where the method is not known."""
    method = given.sides.method
    if method is None:
        return None
    fill = words(given, draft_length)
    on = [filled(line, fill) for line in method.switch_on]
    routing = given.knowledge.engine.devices.draft_routing
    wanted = given.case.drafter.device
    if routing.flag and method.draft_device == "routable" and wanted and wanted != given.case.target.device:
        on.append(f"{routing.flag} {quote(wanted)}")
    return Settings(
        draft_length=draft_length,
        switch_on=tuple(on),
        switch_off=tuple(filled(line, fill) for line in method.switch_off),
    )
