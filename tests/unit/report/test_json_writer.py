from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from jsonschema import Draft202012Validator

from specrules.model.verdict import Verdict
from specrules.report import to_json

from .verdicts import bare, blocked, deploy, named, unknown

SCHEMA = Verdict.model_json_schema(by_alias=True, mode="serialization")


@pytest.mark.parametrize("made", [bare, blocked, deploy, unknown])
def test_one_verdict_is_one_object_that_fits_the_published_schema(made: Callable[[], Verdict]) -> None:
    text = to_json([made()])
    document = json.loads(text)
    Draft202012Validator(SCHEMA).validate(document)
    assert document["schema"] == 1
    assert "schema_version" not in document
    assert Verdict.model_validate_json(text) == made()
    assert text.endswith("}\n")


def test_several_verdicts_are_an_array_in_the_given_order() -> None:
    document = json.loads(to_json([unknown(), deploy(), blocked()]))
    assert [entry["verdict"] for entry in document] == ["measure-first", "deploy", "blocked"]
    assert document[1] == json.loads(to_json([deploy()]))
    assert to_json([]) == "[]\n"


def test_texts_are_kept_as_they_are() -> None:
    text = "a|b `x` <script>\n# H \u2028 漢字"
    assert json.loads(to_json([named(text)]))["target"] == text


def test_unknown_numbers_are_null() -> None:
    document = json.loads(to_json([unknown()]))
    assert document["break_even"][0]["tokens_per_round"] is None
    assert document["break_even"][0]["missing"] == ["incumbent.rate_tok_s", "target.step_ms"]
    assert document["speedup"] == {"low": None, "mid": None, "high": None, "probability_above_margin": None}
