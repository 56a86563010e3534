"""The files that a case names for target and drafter, read for the memory that they take."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from specrules.catalog.case import LoadedCase
from specrules.catalog.catalogue import Catalog
from specrules.errors import UserError
from specrules.model.fact import Fact
from specrules.pipeline.evidence import Gathered

if TYPE_CHECKING:
    from specrules.evidence.gguf import Header

SUFFIX = ".gguf"


def with_memory(gathered: Gathered, loaded: LoadedCase, catalog: Catalog) -> Gathered:
    """Add what the headers of `target.file` and `drafter.file` say of memory to the facts of a case.

    What the case states stays in use; where it lies outside what the headers give, a warning says so. A file that is no
    GGUF file, or of which no size can be told, adds nothing: a warning says why.
    """
    case = loaded.case
    if case.target.file is None or not case.target.file.endswith(SUFFIX):
        return gathered
    from specrules.evidence.memory import memory_facts

    try:
        target = _header(loaded, case.target.file)
        named = case.drafter.file is not None and case.drafter.file.endswith(SUFFIX)
        drafter = _header(loaded, case.drafter.file or "") if named else None
        facts = memory_facts(case, target, drafter, catalog.memory, engine_id=catalog.engine(case.engine.id).model.id)
    except UserError as error:
        reasons = tuple(f"no size of memory: {problem.render()}" for problem in error.problems)
        return replace(gathered, warnings=gathered.warnings + reasons)
    outside = tuple(_outside(fact, gathered.facts[name]) for name, fact in facts.items() if name in gathered.facts)
    warnings = gathered.warnings + tuple(text for text in outside if text)
    return replace(gathered, facts=gathered.facts.extended(facts), warnings=warnings)


def _header(loaded: LoadedCase, file: str) -> Header:
    from specrules.evidence.gguf import read_model

    return read_model(Path(loaded.folder / file))


def _outside(found: Fact, stated: Fact) -> str:
    value = stated.value
    low, high = found.low, found.high
    if not isinstance(value, float) or low is None or high is None or low <= value <= high:
        return ""
    return f"{found.name} is {value:g} GiB in the case, and {low:.2f} to {high:.2f} GiB by {found.provenance.source}"
