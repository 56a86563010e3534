"""Documents to models: every error of pydantic at its place in the file, in plain words."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from specrules.catalog.document import Document, Loc, dotted
from specrules.catalog.fields import Step, names_at, phrases_at
from specrules.catalog.scalars import expression_location, written_number
from specrules.catalog.wording import UNION, Error, describe, expected, unknown_key
from specrules.errors import LoadError, Location, Problem, did_you_mean

__all__ = ["check", "expression_location", "validate"]

_MOST_READINGS = 500

M = TypeVar("M", bound=BaseModel)


def validate(document: Document, model: type[M]) -> M:
    """Return the document as `model`. Raises LoadError with every problem, in order of place."""
    value, problems = check(document, model)
    if value is None:
        raise LoadError(problems)
    return value


def check(document: Document, model: type[M]) -> tuple[M | None, list[Problem]]:
    """Return the document as `model` and no problems, or None and all of them in order of place.

    Validated as JSON, so that lists give tuples and text gives dates also in strict models. How strict the fields are
    is the model's own choice.
    """
    try:
        return model.model_validate_json(json.dumps(document.data)), []
    except ValidationError as error:
        found = [_align(document.data, item) for item in error.errors(include_url=False)]
    problems = {_problem(document, model, item) for item in _meant(found)}
    return None, sorted(problems, key=lambda problem: (problem.where or Location(document.path), problem.message))


@dataclass(frozen=True)
class _Found:
    """An error of pydantic, its location read as a route through the document and names of union branches.

    `settled` counts the steps whose branch has been decided on.
    """

    error: Error
    steps: tuple[Step, ...]
    settled: int = 0

    @property
    def loc(self) -> Loc:
        return tuple(step for step, is_branch in self.steps if not is_branch)

    @property
    def next_branch(self) -> int | None:
        """The index of the first branch that has not been decided on."""
        return next((index for index in range(self.settled, len(self.steps)) if self.steps[index][1]), None)

    def loc_of(self, index: int) -> Loc:
        """The route to where the step `index` stands."""
        return tuple(step for step, is_branch in self.steps[:index] if not is_branch)


def _align(data: Any, error: Error) -> _Found:
    """Tell keys from branch names in the location of an error.

    Both are strings, and a key may be called like a branch (`kind: ratio` beside `ratio: 0.4`). The reading whose
    value is the one that pydantic complains about is the right one; of several, the one with fewest branch names.
    """
    loc: Loc = error["loc"]
    if error["type"] == "missing" or loc[-1:] == ("[key]",):
        loc = loc[:-1]
    readings = itertools.islice(_readings(data, loc), _MOST_READINGS)

    def rank(reading: tuple[tuple[Step, ...], Any]) -> tuple[bool, int]:
        steps, value = reading
        fits = value == error["input"] or error["loc"][-1:] == ("[key]",)
        return not fits, sum(is_branch for _, is_branch in steps)

    return _Found(error, min(readings, key=rank)[0])


def _readings(value: Any, loc: Loc) -> Iterator[tuple[tuple[Step, ...], Any]]:
    if not loc:
        yield (), value
        return
    step, rest = loc[0], loc[1:]
    if isinstance(value, dict) and step in value:
        for steps, end in _readings(value[str(step)], rest):
            yield ((step, False), *steps), end
    elif isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value):
        for steps, end in _readings(value[step], rest):
            yield ((step, False), *steps), end
        return
    for steps, end in _readings(value, rest):
        yield ((step, True), *steps), end


def _meant(found: Iterable[_Found]) -> Iterator[_Found]:
    """Drop the errors of union branches that were not meant: pydantic reports those of every branch."""
    unions: dict[tuple[Loc, int], dict[str | int, list[_Found]]] = {}
    for item in found:
        branch = item.next_branch
        if branch is None:
            yield item
            continue
        settled = _Found(item.error, item.steps, branch + 1)
        unions.setdefault((item.loc_of(branch), branch), {}).setdefault(item.steps[branch][0], []).append(settled)
    for (loc, _), branches in unions.items():
        yield from _meant(_best_branch(loc, branches))


def _best_branch(loc: Loc, branches: dict[str | int, list[_Found]]) -> list[_Found]:
    if len(branches) == 1:
        return next(iter(branches.values()))
    misfits = {
        name: [item for item in items if item.loc == loc and expected(item.error)] for name, items in branches.items()
    }
    fitting = [items for name, items in branches.items() if not misfits[name]]
    if fitting:
        return min(fitting, key=len)
    first = next(iter(branches.values()))[0]
    phrases = dict.fromkeys(expected(item.error) or "" for items in misfits.values() for item in items)
    error = {"type": UNION, "loc": loc, "input": first.error["input"], "ctx": {"phrases": list(phrases)}}
    return [_Found(error, tuple(step for step in first.steps if not step[1]), len(loc))]


def _problem(document: Document, model: type[BaseModel], found: _Found) -> Problem:
    error, loc = found.error, found.loc
    kind = error["type"]
    if kind == "extra_forbidden":
        message, hint = unknown_key(dotted(loc), str(loc[-1]), names_at(model, found.steps[:-1]))
        return document.problem(message, loc, hint, at_key=True)
    if kind == "missing":
        return _missing(document, (*loc, error["loc"][-1]), loc)
    if kind in ("union_tag_not_found", "union_tag_invalid"):
        return _discriminator(document, found)
    if error["loc"][-1:] == ("[key]",):
        message, hint = describe(error, dotted(loc))
        return document.problem(f"key {message}", loc, hint, at_key=True)
    if expected(error) and isinstance(kind, str) and kind != UNION:
        phrases = phrases_at(model, found.steps)
        if len(phrases) > 1 and expected(error) in phrases:
            error = {**error, "type": UNION, "ctx": {"phrases": phrases}}
    message, hint = describe(error, dotted(loc), written_number(document, loc))
    return document.problem(message, loc, hint)


def _missing(document: Document, loc: Loc, parent: Loc) -> Problem:
    noun = "entry" if isinstance(loc[-1], int) else "key"
    return document.problem(f"missing {noun} '{dotted(loc)}'", parent)


def _discriminator(document: Document, found: _Found) -> Problem:
    """Report the key that says which of several models a mapping is."""
    ctx = found.error.get("ctx", {})
    key = str(ctx.get("discriminator", "")).strip("'")
    loc = (*found.loc, key)
    if not key.isidentifier():
        message, hint = describe(found.error, dotted(found.loc))
        return document.problem(message, found.loc, hint)
    if found.error["type"] == "union_tag_not_found":
        return _missing(document, loc, found.loc)
    tags = [tag.strip("' ") for tag in str(ctx["expected_tags"]).split(",")]
    wanted = ", ".join(repr(tag) for tag in tags)
    message = f"'{dotted(loc)}' must be one of {wanted}, not {ctx['tag']!r}"
    return document.problem(message, loc, did_you_mean(str(ctx["tag"]), tags))
