from __future__ import annotations

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from specrules.catalog.located import load_document
from specrules.catalog.scalars import expression_location, written_number


def place(text: str, needle: str) -> tuple[str, str]:
    """Where the loader says that `needle` stands in the value of `a`, and where it really stands in the file."""
    document = load_document(text, "f.yaml")
    column = document.data["a"].index(needle) + 1
    offset = text.index(needle)
    line_start = text.rfind("\n", 0, offset) + 1
    true = f"f.yaml:{text.count(chr(10), 0, offset) + 1}:{offset - line_start + 1}"
    return str(expression_location(document, ("a",), column)), true


@pytest.mark.parametrize(
    "text",
    [
        "a: x.y < oops\n",
        "a:    x.y <   oops  # remark\n",
        "a: 'x.y < oops'\n",
        "a: 'it''s in [''b'', oops]'\n",
        'a: "x.y < oops"\n',
        r'a: "\"q\" in [\x41, \u00e9, \U0001f600, \\] or oops"' + "\n",
        "b: 1\na: >-\n  x.y < 3\n    and   oops\n",
        "a: | # remark with oo\n  x.y < 3\n  and oops\n",
        "a: >2-\n\n    x.y <\n\n    oops\n",
        "a: é😀 < oops\n",
        "a: x.y < 3\n  and\n  oops\n",
        "{b: 1, a: x.y < oops}",
        "? a\n: x.y < oops\n",
    ],
)
def test_a_column_of_an_expression_is_found_in_the_file(text: str) -> None:
    found, true = place(text, "oops")
    assert found == true


@pytest.mark.parametrize("quote", ["'", '"'])
def test_quoted_text_over_several_lines_falls_back_to_its_start(quote: str) -> None:
    document = load_document(f"b: 1\na: {quote}x <\n  oops{quote}\n", "f.yaml")
    assert document.data["a"] == "x < oops"
    assert str(expression_location(document, ("a",), 5)) == "f.yaml:2:4"
    assert str(expression_location(document, ("a",), 3)) == "f.yaml:2:7"


def test_columns_outside_the_text_are_its_ends() -> None:
    document = load_document("a: 'abc'\nb: 3\n", "f.yaml")
    assert str(expression_location(document, ("a",), 0)) == "f.yaml:1:5"
    assert str(expression_location(document, ("a",), 4)) == "f.yaml:1:8"
    assert str(expression_location(document, ("a",), 99)) == "f.yaml:1:8"
    assert str(expression_location(document, ("b",), 7)) == "f.yaml:2:4"


@given(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=120),
    st.sampled_from([None, "'", '"', "|", ">"]),
    st.data(),
)
@settings(max_examples=200, deadline=None)
def test_every_column_of_whatever_yaml_prints_has_a_place(text: str, style: str | None, data: st.DataObject) -> None:
    document = load_document(yaml.safe_dump({"a": text}, default_style=style, width=20), "f.yaml")
    value = document.data["a"]
    if not isinstance(value, str):
        return
    column = data.draw(st.integers(1, len(value) + 1))
    where = expression_location(document, ("a",), column)
    line = document.source_line(where.line)
    assert 1 <= where.column <= len(line) + 1
    exact = line[where.column - 1 : where.column] == value[column - 1 : column]
    escaped = line[where.column - 1 : where.column] in ("\\", "'")
    assert (
        exact
        or escaped
        or value[column - 1 : column] in ("", " ", "\n", "\r", "\t")
        or where == document.position(("a",))
    )


def test_written_number() -> None:
    document = load_document("a: 1.10\nb: [-2.0, true, ~]\nc: .5 # x\nd:\n", "f.yaml")
    assert written_number(document, ("a",)) == "1.10"
    assert [written_number(document, ("b", index)) for index in range(3)] == ["-2.0", "true", "~"]
    assert written_number(document, ("c",)) == ".5"
    assert written_number(document, ("d",)) == ""
