"""What must hold of the conditions of an engine file: names, types, and examples for both answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from specrules.catalog.document import Loc
from specrules.catalog.places import Locate, relocated
from specrules.catalog.setting_symbols import setting_symbols
from specrules.errors import ExpressionError, Problem, did_you_mean
from specrules.expressions import Type, compile_expression
from specrules.model.claim import Conditional, ConditionExample, DeployedExample, DeployedInput
from specrules.model.engine import Engine

CONDITIONAL = ("start_refusals", "features", "limits", "request_refusals")
"""The lists of an engine whose entries may hold by a condition over a deployment."""


@dataclass(frozen=True, slots=True)
class Names:
    """What conditions and their examples may name: inputs and settings with their types, and flags as written."""

    symbols: Mapping[str, Type]
    flags: frozenset[str]


def condition_problems(engine: Engine, locate: Locate, inputs: Mapping[str, Type]) -> Iterator[Problem]:
    """Yield what is wrong with conditions and with what settings are said to say. `inputs` are those of rules."""
    flags = (name for flag in engine.flags for name in (flag.name, flag.env, *flag.aliases))
    names = Names({**inputs, **setting_symbols(engine)}, frozenset(name for name in flags if name is not None))
    for group in CONDITIONAL:
        for index, claim in enumerate(getattr(engine, group)):
            yield from _condition(claim, names, (group, index), locate)
    for index, said in enumerate(engine.deployed):
        yield from _said(said, inputs, names, ("deployed", index), locate)


def _condition(claim: Conditional, names: Names, here: Loc, locate: Locate) -> Iterator[Problem]:
    if claim.condition is None:
        if claim.examples:
            yield Problem("examples without a condition", locate((*here, "examples"), 0))
        return
    yield from _refused(claim.condition, names, (*here, "condition"), locate, Type.BOOL)
    shown = {example.holds for example in claim.examples}
    for answer, word in ((True, "holds"), (False, "does not hold")):
        if answer not in shown:
            yield Problem(f"needs an example where the condition {word}", locate((*here, "condition"), 0))
    for position, example in enumerate(claim.examples):
        yield from _stated(example, names, (*here, "examples", position), locate)


def _said(
    said: DeployedInput, inputs: Mapping[str, Type], names: Names, here: Loc, locate: Locate
) -> Iterator[Problem]:
    kind = inputs.get(said.fact)
    if kind is None:
        yield Problem(f"unknown input {said.fact!r}", locate((*here, "fact"), 0), did_you_mean(said.fact, inputs))
    elif not isinstance(said.value, bool):
        yield from _refused(said.value, names, (*here, "value"), locate, kind)
    elif kind is not Type.BOOL:
        yield Problem(f"{said.fact} is {kind.label}, not true or false", locate((*here, "value"), 0))
    if said.when is not None:
        yield from _refused(said.when, names, (*here, "when"), locate, Type.BOOL)
    if not said.examples:
        yield Problem("needs an example: settings and what they give", locate((*here, "fact"), 0))
    for position, example in enumerate(said.examples):
        yield from _stated(example, names, (*here, "examples", position), locate)


def _stated(example: ConditionExample | DeployedExample, known: Names, here: Loc, locate: Locate) -> Iterator[Problem]:
    """An example names flags of the engine and declared inputs."""
    for word in example.settings:
        if word not in known.flags:
            hint = did_you_mean(word, known.flags)
            yield Problem(f"no flag of this engine: {word!r}", locate((*here, "settings", word), 0), hint)
    for word in example.given:
        if word not in known.symbols:
            yield Problem(f"no input {word!r}", locate((*here, "given", word), 0), did_you_mean(word, known.symbols))


def _refused(source: str, names: Names, loc: Loc, locate: Locate, expect: Type) -> Iterator[Problem]:
    try:
        compile_expression(source, names.symbols, expect=expect)
    except ExpressionError as error:
        yield from relocated(error.problems, source, loc, locate)
