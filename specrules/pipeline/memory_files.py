"""The files that a case names for target and drafter, read for the memory that they take."""

from __future__ import annotations

from dataclasses import replace

from specrules.catalog.case import LoadedCase
from specrules.catalog.catalogue import Catalog
from specrules.errors import UserError
from specrules.evidence.gguf.refusals import ENGINE
from specrules.model.fact import Fact
from specrules.pipeline.evidence import Gathered
from specrules.pipeline.sources import Sources, is_gguf


def with_memory(gathered: Gathered, loaded: LoadedCase, catalog: Catalog, sources: Sources | None = None) -> Gathered:
    """Add what the headers of `target.file` and `drafter.file` say of memory to the facts of a case.

    What the case states stays in use; where it lies outside what the headers give, a warning says so, and where the
    engine would not load a file here, for its byte order or because its data are cut short. A file that is no
    GGUF file, or of which no size can be told, adds nothing: a warning says why. Without `sources` only what is on disk
    is read.
    """
    case = loaded.case
    if case.target.file is None or not is_gguf(case.target.file):
        return gathered
    sources = sources or Sources(loaded.folder)
    from specrules.evidence.gguf import refusals
    from specrules.evidence.memory import memory_facts

    engine = catalog.engine(case.engine.id).model.id
    try:
        target = sources.model(case.target.file)
        drafter = sources.model(case.drafter.file) if case.drafter.file and is_gguf(case.drafter.file) else None
        facts = memory_facts(case, target, drafter, catalog.memory, engine_id=engine)
    except UserError as error:
        reasons = tuple(f"no size of memory: {problem.render()}" for problem in error.problems)
        return replace(gathered, warnings=gathered.warnings + reasons)
    outside = tuple(_outside(fact, gathered.facts[name]) for name, fact in facts.items() if name in gathered.facts)
    warnings = gathered.warnings + tuple(text for text in outside if text)
    if engine == ENGINE:
        files = (target,) if drafter is None else (target, drafter)
        warnings += tuple(problem.render() for file in files for problem in refusals(file))
    return replace(gathered, facts=gathered.facts.extended(facts), warnings=warnings)


def _outside(found: Fact, stated: Fact) -> str:
    value = stated.value
    low, high = found.low, found.high
    if not isinstance(value, float) or low is None or high is None or low <= value <= high:
        return ""
    return f"{found.name} is {value:g} GiB in the case, and {low:.2f} to {high:.2f} GiB by {found.provenance.source}"
