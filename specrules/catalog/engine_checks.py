"""What must hold inside the file of an engine or a bench tool beyond its model: references, versions, expressions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from pydantic import BaseModel

from specrules.catalog.case_facts import fact_kind
from specrules.catalog.condition_checks import condition_problems
from specrules.catalog.document import Loc
from specrules.catalog.places import Locate, relocated
from specrules.errors import ExpressionError, Location, Problem, did_you_mean
from specrules.expressions import FUNCTIONS, Function, Type, compile_expression
from specrules.expressions.reader_functions import READER_FUNCTIONS
from specrules.model.engine import Engine
from specrules.model.program import Program
from specrules.model.reader import Reader
from specrules.model.version import version_key

METHOD_LISTS = ("combinations", "tokenizer_gates", "recipes", "start_refusals", "features", "limits")
"""The lists of an engine whose entries name methods, as patterns."""


@dataclass(frozen=True, slots=True)
class Names:
    """What an engine file may refer to outside itself: inputs and thresholds with their types, and drafter classes."""

    symbols: Mapping[str, Type]
    drafter_classes: Sequence[str]
    deployment: Mapping[str, Type] = field(default_factory=dict)
    """The names that conditions over a deployment may read, its settings aside."""


Check = Callable[[Program, Locate], Iterator[Problem]]
EngineCheck = Callable[[Engine, Locate, Names], Iterator[Problem]]


def engine_problems(engine: Engine, locate: Locate, names: Names) -> list[Problem]:
    """Every problem of an engine file that its model cannot see, in order of place."""
    found = [problem for check in ENGINE_CHECKS for problem in check(engine, locate, names)]
    return _ordered([*found, *program_problems(engine, locate)])


def program_problems(program: Program, locate: Locate) -> list[Problem]:
    """The problems of what engines and bench tools have in common, in order of place."""
    return _ordered(problem for check in CHECKS for problem in check(program, locate))


def _ordered(problems: Iterable[Problem]) -> list[Problem]:
    return sorted(problems, key=lambda problem: (problem.where or Location(""), problem.message))


def _sources(program: Program, locate: Locate) -> Iterator[Problem]:
    """`known` names a source."""
    sources = {source.id for source in program.sources}
    for loc, name in _values_of(program, "known"):
        if name not in sources:
            yield Problem(f"no source {name!r} in this file", locate(loc, 0), did_you_mean(str(name), sources))


def _references(engine: Engine, locate: Locate, names: Names) -> Iterator[Problem]:
    """A method names its drafter class; combinations and gates name methods."""
    for index, method in enumerate(engine.methods):
        if method.drafter_class not in names.drafter_classes:
            message = f"no drafter class {method.drafter_class!r}; known are {', '.join(names.drafter_classes)}"
            hint = did_you_mean(method.drafter_class, names.drafter_classes)
            yield Problem(message, locate(("methods", index, "drafter_class"), 0), hint)
    methods = [method.id for method in engine.methods]
    patterns = [
        ((group, index, "methods", position), pattern)
        for group in METHOD_LISTS
        for index, item in enumerate(getattr(engine, group))
        for position, pattern in enumerate(item.methods)
    ]
    for place, pattern in patterns:
        if not any(fnmatchcase(method, pattern) for method in methods):
            yield Problem(f"no method matches {pattern!r}", locate(place, 0), did_you_mean(pattern, methods))


def _versions(engine: Program, locate: Locate) -> Iterator[Problem]:
    """Versions follow the scheme, and a range that ends before it begins can never apply."""
    scheme = engine.version.scheme
    keys: dict[Loc, tuple[int, ...]] = {}
    for key in ("since", "until"):
        for loc, value in _values_of(engine, key):
            if not isinstance(value, str):
                continue
            try:
                keys[loc] = version_key(value, scheme)
            except ValueError as error:
                yield Problem(str(error), locate(loc, 0))
    for loc, since in keys.items():
        until = keys.get((*loc[:-1], "until"))
        if loc[-1] == "since" and until is not None and until < since:
            yield Problem("'until' lies before 'since': this can never apply", locate(loc, 0))


def _conditions(engine: Engine, locate: Locate, names: Names) -> Iterator[Problem]:
    """Tokenizer checks and the conditions of known issues read declared inputs."""
    for index, gate in enumerate(engine.tokenizer_gates):
        for position, check in enumerate(gate.checks):
            yield from _refused(
                check.accepts, names.symbols, ("tokenizer_gates", index, "checks", position, "accepts"), locate
            )
    for index, issue in enumerate(engine.known_issues):
        if issue.condition is not None:
            yield from _refused(issue.condition, names.symbols, ("known_issues", index, "condition"), locate)


def _settings(engine: Engine, locate: Locate, names: Names) -> Iterator[Problem]:
    """Conditions over the settings of a deployment, where the names that they may read are known."""
    if names.deployment:
        yield from condition_problems(engine, locate, names.deployment)


def _stated(engine: Engine, locate: Locate, names: Names) -> Iterator[Problem]:
    """What settings and arguments state are facts of a case or inputs of rules; documents belong to flags."""
    places: list[tuple[Loc, str]] = [
        (("flags", index, "states", position), fact)
        for index, flag in enumerate(engine.flags)
        for position, fact in enumerate(flag.states)
    ]
    launch = engine.launch
    for group in ("images", "programs") if launch is not None else ():
        places += [
            (("launch", group, index, "positional", position), fact)
            for index, item in enumerate(getattr(launch, group))
            for position, fact in enumerate(item.positional)
        ]
    for place, fact in places:
        if fact not in names.symbols and fact_kind(fact) is None:
            yield Problem(f"no fact or input {fact!r}", locate(place, 0), did_you_mean(fact, names.symbols))
    flags = [flag.name for flag in engine.flags]
    for index, inner in enumerate(() if launch is None else launch.config.inner):
        if inner.flag not in flags:
            place = ("launch", "config", "inner", index, "flag")
            yield Problem(f"no flag {inner.flag!r} in this file", locate(place, 0), did_you_mean(inner.flag, flags))


def _reader_expressions(engine: Program, locate: Locate) -> Iterator[Problem]:
    """Fields, facts and checks of a reader read its own fields; patterns fill declared ones."""
    for index, reader in enumerate(engine.readers):
        fields = {name: Type(item.type) for name, item in reader.fields.items()}
        place: Loc = ("readers", index)
        if reader.only is not None:
            yield from _refused(reader.only, fields, (*place, "only"), locate, functions=READER_FUNCTIONS)
        for name, item in reader.fields.items():
            wanted = {"value": None, "when": Type.BOOL, "weight": Type.NUMBER}
            for key, expect in wanted.items():
                source = getattr(item, key)
                if source is not None:
                    here = (*place, "fields", name, key)
                    yield from _refused(source, fields, here, locate, expect=expect, functions=READER_FUNCTIONS)
        for position, fact in enumerate(reader.facts):
            here = (*place, "facts", position)
            for key, expect in _FACT_EXPRESSIONS.items():
                source = getattr(fact, key)
                if source is not None:
                    yield from _refused(source, fields, (*here, key), locate, expect=expect, functions=READER_FUNCTIONS)
        for position, check in enumerate(reader.checks):
            here = (*place, "checks", position, "require")
            yield from _refused(check.require, fields, here, locate, functions=READER_FUNCTIONS)
        yield from _undeclared(reader, place, locate)


def _undeclared(reader: Reader, place: Loc, locate: Locate) -> Iterator[Problem]:
    for position, pattern in enumerate(reader.patterns):
        for name in pattern.sets:
            if name not in reader.fields:
                loc = (*place, "patterns", position, "sets", name)
                yield Problem(f"no field {name!r} in this reader", locate(loc, 0), did_you_mean(name, reader.fields))


def _refused(
    source: str,
    symbols: Mapping[str, Type],
    loc: Loc,
    locate: Locate,
    *,
    expect: Type | None = Type.BOOL,
    functions: Mapping[str, Function] = FUNCTIONS,
) -> Iterator[Problem]:
    try:
        compile_expression(source, symbols, expect=expect, functions=functions)
    except ExpressionError as error:
        yield from relocated(error.problems, source, loc, locate)


def _values_of(value: Any, key: str, loc: Loc = ()) -> Iterator[tuple[Loc, Any]]:
    """Every value under `key`, anywhere in the model, with its route."""
    if isinstance(value, BaseModel):
        for name in type(value).model_fields:
            inner = getattr(value, name)
            if name == key and inner is not None:
                yield (*loc, name), inner
            yield from _values_of(inner, key, (*loc, name))
    elif isinstance(value, tuple):
        for index, item in enumerate(value):
            yield from _values_of(item, key, (*loc, index))


_FACT_EXPRESSIONS = {
    "value": None,
    "when": Type.BOOL,
    "low": Type.NUMBER,
    "high": Type.NUMBER,
    "samples": Type.NUMBERS,
}
CHECKS: tuple[Check, ...] = (_sources, _versions, _reader_expressions)
ENGINE_CHECKS: tuple[EngineCheck, ...] = (_references, _conditions, _settings, _stated)
