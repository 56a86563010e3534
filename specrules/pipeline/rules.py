"""The rules and the verdict table of a catalogue, compiled. Needs none of the arithmetic, so none of its imports."""

from __future__ import annotations

import functools

from specrules.catalog.catalogue import Catalog, Loaded
from specrules.decide import RuleSet, Table, compile_rules, compile_table, prove
from specrules.errors import LoadError
from specrules.model.rule import RuleFile, VerdictTable


@functools.lru_cache(maxsize=1)
def compiled(catalog: Catalog) -> tuple[RuleSet, Table]:
    """The rules and the verdict table of a catalogue, kept for its next case.

    A table that is not the shipped one is proved first. Raises LoadError with every problem.
    """
    symbols = catalog.symbols
    loaded: Loaded[VerdictTable] = catalog.only(VerdictTable, "verdict table", "verdict")
    try:
        rules = compile_rules([(item.model, item.locate) for item in catalog.of_kind(RuleFile)], symbols)
        table = compile_table(loaded.model, symbols, loaded.locate)
        if not catalog.table_is_shipped and (problems := prove(table)):
            raise LoadError(problems)
    except LoadError as error:
        raise LoadError(catalog.quoted(error.problems)) from None
    return rules, table
