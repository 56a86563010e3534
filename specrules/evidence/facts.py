"""Fields to facts: the rules of a reader, evaluated over a file and over each of its requests."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime

from specrules.errors import Problem
from specrules.evidence.compiled import CompiledReader, CompiledRule
from specrules.evidence.fields import Combined, Observed, Place, combine
from specrules.evidence.source import Source
from specrules.expressions import is_unknown
from specrules.model.fact import Fact, FactValue
from specrules.model.quantity import Provenance

_PLACEHOLDER = re.compile(r"\{([a-z][a-z0-9_]*)\}")


def state_facts(
    reader: CompiledReader, observed: Observed, source: Source, observed_at: datetime | None = None
) -> list[tuple[Fact, bool]]:
    """Return the facts of a file under the names of the rules, each with whether it is one of the case, not of an arm.

    Each fact knows where its fields stand, the expression that gave it, and that expression with the values filled in.
    A fact whose rule is `sampled` carries the value of each request in which it is known.
    """
    whole = combine(reader, observed.records)
    stated: dict[str, tuple[Fact, bool]] = {}
    for rule in reader.rules:
        name = rule.spec.fact
        if name in stated:
            continue
        value = settled(rule, whole.values)
        if value is None:
            continue
        fact = Fact(
            name=name,
            value=value,
            unit=rule.spec.unit,
            samples=_samples(reader, observed, name) if isinstance(value, float) else (),
            provenance=Provenance(kind="from-file", source=_origin(rule, whole, source.name), observed_at=observed_at),
            formula=rule.spec.value,
            substituted=rule.value.substitute(whole.values),
        )
        stated[name] = (fact, rule.spec.absolute)
    return list(stated.values())


def settled(rule: CompiledRule, values: Mapping[str, FactValue]) -> FactValue | None:
    """Return what a rule says, None where it does not apply or something that it reads is unknown."""
    if rule.when is not None and rule.when.evaluate(values) is not True:
        return None
    result = rule.value.evaluate(values)
    if is_unknown(result) or result in {(), ""}:
        return None
    return result  # type: ignore[return-value]


def contradictions(reader: CompiledReader, observed: Observed, source: Source) -> list[Problem]:
    """Return what cannot all be true in a file: its failed consistency checks, and what the reader itself noticed."""
    whole = combine(reader, observed.records)
    found = list(observed.contradictions)
    for check in reader.checks:
        if check.require.evaluate(whole.values) is False:
            message = _PLACEHOLDER.sub(lambda match: _shown(whole.values.get(match[1])), check.spec.message)
            # The last of the lines is where it shows.
            lines = [place for place in _places(check.require.names, whole) if isinstance(place, int)]
            found.append(Problem(message, source.at(max(lines, default=0))))
    return found


def _samples(reader: CompiledReader, observed: Observed, name: str) -> tuple[float, ...]:
    rules = [rule for rule in reader.rules if rule.spec.fact == name and rule.spec.sampled]
    found = []
    for record in observed.records if rules else ():
        if not record.is_request:
            continue
        value = next((value for rule in rules if (value := settled(rule, record.values)) is not None), None)
        if isinstance(value, float):
            found.append(value)
    return tuple(found)


def _origin(rule: CompiledRule, whole: Combined, name: str) -> str:
    """Return `file:line` of the first place that the fact was taken from, and how many more there are."""
    places = _places(rule.value.names, whole)
    if not places and rule.when is not None:
        places = _places(rule.when.names, whole)
    if not places:
        return name
    is_line = isinstance(places[0], int)
    first = f"{name}:{places[0]}" if is_line else f"{name} at {places[0] or 'its top'}"
    more = len(places) - 1
    what = ("line" if is_line else "value") + ("" if more == 1 else "s")
    return f"{first} (+{more} more {what})" if more else first


def _places(names: frozenset[str], whole: Combined) -> Sequence[Place]:
    found = dict.fromkeys(place for name in names for place in whole.places.get(name, ()))
    return sorted(found, key=lambda place: (0, place, "") if isinstance(place, int) else (1, 0, place))


def _shown(value: FactValue | None) -> str:
    if value is None:
        return "?"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.6g}"
    return value if isinstance(value, str) else "(" + ", ".join(f"{number:.4g}" for number in value) + ")"
