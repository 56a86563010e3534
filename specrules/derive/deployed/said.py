"""What an engine's file derives from the settings of a deployment, and where that stands."""

from __future__ import annotations

from collections.abc import Mapping

from specrules.derive.deployed.claims import Settled, compiled
from specrules.derive.methods import applies_to_version
from specrules.expressions import Type, Unknown
from specrules.model.claim import DeployedInput
from specrules.model.deployment import Place

Values = dict[str, object]


def said(settled: Settled) -> Values:
    """What the engine's file derives from settings. Methods add to the stated ones, everything else replaces."""
    found: Values = {}
    for claim in settled.engine.deployed:
        if claim.fact in found and claim.fact != "engine.methods":
            continue
        if applies_to_version(settled.engine, claim, settled.version) is False:
            continue
        when = True if claim.when is None else _evaluated(settled, claim.when, Type.BOOL, found)
        if when is False:
            continue
        value = None
        if when is True:
            value = claim.value if isinstance(claim.value, bool) else _evaluated(settled, claim.value, None, found)
        if claim.fact == "engine.methods":
            value = _together(found.get(claim.fact, settled.values.get(claim.fact)), value)
        found[claim.fact] = value
    return found


def said_places(settled: Settled, found: Mapping[str, object]) -> dict[str, Place]:
    """Where the settings stand that the values were derived from; a value that stands on defaults has no place."""
    places: dict[str, Place] = {}
    for claim in settled.engine.deployed:
        if claim.fact in found and claim.fact not in settled.places and claim.fact not in places:
            place = next((settled.places[name] for name in _read(settled, claim) if name in settled.places), None)
            if place is not None:
                places[claim.fact] = place
    return places


def _read(settled: Settled, claim: DeployedInput) -> list[str]:
    """The names that a claim reads, in the order in which it reads them."""
    sources = [source for source in (claim.value, claim.when) if isinstance(source, str)]
    expressions = [compiled(source, tuple(settled.symbols.items()), None) for source in sources]
    return [name for one in expressions for name in sorted(one.names, key=one.source.find)]


def _evaluated(settled: Settled, source: str, kind: Type | None, found: Values) -> object:
    result = compiled(source, tuple(settled.symbols.items()), kind).evaluate({**settled.values, **found})
    return None if isinstance(result, Unknown) else result


def _together(stated: object, more: object) -> object:
    if not isinstance(stated, tuple) or not isinstance(more, tuple):
        return None
    return tuple(dict.fromkeys((*stated, *more)))
