"""Cases in a few words, and the situations that follow from them with the shipped catalogue."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

from specrules.catalog.catalogue import Catalog
from specrules.derive.arithmetic import Arithmetic, compile_arithmetic
from specrules.derive.situation import Knowledge, Situation, situation
from specrules.derive.stated import stated_facts
from specrules.model.case import Case
from specrules.model.drafter import DrafterClass
from specrules.model.engine import Engine
from specrules.model.fact import Fact, Facts
from specrules.model.prior import GroupFile, Prior, PriorFile
from specrules.model.rule import FormulaFile, InputFile

_TABLES = Path(__file__).parents[2] / "data" / "tables"

PLAIN: dict[str, Any] = {
    "schema": 1,
    "target": {"name": "Target"},
    "drafter": {"name": "Drafter", "class": "model"},
    "engine": {"id": "llama.cpp", "version": "b11434"},
}
"""A case that says nothing but what it has to."""


@cache
def catalog() -> Catalog:
    return Catalog.load(environ={})


def case(**parts: Any) -> Case:
    """The plain case with more: groups are joined key by key, None takes a key away."""
    return Case.model_validate(_joined(PLAIN, parts))


def _joined(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    joined = dict(old)
    for key, value in new.items():
        before = joined.get(key)
        joined[key] = _joined(before, value) if isinstance(before, dict) and isinstance(value, dict) else value
    return {key: value for key, value in joined.items() if value is not None}


def engine(name: str = "llama.cpp", **changes: Any) -> Engine:
    """A shipped engine, with some of its fields replaced."""
    shipped = catalog().engine(name).model
    return Engine.model_validate({**shipped.model_dump(by_alias=True), **changes}) if changes else shipped


def facts(one: Case, **more: Any) -> Facts:
    """The facts of a case, and others by name (`__` stands for a dot)."""
    extra = {name.replace("__", "."): value for name, value in more.items()}
    read = {name: Fact(name=name, value=value) for name, value in extra.items()}
    return Facts({**stated_facts(one, lambda path: ".".join(map(str, path))), **read})


def drafter_class(name: str) -> DrafterClass:
    return catalog().drafter_class(name)


def thresholds(**changes: float) -> dict[str, float]:
    return {**catalog().policy.thresholds, **changes}


def formulas() -> FormulaFile:
    return catalog().only(FormulaFile, "formulas", "formulas").model


@cache
def arithmetic(name: str = "model") -> Arithmetic:
    return compile_arithmetic(formulas(), drafter_class(name), thresholds())


def given(
    one: Case,
    more: Mapping[str, Any] | None = None,
    *,
    on: Engine | None = None,
    search: int = 1,
    priors: tuple[Prior, ...] = (),
    **limits: float,
) -> Situation:
    """The situation of a case. Only K = 1 (to `search`), 3, 7 and the case's own are looked at, which is quick.

    Nothing is believed beforehand but the `priors` that are given.
    """
    knowledge = Knowledge(
        engine=on or catalog().engine(one.engine.id).model,
        drafter_class=drafter_class(one.drafter.drafter_class),
        formulas=formulas(),
        inputs=catalog().only(InputFile, "inputs", "inputs").model.inputs,
        thresholds=thresholds(search_depth=float(search), **limits),
        priors=PriorFile(schema=1, id="none", fitted_by="no one", fitted_on=date(2026, 1, 1), priors=priors),
        groups=catalog().only(GroupFile, "groups", "groups").model,
        symbols=catalog().symbols,
    )
    return situation(one, facts(one, **(more or {})), knowledge)


def table(name: str) -> list[dict[str, float]]:
    """The rows of a published table, its numeric cells alone."""
    (path,) = _TABLES.glob(f"{name}_*.csv")
    with path.open(encoding="utf-8", newline="") as file:
        return [{key: float(text) for key, text in row.items() if _is_number(text)} for row in csv.DictReader(file)]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
