from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from pydantic import ValidationError

from specrules.catalog.located import load_file
from specrules.catalog.schemas import DIALECT, DOCUMENTS, KINDS, json_schema, schema_text
from specrules.errors import UsageError
from specrules.model.case import Case

ROOT = Path(__file__).parents[3]
SCHEMAS = ROOT / "schemas"
SHIPPED = sorted(path for folder in ("engines", "rules", "examples") for path in (ROOT / folder).rglob("*.yaml"))
_MODELINE = re.compile(r"# yaml-language-server: \$schema=(\S+)")


def read(path: Path) -> Any:
    """A document as specrules reads it, in YAML 1.2: days stay text, and so does the key `on`."""
    return load_file(path).data


def validator(kind: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads((SCHEMAS / f"{kind}.json").read_text(encoding="utf-8")))


VALIDATORS = {kind: validator(kind) for kind in KINDS}


def errors(kind: str, document: Any) -> list[str]:
    return [f"{list(error.absolute_path)}: {error.message}" for error in VALIDATORS[kind].iter_errors(document)]


@pytest.mark.parametrize("kind", KINDS)
def test_the_published_file_is_the_generated_one(kind: str) -> None:
    assert (SCHEMAS / f"{kind}.json").read_text(encoding="utf-8") == schema_text(kind)


def test_nothing_else_is_published() -> None:
    assert sorted(path.name for path in SCHEMAS.iterdir()) == sorted(f"{kind}.json" for kind in KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_schemas_are_valid_schemas(kind: str) -> None:
    schema = json_schema(kind)
    assert schema["$schema"] == DIALECT
    Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize("path", SHIPPED, ids=[str(path.relative_to(ROOT)) for path in SHIPPED])
def test_shipped_documents_validate_against_the_schema_of_their_modeline(path: Path) -> None:
    first = path.read_text(encoding="utf-8").splitlines()[0]
    modeline = _MODELINE.fullmatch(first)
    assert modeline is not None, first
    schema = (path.parent / modeline[1]).resolve()
    assert schema.parent == SCHEMAS
    assert schema.is_file()
    assert errors(schema.stem, read(path)) == []


@pytest.mark.parametrize(
    ("kind", "path", "change"),
    [
        ("case", "examples/dflash2-fleet.yaml", {"titel": "x"}),
        ("case", "examples/dflash2-fleet.yaml", {"schema": 2}),
        ("case", "examples/dflash2-fleet.yaml", {"target": {}}),
        ("case", "examples/dflash2-fleet.yaml", {"incumbent": {"rate_tok_s": "fast"}}),
        ("case", "examples/dflash2-fleet.yaml", {"evidence": [{"path": "x", "arm": "other"}]}),
        ("engine", "engines/llama.cpp.yaml", {"methods": [{"id": "x"}]}),
        ("rules", "rules/a-incumbent.yaml", {"part": "f"}),
        ("policy", "rules/policy.yaml", {"thresholds": {"margin": -1}}),
        ("rule-cases", "rules/a-incumbent.test.yaml", {"now": 3}),
        ("policy-cases", "rules/policy.test.yaml", {"policy_cases": [{"name": "x"}]}),
        ("verdict", "rules/verdict.yaml", {"rows": [{"verdict": "perhaps", "because": "x"}]}),
    ],
)
def test_schemas_refuse_what_the_models_refuse(kind: str, path: str, change: dict[str, Any]) -> None:
    document = read(ROOT / path)
    assert errors(kind, document) == []
    assert errors(kind, document | change) != []


def test_plain_numbers_engine_strings_and_quantities_are_all_cases() -> None:
    case = {"schema": 1, "target": {"name": "t", "step_ms": 4}, "drafter": {"name": "d", "class": "model"}}
    assert errors("case", case | {"engine": "llama.cpp"}) == []
    assert errors("case", case | {"engine": {"id": "llama.cpp"}}) == []
    assert errors("case", case | {"engine": 3}) != []


@pytest.mark.parametrize("quantity", [4, {"value": 4}, {"low": 3, "high": 4, "kind": "measured"}, {"samples": [3, 4]}])
def test_all_ways_to_state_a_quantity(quantity: Any) -> None:
    case = {
        "schema": 1,
        "engine": "e",
        "target": {"name": "t", "step_ms": quantity},
        "drafter": {"name": "d", "class": "c"},
    }
    assert errors("case", case) == []
    assert Case.model_validate_json(json.dumps(case)).target.step_ms is not None


@pytest.mark.parametrize("quantity", ["4", {}, {"low": 3}, {"high": 3, "kind": "measured"}, {"unit": "ms"}])
def test_what_is_no_quantity(quantity: Any) -> None:
    case = {
        "schema": 1,
        "engine": "e",
        "target": {"name": "t", "step_ms": quantity},
        "drafter": {"name": "d", "class": "c"},
    }
    assert errors("case", case) != []
    with pytest.raises(ValidationError):
        Case.model_validate_json(json.dumps(case))


@pytest.mark.parametrize("kind", sorted(set(DOCUMENTS) - {"case", "policy-cases", "prompts", "rule-cases", "waivers"}))
def test_a_document_that_extends_another_holds_only_what_it_changes(kind: str) -> None:
    assert errors(kind, {"schema": 1, "extends": "other"}) == []
    assert errors(kind, {"extends": "other"}) != []
    assert errors(kind, {"schema": 1, "id": "mine"}) != []
    assert errors(kind, {"schema": 1, "extends": "other", "unheard_of": 1}) != []


@pytest.mark.parametrize("kind", ["case", "rule-cases"])
def test_cases_extend_nothing(kind: str) -> None:
    assert any("extends" in message for message in errors(kind, {"schema": 1, "extends": "other"}))


def test_a_kind_that_does_not_exist() -> None:
    with pytest.raises(UsageError) as raised:
        json_schema("engines")
    assert str(raised.value) == f"no schema 'engines'; known are {', '.join(KINDS)} (did you mean 'engine'?)"
