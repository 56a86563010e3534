from __future__ import annotations

import pytest

from specrules.derive.condition_examples import failing_examples

from .deployed.building import INPUTS, claim, engine

HOLDS = {"settings": {"--length": "5"}, "holds": True}
NOT = {"settings": {"-d": "x"}, "holds": False}
UNKNOWN = {"given": {}, "holds": "unknown"}


def failing(**lists):
    return list(failing_examples(engine(**lists), INPUTS))


def test_examples_that_give_what_they_say():
    assert failing(start_refusals=[claim(condition="flag.length > 4", examples=[HOLDS, NOT])]) == []
    unknown = claim(condition="target.is_hybrid", examples=[UNKNOWN])
    assert failing(start_refusals=[unknown]) == []


@pytest.mark.parametrize(
    ("example", "found"),
    [({**HOLDS, "holds": False}, "true and not false"), ({**NOT, "holds": "unknown"}, "false and not unknown")],
)
def test_an_example_that_gives_something_else(example, found):
    ((route, message),) = failing(limits=[
        {"id": "l", "of": "context", "effect": "e", "known": "read", "condition": "flag.length > 4",
         "examples": [HOLDS, example]}
    ])  # fmt: skip
    assert route == ("limits", 0, "examples", 1, "holds")
    assert message == f"the condition of 'l' gives {found}"


SAID = {"fact": "deployment.draft_length", "value": "flag.length", "when": "given.draft", "known": "read"}


@pytest.mark.parametrize(
    ("example", "found"),
    [
        ({"settings": {"-d": "x"}, "gives": 3}, None),
        ({"settings": {"-d": "x", "--length": 5}, "gives": 5}, None),
        ({"gives": "nothing"}, None),
        ({"settings": {"-d": "x", "--length": "many"}, "gives": "unknown"}, None),
        ({"settings": {"-d": "x"}, "gives": 4}, "deployment.draft_length is 3.0 and not 4.0"),
        ({"gives": 3}, "deployment.draft_length is nothing and not 3.0"),
    ],
)
def test_what_is_derived_from_settings(example, found):
    got = failing(deployed=[{**SAID, "examples": [example]}])
    assert [message for _, message in got] == ([] if found is None else [found])
    assert [route for route, _ in got] == ([] if found is None else [("deployed", 0, "examples", 0, "gives")])


def test_switches_lists_and_inputs_of_an_example():
    said = {
        "fact": "engine.methods",
        "value": "flag.spec",
        "when": "flag.metrics and target.is_hybrid",
        "known": "read",
    }
    example = {
        "settings": {"--metrics": True, "--spec": "mtp,small"},
        "given": {"target.is_hybrid": True},
        "gives": ["mtp", "small"],
    }
    assert failing(deployed=[{**said, "examples": [example]}]) == []
