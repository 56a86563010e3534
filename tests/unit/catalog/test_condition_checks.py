"""What is wrong with conditions over deployments, each at its place."""

from __future__ import annotations

import json
from typing import Any

import pytest

from specrules.catalog.condition_checks import condition_problems
from specrules.catalog.setting_symbols import flag_type, setting_name
from specrules.errors import Location
from specrules.expressions import Type
from specrules.model.engine import Engine
from specrules.model.flag import Flag

INPUTS = {"deployment.metrics": Type.BOOL, "deployment.draft_length": Type.NUMBER}
YES = {"settings": {"-l": "5"}, "holds": True}
NO = {"holds": False}


def engine(**fields: Any) -> Engine:
    base = {
        "schema": 1, "id": "toy", "title": "Toy", "description": "d", "methods": [],
        "sources": [{"id": "read", "by": "source", "title": "t", "on": "2026-11-01"}],
        "version": {"scheme": "build", "facts_from": "b1", "how_to_find": "h"},
        "devices": {"draft_routing": {"possible": False, "effect": "e", "known": "read"}},
        "flags": [{"name": "--length", "aliases": ["-l"], "default": "3", "doc": "d", "known": "read"}],
    }  # fmt: skip
    return Engine.model_validate_json(json.dumps({**base, **fields}))


def problems(**fields: Any) -> list[str]:
    def locate(route: tuple[str | int, ...], column: int) -> Location:
        return Location(".".join(map(str, route)), 1, column)

    return [
        f"{one.where}: {one.message} {one.hint}".rstrip()
        for one in condition_problems(engine(**fields), locate, INPUTS)
    ]


def limit(**fields: Any) -> dict[str, Any]:
    return {"id": "l", "of": "context", "effect": "e", "known": "read", **fields}


def test_a_condition_with_examples_of_both_answers_is_fine():
    assert problems(limits=[limit(condition="flag.length > 4 and given.length", examples=[YES, NO])]) == []


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"condition": "flag.lenght > 4", "examples": [YES, NO]},
         "limits.0.condition:1:1: unknown name 'flag.lenght' did you mean 'flag.length'?"),
        ({"condition": "flag.length", "examples": [YES, NO]},
         "limits.0.condition:1:1: the expression has to be true or false, and it is a number"),
        ({"condition": "setting.name == 'x'", "examples": [YES, NO]},
         "limits.0.condition:1:1: unknown name 'setting.name'"),
        ({"condition": "given.length", "examples": [YES]},
         "limits.0.condition:1: needs an example where the condition does not hold"),
        ({"condition": "given.length", "examples": [NO]},
         "limits.0.condition:1: needs an example where the condition holds"),
        ({"examples": [YES]}, "limits.0.examples:1: examples without a condition"),
        ({"condition": "given.length", "examples": [YES, NO, {"settings": {"--lenght": "1"}, "holds": True}]},
         "limits.0.examples.2.settings.--lenght:1: no flag of this engine: '--lenght' did you mean '--length'?"),
        ({"condition": "given.length", "examples": [YES, NO, {"given": {"deployment.metric": True}, "holds": True}]},
         ("limits.0.examples.2.given.deployment.metric:1: "
          "no input 'deployment.metric' did you mean 'deployment.metrics'?")),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_condition(fields, expected):
    (found,) = problems(limits=[limit(**fields)])
    assert found == expected


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"fact": "deployment.metric", "value": "given.length"},
         "deployed.0.fact:1: unknown input 'deployment.metric' did you mean 'deployment.metrics'?"),
        ({"fact": "deployment.metrics", "value": "flag.length"},
         "deployed.0.value:1:1: the expression has to be true or false, and it is a number"),
        ({"fact": "deployment.draft_length", "value": True},
         "deployed.0.value:1: deployment.draft_length is a number, not true or false"),
        ({"fact": "deployment.metrics", "value": True, "when": "flag.length"},
         "deployed.0.when:1:1: the expression has to be true or false, and it is a number"),
        ({"fact": "deployment.metrics", "value": True, "examples": []},
         "deployed.0.fact:1: needs an example: settings and what they give"),
        ({"fact": "deployment.metrics", "value": True, "examples": [{"settings": {"--x": "1"}, "gives": True}]},
         "deployed.0.examples.0.settings.--x:1: no flag of this engine: '--x'"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_derived_input(fields, expected):
    (found,) = problems(deployed=[{"known": "read", "examples": [{"gives": True}], **fields}])
    assert found == expected


@pytest.mark.parametrize(
    ("flag", "name"),
    [
        ("--spec-type", "spec_type"),
        ("-md", "md"),
        ("--a.b_C", "a.b_c"),
        ("VLLM_X", "vllm_x"),
        ("--3d", None),
        ("--", None),
    ],
)
def test_names_of_settings(flag, name):
    assert setting_name(flag) == name


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"takes_value": False}, Type.BOOL),
        ({"list_valued": True}, Type.STRINGS),
        ({"default": "0.5"}, Type.NUMBER),
        ({"default": "false"}, Type.BOOL),
        ({"values": ["true", "false"]}, Type.BOOL),
        ({"values": ["0", "1"], "default": "0"}, Type.STRING),
        ({"default": "auto"}, Type.STRING),
        ({}, Type.STRING),
        ({"type": "number"}, Type.NUMBER),
        ({"type": "numbers", "list_valued": True}, Type.NUMBERS),
    ],
)
def test_types_of_flags(fields, kind):
    assert flag_type(Flag.model_validate({"name": "--x", "doc": "d", "known": "k", **fields})) is kind
