"""Folders of evidence: what a measurement script left behind, with a list that says of which arm each file is."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pydantic import Field

from specrules.catalog.case import LoadedCase
from specrules.catalog.located import load_file
from specrules.catalog.schema_version import schema_problems
from specrules.catalog.validate import check
from specrules.errors import LoadError, Location, Problem
from specrules.model.base import Many, Model, SchemaVersion
from specrules.model.case import EvidenceFile

LISTING = "evidence.yaml"


class Listing(Model):
    """`evidence.yaml` in a folder: its files, by paths from there."""

    schema_version: SchemaVersion = Field(alias="schema")
    evidence: Many[EvidenceFile] | None = ()


def with_folders(loaded: LoadedCase, folders: Sequence[str | os.PathLike[str]]) -> LoadedCase:
    """Return a case with the files of evidence folders added to its own.

    They are `found`: one that cannot be read is a warning and not an error, since a measurement may have been cut
    short. Raises LoadError for a folder without a list, or with a wrong one.
    """
    files: list[EvidenceFile] = []
    problems: list[Problem] = []
    for folder in folders:
        path = Path(folder) / LISTING
        if not path.is_file():
            what = "no such folder" if not Path(folder).is_dir() else f"the folder holds no {LISTING}"
            hint = "it is written by the script that specrules plan prints"
            problems.append(Problem(what, Location(str(folder)), hint))
            continue
        document = load_file(path)
        found = list(document.problems or schema_problems(document))
        listing, more = (None, found) if found else check(document, Listing)
        problems += more
        here = Path(folder).resolve()
        for item in (listing.evidence or ()) if listing is not None else ():
            before = None if item.before is None else str(here / item.before)
            name = str(here / item.path) if item.path else ""
            files.append(item.model_copy(update={"path": name, "before": before}))
    if problems:
        raise LoadError(problems)
    stated = loaded.case.evidence
    case = loaded.case.model_copy(update={"evidence": (*stated, *files)})
    return replace(loaded, case=case, found=frozenset(range(len(stated), len(stated) + len(files))))
