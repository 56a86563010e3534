"""Case files: loading, single values set on the command line, and acceptance without a kind."""

from __future__ import annotations

import copy
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from specrules.catalog.digest import FileDigest, file_digest
from specrules.catalog.document import Document, Loc, Source, Spot, dotted
from specrules.catalog.located import load_file, read_document
from specrules.catalog.scalars import plain_value
from specrules.catalog.schema_version import schema_problems
from specrules.catalog.validate import check
from specrules.errors import LoadError, Location, Problem, UsageError, did_you_mean
from specrules.model.case import Case
from specrules.model.engine import Engine
from specrules.model.version import version_key

SETTINGS = "--set"
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_ACCEPTANCE: tuple[Loc, ...] = (("measurements", "acceptance"), ("measurements", "candidate", "acceptance"))
_DEEPEST = 1024
_KINDS = "conditional, ratio, position_vector, tokens_per_round, counts or histogram"
_NO_FILE: dict[str, Any] = {
    "schema": 1,
    "target": {"name": "target"},
    "drafter": {"name": "drafter", "class": "model"},
}


@dataclass(frozen=True)
class LoadedCase:
    """A case with its document: where every value was stated, and which folder evidence paths start from.

    `found` are the positions of evidence files that the case does not name itself: they came with a folder of evidence.
    """

    case: Case
    document: Document
    folder: Path
    digest: FileDigest
    found: frozenset[int] = frozenset()

    @property
    def path(self) -> str:
        """The file, or `--set` where there is none."""
        return self.document.path

    def place(self, loc: Loc) -> str:
        """`file:line` of a value."""
        where = self.document.position(_by_alias(loc))
        return f"{where.path}:{where.line}"

    def location(self, loc: Loc) -> Location:
        """The place of a value, for problems found later."""
        return self.document.position(_by_alias(loc))


def load_case(path: str | os.PathLike[str] | None, settings: Sequence[str] = ()) -> LoadedCase:
    """Load a case file, with single values replaced by `PATH=VALUE` settings; without a file the settings are the case.

    Raises LoadError with every problem, UsageError for a setting that is no `PATH=VALUE`.
    """
    document = _skeleton() if path is None else load_file(path)
    document = _with_settings(document, settings)
    problems = schema_problems(document)
    if problems:
        raise LoadError(problems)
    document, unexplained = _without_bare_acceptance(document)
    case, problems = check(document, Case)
    problems = sorted([*problems, *unexplained], key=lambda problem: problem.where or Location(document.path))
    if case is None or problems:
        raise LoadError(problems)
    content = document.source.text + "\0".join(settings)
    folder = Path() if path is None else Path(path).parent
    return LoadedCase(case, document, folder, file_digest(Path(document.path).name, content.encode()))


def engine_misfits(loaded: LoadedCase, engine: Engine) -> list[Problem]:
    """Return what the case says of its engine and the engine's file contradicts.

    A version that does not follow the engine's numbering could not be compared, and a misspelt method would be judged
    as one that the engine lacks.
    """
    use = loaded.case.engine
    problems = []
    if use.version is not None:
        try:
            version_key(use.version, engine.version.scheme)
        except ValueError as error:
            problems.append(loaded.document.problem(f"engine.version: {error}", ("engine", "version")))
    known = {name: method.id for method in engine.methods for name in (method.id, *method.aliases)}
    for index, name in enumerate(use.methods):
        if name not in known:
            message = f"{engine.title} has no method {name!r}; known are {', '.join(dict.fromkeys(known.values()))}"
            problems.append(loaded.document.problem(message, ("engine", "methods", index), did_you_mean(name, known)))
    return problems


def _skeleton() -> Document:
    source = Source(SETTINGS, "")
    return Document(source, copy.deepcopy(_NO_FILE), Spot(source, 0, {}))


def _with_settings(document: Document, settings: Sequence[str]) -> Document:
    """Put the settings into a document that nobody else holds."""
    source = Source(SETTINGS, "\n".join(settings))
    problems: list[Problem] = []
    start = 0
    for setting in settings:
        route, separator, text = setting.partition("=")
        steps = tuple(route.strip().split("."))
        if not separator or not all(steps):
            raise UsageError(f"{SETTINGS} {setting}: expected PATH=VALUE, such as target.step_ms=67")
        if _UNPRINTABLE.search(setting):
            raise UsageError(f"{SETTINGS} {setting!r}: control characters are not allowed")
        value, spot, found = _read(source, start + len(route) + 1, text)
        problems += found
        _put(document, steps, value, spot)
        start += len(setting) + 1
    if problems:
        raise LoadError(problems)
    return document


