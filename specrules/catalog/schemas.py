"""JSON Schemas of every document that users write or read, generated from the models."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from specrules.errors import Problem, UsageError, did_you_mean
from specrules.model.case import Case
from specrules.model.drafter import DrafterClassFile
from specrules.model.engine import Engine
from specrules.model.finding import GateReport
from specrules.model.fit import Fit
from specrules.model.memory import MemoryFile
from specrules.model.policy import PolicyCaseFile, PolicyFile
from specrules.model.prior import GroupFile, PriorFile
from specrules.model.program import Bench
from specrules.model.prompt import PromptFile
from specrules.model.rule import FormulaFile, InputFile, RuleCaseFile, RuleFile, VerdictTable
from specrules.model.sample import Sample
from specrules.model.verdict import Verdict
from specrules.model.waiver import WaiverFile

DIALECT = "https://json-schema.org/draft/2020-12/schema"

DOCUMENTS: Mapping[str, type[BaseModel]] = {
    "bench": Bench,
    "case": Case,
    "drafter-classes": DrafterClassFile,
    "engine": Engine,
    "formulas": FormulaFile,
    "groups": GroupFile,
    "inputs": InputFile,
    "memory": MemoryFile,
    "policy": PolicyFile,
    "policy-cases": PolicyCaseFile,
    "priors": PriorFile,
    "prompts": PromptFile,
    "rule-cases": RuleCaseFile,
    "rules": RuleFile,
    "verdict": VerdictTable,
    "waivers": WaiverFile,
}
REPORTS: Mapping[str, type[BaseModel]] = {"fit": Fit, "gate": GateReport, "sample": Sample, "triage": Verdict}
KINDS = (*DOCUMENTS, *REPORTS)
_EXTENDABLE = set(DOCUMENTS) - {"case", "policy-cases", "prompts", "rule-cases", "waivers"}


def json_schema(kind: str) -> dict[str, Any]:
    """Return the JSON Schema of a kind of document. UsageError for a kind that does not exist."""
    if kind in REPORTS:
        schema = REPORTS[kind].model_json_schema(by_alias=True, mode="serialization")
    elif kind in DOCUMENTS:
        schema = DOCUMENTS[kind].model_json_schema(by_alias=True)
    else:
        raise UsageError(Problem(f"no schema {kind!r}; known are {', '.join(KINDS)}", hint=did_you_mean(kind, KINDS)))
    if kind in _EXTENDABLE:
        schema = _extendable(schema)
    return {"$schema": DIALECT, **schema}


def schema_text(kind: str) -> str:
    """Return the schema as the file in `schemas/` holds it."""
    return json.dumps(json_schema(kind), indent=2, ensure_ascii=False) + "\n"


def _extendable(schema: dict[str, Any]) -> dict[str, Any]:
    """A document may say `extends: ID` and then holds only what it changes."""
    required = [name for name in schema.get("required", []) if name != "schema"]
    properties = {**schema["properties"], "extends": {"type": "string", "description": "id of the document to change"}}
    rest = {key: value for key, value in schema.items() if key not in {"required", "properties"}}
    return {
        **rest,
        "properties": properties,
        "required": ["schema"],
        "if": {"not": {"required": ["extends"]}},
        "then": {"required": required},
    }
