"""A case to its verdict."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from specrules.catalog.case import LoadedCase, engine_misfits, load_case
from specrules.catalog.catalogue import Catalog
from specrules.catalog.digest import digest, short
from specrules.decide import evaluate, part_outcomes
from specrules.derive.situation import Knowledge, situation
from specrules.derive.statements import impossible
from specrules.derive.values import input_values
from specrules.errors import CatalogError, LoadError
from specrules.model.prior import GroupFile, PriorFile
from specrules.model.rule import FormulaFile, InputFile
from specrules.model.verdict import Verdict
from specrules.pipeline.evidence import Asking, Progress, gather
from specrules.pipeline.memory_files import with_memory
from specrules.pipeline.rules import asked, compiled
from specrules.pipeline.sources import Sources
from specrules.pipeline.tokenizer_files import with_files
from specrules.pipeline.verdict import Judged, build, footer_of
from specrules.version import __version__


def triage(
    case: str | os.PathLike[str] | LoadedCase | None,
    *,
    catalog: Catalog | None = None,
    now: datetime | None = None,
    settings: Sequence[str] = (),
    progress: Progress | None = None,
    sources: Sources | None = None,
) -> Verdict:
    """Say whether the candidate of a case is worth deploying against what runs today.

    `case` is a file, a loaded case, or None where `settings` (`PATH=VALUE`) say everything. `now` is what ages are
    counted to, in UTC where it has no zone. Without `sources` an address in the place of a model's file is refused.
    Raises a UserError with every problem of case, evidence and catalogue.
    """
    loaded = case if isinstance(case, LoadedCase) else load_case(case, settings)
    catalog = catalog or Catalog.load()
    moment = datetime.now(UTC) if now is None else now.replace(tzinfo=now.tzinfo or UTC)
    knowledge = _knowledge(loaded, catalog)
    rules, table = compiled(catalog)
    sources = replace(sources or Sources(), folder=loaded.folder)
    gathered = with_files(gather(loaded, catalog, progress, Asking(sources.web, moment)), loaded, progress, sources)
    gathered = with_memory(gathered, loaded, catalog, sources)
    given = situation(loaded.case, gathered.facts, knowledge)
    values, issues = input_values(given, gathered.state, moment)
    gates = evaluate(asked(rules, catalog.policy), values)
    speedup_class, decision = table.speedup_class(values)
    judged = Judged(given, values, gates, part_outcomes(gates), speedup_class, decision, issues)
    inputs = short(digest((loaded.digest, *gathered.digests)))
    footer = footer_of(__version__, moment, catalog.rules_digest, inputs, catalog.overridden)
    notices = (*gathered.warnings, *(item.describe() for item in gathered.state.disagreements))
    return build(judged, table, loaded.path, footer, notices)


def _knowledge(loaded: LoadedCase, catalog: Catalog) -> Knowledge:
    case = loaded.case
    try:
        engine = catalog.engine(case.engine.id).model
    except CatalogError as error:
        here = loaded.location(("engine", "id"))
        raise CatalogError(replace(problem, where=problem.where or here) for problem in error.problems) from None
    misfits = engine_misfits(loaded, engine)
    misfits += [loaded.document.problem(message, path) for path, message in impossible(case)]
    if misfits:
        raise LoadError(misfits)
    return Knowledge(
        engine=engine,
        drafter_class=catalog.drafter_class(case.drafter.drafter_class, loaded.location(("drafter", "drafter_class"))),
        formulas=catalog.only(FormulaFile, "formulas", "formulas").model,
        inputs=catalog.only(InputFile, "inputs", "inputs").model.inputs,
        thresholds=catalog.policy.thresholds,
        priors=catalog.only(PriorFile, "priors", "priors").model,
        groups=catalog.only(GroupFile, "groups", "groups").model,
        symbols=catalog.symbols,
    )
