"""YAML as users write it: every style, anchors, merge keys, tags, several documents, and places of all of it."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from specrules.evidence.deployments.nodes import Budget, Mapping, Scalar, plain, texts
from specrules.evidence.deployments.yaml_nodes import Yaml
from tests.unit.evidence.deployments.build import text
from tests.unit.evidence.deployments.test_json_nodes import leaves

_LETTERS = "ab \n\t'\"\\:#-{}[]é漢😀,&*!|>@`"
_TEXTS = st.text(st.sampled_from(_LETTERS), max_size=14)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | _TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=3),
    max_leaves=6,
)


def data(written: str) -> Any:
    (document,) = Yaml(text(written)).documents
    return plain(document)


@given(
    _VALUES,
    st.sampled_from([None, "'", '"', "|", ">"]),
    st.sampled_from([10, 40, 80]),
    st.sampled_from([None, True, False]),
)
@settings(max_examples=150, deadline=None)
def test_every_character_stands_where_its_text_says(value: Any, style: str, width: int, flow: bool) -> None:
    written = yaml.safe_dump(value, allow_unicode=True, default_style=style, width=width, default_flow_style=flow)
    read = Yaml(text(written))
    assert read.problem is None
    for document in read.documents:
        for leaf in leaves(document):
            for index, character in enumerate(leaf.value):
                if not character.isspace():
                    assert written[leaf.at(index)] in (character, "\\")


def test_block_text_keeps_its_lines_in_place() -> None:
    written = "args:\n  - |\n    first --a\n      deeper\n  - >-\n    folded\n    on\n"
    (document,) = Yaml(text(written)).documents
    assert isinstance(document, Mapping)
    block, folded = texts(document.get("args"))
    assert block.value == "first --a\n  deeper\n"
    assert written[block.at(block.value.index("deeper")) :].startswith("deeper\n  - >-")
    assert folded.value == "folded on"
    assert written[folded.at(7) :].startswith("on\n")


def test_anchors_and_merge_keys_are_followed() -> None:
    written = """
base: &base {image: a, env: {A: 1}}
one: {<<: *base, image: b}
two: {<<: [*base, {extra: x, image: c}]}
"""
    assert data(written)["one"] == {"image": "b", "env": {"A": 1}}
    assert data(written)["two"] == {"image": "a", "env": {"A": 1}, "extra": "x"}


def test_the_last_of_two_equal_keys_counts() -> None:
    assert data("a: 1\na: 2\n") == {"a": 2}


def test_a_value_with_a_tag_of_ones_own_is_unknown() -> None:
    (document,) = Yaml(text("a: !Ref Model\nb: !!str 12\nc: !vault |\n  abc\n")).documents
    assert isinstance(document, Mapping)
    known = {key: value.text.rendered for key, (_, value) in document.entries.items() if isinstance(value, Scalar)}
    assert known == {"a": False, "b": True, "c": False}


def test_several_documents_until_the_first_that_is_broken() -> None:
    read = Yaml(text("a: 1\n---\n---\nb: 2\n---\nc: [1\nd: 2\n"))
    assert [plain(item) for item in read.documents] == [{"a": 1}, {"b": 2}]
    assert read.problem is not None
    assert read.problem.message.startswith("not valid YAML")
    assert read.problem.offset == 29  # behind the colon of a second line that no bracket allows


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("a: *nowhere", "the alias '*nowhere' names nothing"),
        ("a: &x [*x]", "the alias '*x' holds itself"),
        ("a: b: c", "not valid YAML: mapping values are not allowed in this context"),
        (
            "a: 'x",
            "not valid YAML: found unexpected end of stream while scanning a quoted scalar that begins at line 1",
        ),
        ("a: \x07", "not valid YAML: control characters are not allowed"),
        ("[" * 80, "nested deeper than 64 levels"),
    ],
)
def test_what_cannot_be_read_is_a_problem(written: str, message: str) -> None:
    problem = Yaml(text(written)).problem
    assert problem is not None
    assert problem.message == message


def test_aliases_that_unfold_to_too_much_stop() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 12)]
    problem = Yaml(text("\n".join(lines))).problem
    assert problem is not None
    assert problem.message == "aliases unfold to more than can be read"


def test_a_budget_is_shared() -> None:
    budget = Budget(6)
    assert Yaml(text("a: [1, 2]"), budget).problem is None
    assert Yaml(text("a: [1, 2]"), budget).problem is not None


def test_a_text_inside_a_file_gives_places_in_the_file() -> None:
    written = 'data:\n  inner.yaml: |\n    key:\n      sub: "va\\u006Cue"\n'
    (document,) = Yaml(text(written)).documents
    assert isinstance(document, Mapping)
    inner = document.text("data", "inner.yaml")
    assert inner is not None
    (config,) = Yaml(inner).documents
    assert isinstance(config, Mapping)
    value = config.text("key", "sub")
    assert value is not None
    assert value.value == "value"
    assert written[value.start :].startswith("va\\u006Cue")
    assert written[value.at(3) :].startswith('ue"')
