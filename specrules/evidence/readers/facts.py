"""Fields to facts: the rules of a reader, evaluated over a file and over each of its requests."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime

from specrules.errors import Location, Problem
from specrules.evidence.readers.compiled import CompiledRule
from specrules.evidence.readers.fields import Place
from specrules.evidence.readers.observed import Combined, Observed
from specrules.model.fact import Fact, FactValue
from specrules.model.quantity import Provenance

_PLACEHOLDER = re.compile(r"\{([a-z][a-z0-9_]*)\}")


def state_facts(
    observed: Observed, name: str, observed_at: datetime | None = None, before: str | None = None
) -> list[tuple[Fact, bool]]:
    """Return the facts of the file `name`, each with whether it is one of the case, not of an arm.

    Each fact knows where its fields stand, the expression that gave it, and that expression with the values filled in.
    A fact whose rule is `sampled` carries the value of each request in which it is known, or of some of very many; one
    whose file lists samples carries those.
    `before` is the earlier file that was subtracted. Where nothing happened only facts of the case are stated.
    """
    whole = observed.combined()
    stated: dict[str, tuple[Fact, bool]] = {}
    for rule in observed.reader.rules:
        fact = rule.spec.fact
        if fact in stated or (observed.is_idle and not rule.spec.absolute):
            continue
        value = rule.result(whole.values)
        if value is None:
            continue
        source = _origin(rule, whole, name) + (f" less {before}" if before else "")
        ends = rule.interval(whole.values, value)
        listed = rule.listed(whole.values)
        known = Fact(
            name=fact,
            value=value,
            unit=rule.spec.unit,
            low=None if ends is None else ends[0],
            high=None if ends is None else ends[1],
            samples=(listed or observed.samples.of(fact)) if isinstance(value, float) else (),
            provenance=Provenance(kind="from-file", source=source, observed_at=observed_at),
            formula=rule.spec.value,
            substituted=rule.value.substitute(whole.values),
        )
        stated[fact] = (known, rule.spec.absolute)
    return list(stated.values())


def contradictions(observed: Observed, name: str) -> list[Problem]:
    """Return what cannot all be true in a file: its failed consistency checks, and what the reader itself noticed.

    A check of fields that are known only roughly decides nothing.
    """
    return [*observed.contradictions, *_failed(observed, name, is_notice=False)]


def notices(observed: Observed, name: str) -> list[Problem]:
    """Return what a file leaves open, such as a number that two releases mean differently."""
    return list(_failed(observed, name, is_notice=True))


def _failed(observed: Observed, name: str, *, is_notice: bool) -> Iterator[Problem]:
    whole = observed.combined()
    for check in observed.reader.checks:
        if check.spec.is_notice is not is_notice or check.require.names & observed.inexact:
            continue
        if check.require.evaluate(whole.values) is False:
            message = _PLACEHOLDER.sub(lambda match: _shown(whole.values.get(match[1])), check.spec.message)
            # The last of the lines is where it shows.
            lines = [whole.places[field].last_line for field in check.require.names if field in whole.places]
            yield Problem(message, Location(name, max(lines, default=0)))


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
    if not more:
        return first
    is_cut = any(whole.places[field].more for field in rule.value.names if field in whole.places)
    what = ("or more " if is_cut else "more ") + ("line" if is_line else "value") + ("" if more == 1 else "s")
    return f"{first} (+{more} {what})"


def _places(names: frozenset[str], whole: Combined) -> Sequence[Place]:
    found = dict.fromkeys(place for name in names if name in whole.places for place in whole.places[name].first())
    return sorted(found, key=lambda place: (0, place, "") if isinstance(place, int) else (1, 0, place))


def _shown(value: FactValue | None) -> str:
    if value is None:
        return "?"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.6g}"
    return value if isinstance(value, str) else "(" + ", ".join(f"{number:.4g}" for number in value) + ")"
