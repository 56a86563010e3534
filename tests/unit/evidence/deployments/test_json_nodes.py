"""JSON is read as the standard library reads it, and every text knows where it stands."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specrules.evidence.deployments.json_nodes import read_json
from specrules.evidence.deployments.nodes import Malformed, Mapping, Node, Scalar, plain
from specrules.evidence.deployments.text import Text
from tests.unit.evidence.deployments.build import text

_TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\x7f"), max_size=8)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.floats(-1e6, 1e6, width=32) | _TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=3),
    max_leaves=8,
)


def leaves(node: Node) -> Iterator[Text]:
    if isinstance(node, Scalar):
        yield node.text
    elif isinstance(node, Mapping):
        for key, value in node.entries.values():
            yield key.text
            yield from leaves(value)
    else:
        for item in node.items:
            yield from leaves(item)


@given(_VALUES, st.sampled_from([None, 1]))
@settings(max_examples=80, deadline=None)
def test_values_and_places(value: Any, indent: int | None) -> None:
    written = json.dumps(value, ensure_ascii=False, indent=indent)
    node = read_json(text(written))
    assert plain(node) == pytest.approx(value) if isinstance(value, float) else plain(node) == json.loads(written)
    for leaf in leaves(node):
        for index, character in enumerate(leaf.value):
            assert written[leaf.at(index)] in (character, "\\")


@pytest.mark.parametrize(
    ("written", "message", "offset"),
    [
        ("{'a': 1}", "a key in double quotes is missing: JSON has no single quotes", 1),
        ("{a: 1}", "a key in double quotes is missing: text needs double quotes", 1),
        ('{"a": 1,}', "a ',' stands before '}'", 8),
        ('{"a" 1}', "a ':' is missing after the key", 5),
        ('{"a": 1 "b": 2}', "a ',' or '}' is missing here", 8),
        ('{"a": }', "a value is missing", 6),
        (
            '{"a": True}',
            "a value is missing: text needs double quotes, and true, false and null are in small letters",
            6,
        ),
        ('{"a": 1} x', "the value ends before this", 9),
        ('{"a": "b', "a text in double quotes does not end", 8),
        ('{"a": "b\nc"}', "a line end or control character inside a text", 8),
        ('{"a": "\\q"}', "no such escape", 7),
        ('{"a": 1.2.3}', "a value is missing", 6),
        ("", "the text ends too early", 0),
        ("[" * 100, "nested deeper than 64 levels", 65),
    ],
)
def test_what_is_no_json_is_refused_where_it_stops_to_be(written: str, message: str, offset: int) -> None:
    with pytest.raises(Malformed) as caught:
        read_json(text(written))
    assert caught.value.message.startswith(message)
    assert caught.value.offset == offset


def test_holes_are_values_that_nobody_knows() -> None:
    written = '{"k": $K, "m": "org/$M-head"}'
    holed = Text(text(written).source, written, ((0, 0),), ((6, 8), (20, 22)))
    node = read_json(holed)
    assert isinstance(node, Mapping)
    known = {
        key: (value.text.value, value.text.rendered)
        for key, (_, value) in node.entries.items()
        if isinstance(value, Scalar)
    }
    assert known == {"k": ("$K", False), "m": ("org/$M-head", False)}


def test_the_last_of_two_equal_keys_counts() -> None:
    node = read_json(text('{"a": 1, "a": 2}'))
    assert plain(node) == {"a": 2}
