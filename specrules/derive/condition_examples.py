"""The examples of an engine's conditions: settings of a deployment, and whether a condition holds for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from specrules.catalog.condition_checks import CONDITIONAL
from specrules.catalog.setting_symbols import setting_symbols
from specrules.derive.deployed_claims import compiled
from specrules.derive.deployed_settings import setting_values
from specrules.expressions import Type, Unknown
from specrules.model.claim import Conditional, DeployedInput
from specrules.model.deployment import Deployment, Launch, Place, Setting
from specrules.model.engine import Engine

UNKNOWN = "unknown"
_PLACE = Place(path="example")

Route = tuple[str | int, ...]


def failing_examples(engine: Engine, inputs: Mapping[str, Type]) -> Iterator[tuple[Route, str]]:
    """Yield the route to every example that does not give what it says, and what it gives instead."""
    symbols = {**inputs, **setting_symbols(engine)}
    for group in CONDITIONAL:
        for index, claim in enumerate(getattr(engine, group)):
            yield from _claim(engine, claim, symbols, (group, index))
    for index, said in enumerate(engine.deployed):
        yield from _said(engine, said, symbols, ("deployed", index))


def _claim(engine: Engine, claim: Conditional, symbols: Mapping[str, Type], here: Route) -> Iterator[tuple[Route, str]]:
    for position, example in enumerate(claim.examples):
        values = {**setting_values(engine, as_deployment(engine, example.settings)), **example.given}
        found = _evaluated(claim.condition or "", symbols, values)
        if found != example.holds:
            name = getattr(claim, "id", None) or getattr(claim, "feature", "")
            message = f"the condition of {name!r} gives {_word(found)} and not {_word(example.holds)}"
            yield (*here, "examples", position, "holds"), message


def _said(engine: Engine, said: DeployedInput, symbols: Mapping[str, Type], here: Route) -> Iterator[tuple[Route, str]]:
    for position, example in enumerate(said.examples):
        values = {**setting_values(engine, as_deployment(engine, example.settings)), **example.given}
        when = True if said.when is None else _evaluated(said.when, symbols, values)
        value: object = UNKNOWN
        if when is True:
            value = said.value if isinstance(said.value, bool) else _evaluated(said.value, symbols, values)
        elif when is False:
            value = "nothing"
        if value != example.gives:
            yield (
                (*here, "examples", position, "gives"),
                f"{said.fact} is {_word(value)} and not {_word(example.gives)}",
            )


def as_deployment(engine: Engine, settings: Mapping[str, str | bool | float]) -> Deployment:
    """Settings as a deployment that sets nothing else. `true` is a switch."""
    names = {name: flag for flag in engine.flags for name in (flag.name, flag.env, *flag.aliases) if name is not None}
    found = tuple(
        Setting(
            kind="flag" if word.startswith("-") else "config",
            written=word,
            name=names[word].name if word in names else None,
            value=None if value is True else _text(value),
            place=_PLACE,
        )
        for word, value in settings.items()
    )
    launch = Launch(name="example", format="example", place=_PLACE)
    return Deployment(launch=launch, engine=engine.id, recognised_by="example", settings=found)


def _text(value: str | bool | float) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value).lower() if isinstance(value, bool) else value


def _evaluated(source: str, symbols: Mapping[str, Type], values: Mapping[str, object]) -> object:
    result = compiled(source, tuple(symbols.items()), None).evaluate(values)
    return UNKNOWN if isinstance(result, Unknown) else result


def _word(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case tuple() | list():
            return f"[{', '.join(map(str, value))}]"
    return str(value)
