"""What settings state about a case: the facts that the engine's file ties to them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from specrules.catalog.case_facts import fact_kind
from specrules.evidence.deployments.names import Names
from specrules.model.deployment import DeployedFact, Setting, Word
from specrules.model.flag import Flag

Value = bool | float | str | tuple[str, ...] | None
_NUMBER = re.compile(r"([+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)([kKmM]?)")
_FACTORS = {"": 1, "k": 10**3, "m": 10**6, "K": 2**10, "M": 2**20}
_LONGEST_NUMBER = 40


def stated_facts(
    settings: Sequence[Setting], positional: Iterable[tuple[str, Word]], names: Names, true_words: Iterable[str]
) -> tuple[DeployedFact, ...]:
    """One fact per name: of several flags that state it, the one that the engine's file names first."""
    found: dict[str, DeployedFact] = {}
    words = frozenset(word.casefold() for word in true_words)
    for flag in names.ordered():
        given = [item for item in settings if item.name == flag.name and (item.effective or flag.adds_up)]
        for name in flag.states if given else ():
            if name not in found and (fact := _fact(name, flag, given, words)) is not None:
                found[name] = fact
    for name, word in positional:
        value = word.text if word.rendered else None
        found.setdefault(name, DeployedFact(name=name, value=value, written=word.text, place=word.place))
    return tuple(found.values())


def _fact(name: str, flag: Flag, given: Sequence[Setting], true_words: frozenset[str]) -> DeployedFact | None:
    """The fact that a flag states; None where its value states nothing."""
    last = given[-1]
    place = last.value_place or last.place
    unknown = DeployedFact(name=name, value=None, written=last.written, place=place)
    if any(not item.rendered for item in given) or last.secret:
        return unknown
    if fact_kind(name) == "list":
        entries = tuple(entry for item in given for entry in _entries(flag, item))
        return unknown.model_copy(update={"value": entries})
    value = _value(name, flag, last, true_words)
    if value is None and last.value is not None and last.value in flag.none_words:
        return None
    return unknown.model_copy(update={"value": value})


def _entries(flag: Flag, setting: Setting) -> Iterator[str]:
    text = (setting.value or "").strip("[] ")
    for entry in text.split(",") if flag.list_valued else [text]:
        word = entry.strip().strip("\"'")
        if word and word not in flag.none_words:
            yield word


def _value(name: str, flag: Flag, setting: Setting, true_words: frozenset[str]) -> Value:
    text = setting.value
    kind = fact_kind(name)
    if kind == "flag" or (kind is None and (not flag.takes_value or flag.type == "flag")):
        negated = setting.written.startswith("--no-") and not flag.name.startswith("--no-")
        on = text is None or text.casefold() in true_words
        return on is not negated
    if text is None or text in flag.none_words:
        return None
    if kind == "number" or (kind is None and flag.type == "number"):
        return _number(text)
    return text


def _number(text: str) -> float | None:
    match = _NUMBER.fullmatch(text.strip()) if len(text) <= _LONGEST_NUMBER else None
    return None if match is None else float(match[1]) * _FACTORS[match[2]]