def _put(document: Document, steps: tuple[str, ...], value: Any, spot: Spot) -> None:
    """Set a value and its place in a document. Mappings on the way are made where it has none."""
    here, at = document.data, document.root
    for step in steps[:-1]:
        if not isinstance(here.get(step), dict):
            here[step] = {"id": here[step]} if step == "engine" and isinstance(here.get(step), str) else {}
        here = here[step]
        children = at.children if isinstance(at.children, dict) else {}
        at.children = children
        at = children.setdefault(step, Spot(spot.source, spot.start, {}))
    here[steps[-1]] = value
    children = at.children if isinstance(at.children, dict) else {}
    at.children = children
    children[steps[-1]] = spot


def _read(source: Source, start: int, text: str) -> tuple[Any, Spot, list[Problem]]:
    """Return the value of a setting, its place in all settings, and what is wrong with it."""
    start += len(text) - len(text.lstrip())
    text = text.strip()
    if not text.startswith(("[", "{")):
        try:
            return plain_value(text), Spot(source, start), []
        except OverflowError as error:
            return None, Spot(source, start), [source.problem(f"number {error}", start)]
    # The value stands as far from the beginning as among the settings, so that offsets hold for both.
    key = "v: "
    document = read_document(f"{' ' * max(start - len(key), 0)}{key}{text}", SETTINGS)
    problems = [
        source.problem(item.message, item.where.column - 1 if item.where else start, item.hint)
        for item in document.problems
    ]
    if problems:
        return None, Spot(source, start), problems
    return document.data["v"], _moved(document.spot(("v",)), source), []


def _moved(spot: Spot, source: Source) -> Spot:
    """The same places, as places of `source`."""
    children = spot.children
    if isinstance(children, dict):
        children = {key: _moved(child, source) for key, child in children.items()}
    elif isinstance(children, list):
        children = [_moved(child, source) for child in children]
    moved = Spot(source, spot.start, children)
    moved.key = spot.key
    return moved


def _without_bare_acceptance(document: Document) -> tuple[Document, list[Problem]]:
    """Take acceptance without a kind out of the document and explain what it could mean instead."""
    data = copy.deepcopy(document.data)
    problems: list[Problem] = []
    for loc in _ACCEPTANCE:
        parent = _at(data, loc[:-1])
        value = parent.get(loc[-1]) if isinstance(parent, dict) else None
        if isinstance(parent, dict) and (_is_number(value) or (isinstance(value, dict) and _lacks_kind(value))):
            problems.append(document.problem(_both_readings(dotted(loc), value), loc, at_key=True))
            del parent[loc[-1]]
    return (replace(document, data=data), problems) if problems else (document, [])


def _lacks_kind(value: dict[str, Any]) -> bool:
    """Whether there is no kind. A misspelt key is another mistake, and is reported as one."""
    return "kind" not in value and not any(did_you_mean(key, ["kind"]) for key in value)


def _both_readings(name: str, value: Any) -> str:
    numbers = [value] if _is_number(value) else [value[key] for key in ("low", "value", "high") if key in value]
    depth = value.get("draft_length") if isinstance(value, dict) else None
    if not numbers or not all(_is_number(number) and 0 <= number <= 1 for number in numbers):
        return f"{name} has no 'kind': say whether it is {_KINDS}"
    ends = sorted({min(numbers), max(numbers)})
    is_depth = isinstance(depth, int) and not isinstance(depth, bool) and 1 <= depth <= _DEEPEST
    depths: list[Any] = [depth] if is_depth else [3, 7]
    readings = " ".join(_reading(ends, length) for length in depths)
    return f"{name} has no 'kind', and {_span(ends, 'g')} means different things. {readings} Say kind: {_KINDS}"


def _reading(ends: list[float], length: int) -> str:
    from specrules.economics.acceptance import conditional_from_ratio, tokens_from_ratio, tokens_per_round

    as_p = [float(tokens_per_round(end, length)) for end in ends]
    as_r = [float(tokens_from_ratio(end, length)) for end in ends]
    p_of_r = [float(conditional_from_ratio(end, length)) for end in ends]
    return (
        f"At K={length}: read as 'conditional' (p) it commits {_span(as_p, '.2f')} tokens per round; read as 'ratio' "
        f"(accepted / drafted) it commits {_span(as_r, '.2f')}, which is p {_span(p_of_r, '.3f')}."
    )


def _span(ends: Sequence[float], spec: str) -> str:
    return " to ".join(f"{end:{spec}}" for end in dict.fromkeys(ends))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _at(data: Any, loc: Loc) -> Any:
    for step in loc:
        data = data.get(step) if isinstance(data, dict) else None
    return data


def _by_alias(loc: Loc) -> Loc:
    """Routes of the model to routes of the file: `drafter_class` is written `class`."""
    return tuple(_aliases(loc))


def _aliases(loc: Loc) -> Iterator[str | int]:
    for step in loc:
        yield "class" if step == "drafter_class" else step
