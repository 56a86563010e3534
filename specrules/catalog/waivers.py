"""Waiver files: `.specrules/waivers.yaml` of the repository, or one that is named."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from specrules.catalog.document import Loc
from specrules.catalog.layers import PROJECT_FOLDER, WAIVERS, project_folder
from specrules.catalog.located import load_file
from specrules.catalog.schema_version import schema_problems
from specrules.catalog.validate import check
from specrules.errors import LoadError, Location, Problem, did_you_mean
from specrules.model.waiver import Waiver, WaiverFile


@dataclass(frozen=True)
class PlacedWaiver:
    """A waiver with the place where it stands."""

    waiver: Waiver
    where: Location


@dataclass(frozen=True)
class Waivers:
    """The waivers of a file. `root` is the folder that patterns for files start from; empty where there is no file."""

    placed: tuple[PlacedWaiver, ...] = ()
    path: str = ""
    root: str = ""


def load_waivers(
    path: str | os.PathLike[str] | None, rules: Collection[str], engines: Collection[str], cwd: Path | None = None
) -> Waivers:
    """Load a waiver file; without a path the one of the repository around `cwd`, if there is one.

    LoadError with every problem: what does not fit the model, and rules and engines that do not exist.
    """
    here = (cwd or Path.cwd()).resolve()
    if path is None:
        folder = project_folder(here)
        if folder is None or not (folder / WAIVERS).is_file():
            return Waivers()
        path, root = os.path.relpath(folder / WAIVERS, here), folder.parent
    else:
        root = (here / path).resolve().parent
        root = root.parent if root.name == PROJECT_FOLDER else root
    document = load_file(path)
    found: list[Problem] = schema_problems(document)
    file, problems = (None, found) if found else check(document, WaiverFile)
    if file is None:
        raise LoadError(problems)
    for index, waiver in enumerate(file.waivers):
        loc: Loc = ("waivers", index)
        if waiver.rule not in rules:
            hint = did_you_mean(waiver.rule, rules)
            problems.append(document.problem(f"there is no rule {waiver.rule!r}", (*loc, "rule"), hint))
        if waiver.engine is not None and "*" not in waiver.engine and waiver.engine not in engines:
            hint = did_you_mean(waiver.engine, engines)
            problems.append(document.problem(f"there is no engine {waiver.engine!r}", (*loc, "engine"), hint))
    if problems:
        raise LoadError(problems)
    places = (document.position(("waivers", index)) for index in range(len(file.waivers)))
    placed = tuple(PlacedWaiver(waiver, where) for waiver, where in zip(file.waivers, places, strict=True))
    return Waivers(placed, os.fspath(path), os.path.relpath(root, here))
