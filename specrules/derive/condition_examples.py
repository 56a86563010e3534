"""The examples of an engine's conditions: settings of a deployment, and whether a condition holds for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from specrules.catalog.condition_checks import CONDITIONAL
from specrules.catalog.setting_symbols import setting_symbols
from specrules.derive.deployed.claims import compiled
from specrules.derive.deployed.settings import setting_values
from specrules.expressions import Type, Unknown
from specrules.model.claim import Conditional, ConditionExample, DeployedExample, DeployedInput
from specrules.model.deployment import Deployment, Launch, Place, Setting
from specrules.model.engine import Engine

UNKNOWN = "unknown"
_PLACE = Place(path="example")

Route = tuple[str | int, ...]


def failing_examples(engine: Engine, inputs: Mapping[str, Type]) -> Iterator[tuple[Route, str]]:
    """Yield the route to every example that does not give what it says, and what it gives instead."""
    for group in CONDITIONAL:
        for index, claim in enumerate(getattr(engine, group)):
            for route, message in claim_failures(engine, claim, inputs):
                yield (group, index, *route), message
    for index, said in enumerate(engine.deployed):
        for route, message in said_failures(engine, said, inputs):
            yield ("deployed", index, *route), message


def claim_failures(engine: Engine, claim: Conditional, inputs: Mapping[str, Type]) -> Iterator[tuple[Route, str]]:
    """Yield the examples of one claim that do not give what they say. ExpressionError for a condition it refuses."""
    symbols = {**inputs, **setting_symbols(engine)}
    name = getattr(claim, "id", None) or getattr(claim, "feature", "")
    for position, example in enumerate(claim.examples):
        found = _evaluated(claim.condition or "", symbols, _values(engine, example))
        if found != example.holds:
            message = f"the condition of {name!r} gives {_word(found)} and not {_word(example.holds)}"
            yield ("examples", position, "holds"), message


def said_failures(engine: Engine, said: DeployedInput, inputs: Mapping[str, Type]) -> Iterator[tuple[Route, str]]:
    """Yield the examples of one derived input that do not give what they say. ExpressionError for what it refuses."""
    symbols = {**inputs, **setting_symbols(engine)}
    for position, example in enumerate(said.examples):
        values = _values(engine, example)
        when = True if said.when is None else _evaluated(said.when, symbols, values)
        value: object = UNKNOWN
        if when is True:
            value = said.value if isinstance(said.value, bool) else _evaluated(said.value, symbols, values)
        elif when is False:
            value = "nothing"
        if value != example.gives:
            message = f"{said.fact} is {_word(value)} and not {_word(example.gives)}"
            yield ("examples", position, "gives"), message


def _values(engine: Engine, example: ConditionExample | DeployedExample) -> dict[str, object]:
    return {**setting_values(engine, as_deployment(engine, example.settings)), **example.given}


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
