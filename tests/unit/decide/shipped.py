"""The shipped documents, read plainly, and small rule files for tests."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import yaml

from specrules.catalog.symbols import symbols
from specrules.decide import RuleSet, Table, compile_rules, compile_table
from specrules.errors import Location
from specrules.expressions import Type
from specrules.model.policy import PolicyFile
from specrules.model.rule import InputFile, Rule, RuleFile, VerdictTable

RULES = Path(__file__).parents[3] / "rules"
SYMBOLS = {
    "rate": Type.NUMBER,
    "limit": Type.NUMBER,
    "drafter.fits": Type.BOOL,
    "drafter.name": Type.STRING,
    "engine.id": Type.STRING,
    "engine.methods": Type.STRINGS,
    "policy.margin": Type.NUMBER,
}


def read(name: str) -> Any:
    return yaml.safe_load((RULES / f"{name}.yaml").read_text(encoding="utf-8"))


@functools.cache
def policy() -> PolicyFile:
    return PolicyFile.model_validate(read("policy"))


@functools.cache
def shipped_symbols() -> dict[str, Type]:
    return symbols(InputFile.model_validate(read("inputs")).inputs, policy())


@functools.cache
def shipped_rules() -> RuleSet:
    names = ("a-incumbent", "b-break-even", "c-acceptance", "d-attachment", "e-evidence")
    return compile_rules([(RuleFile.model_validate(read(name)), locator(name)) for name in names], shipped_symbols())


@functools.cache
def shipped_table() -> Table:
    return compile_table(VerdictTable.model_validate(read("verdict")), shipped_symbols(), locator("verdict"))


def locator(path: str):
    """A place that spells the route: line 7, and the column inside the value."""

    def locate(route, column):
        return Location(f"{path}:{'.'.join(map(str, route))}", 7, column)

    return locate


def rule(**fields: Any) -> Rule:
    """A rule that passes at a rate above 1, but for what is given."""
    plain = {"id": "r", "title": "A title", "severity": "block", "require": "rate > 1", "message": "Rate {{ rate }}."}
    return Rule.model_validate({**plain, "why": "w", "fix": "f", "since": "0.1", **fields})


def rule_file(*rules: Rule, part: str = "a") -> RuleFile:
    return RuleFile.model_validate({"schema": 1, "id": "file", "part": part, "title": "t", "rules": list(rules)})


def compiled(*rules: Rule, part: str = "a") -> RuleSet:
    return compile_rules([(rule_file(*rules, part=part), locator("f"))], SYMBOLS)
