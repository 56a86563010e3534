from __future__ import annotations

import pytest

from specrules.catalog.document import Source, dotted
from specrules.catalog.located import load_document

TEXT = """\
# a remark
schema: 1
rules:
  - id: first
    refs: [one, two]
  - id: second
    empty: {}
    none:
"""


def test_places_of_keys_and_values() -> None:
    document = load_document(TEXT, "r.yaml", "org")
    assert str(document.position(())) == "r.yaml:2:1"
    assert str(document.position(("rules",))) == "r.yaml:4:3"
    assert str(document.key_position(("rules",))) == "r.yaml:3:1"
    assert str(document.position(("rules", 1))) == "r.yaml:6:5"
    assert str(document.key_position(("rules", 1))) == "r.yaml:6:5"
    assert str(document.position(("rules", 0, "refs", 1))) == "r.yaml:5:17"
    assert str(document.position(("rules", 1, "none"))) == "r.yaml:8:10"
    assert document.value(("rules", 0, "refs", 1)) == "two"


@pytest.mark.parametrize(
    ("loc", "where"),
    [
        (("rules", 7, "id"), "r.yaml:4:3"),
        (("rules", -1), "r.yaml:4:3"),
        (("rules", "0"), "r.yaml:4:3"),
        (("rules", 1, "missing", "x"), "r.yaml:6:5"),
        (("schema", "x"), "r.yaml:2:9"),
    ],
)
def test_a_route_that_leaves_the_document_ends_at_the_last_place_on_it(loc: tuple[str | int, ...], where: str) -> None:
    assert str(load_document(TEXT, "r.yaml").position(loc)) == where


def test_every_leaf_has_layer_and_place() -> None:
    document = load_document(TEXT, "r.yaml", "org")
    assert [(dotted(loc), str(provenance)) for loc, provenance in document.leaves()] == [
        ("schema", "org r.yaml:2:9"),
        ("rules[0].id", "org r.yaml:4:9"),
        ("rules[0].refs[0]", "org r.yaml:5:12"),
        ("rules[0].refs[1]", "org r.yaml:5:17"),
        ("rules[1].id", "org r.yaml:6:9"),
        ("rules[1].empty", "org r.yaml:7:12"),
        ("rules[1].none", "org r.yaml:8:10"),
    ]
    assert str(load_document("a: 1", "r.yaml").provenance(("a",))) == "r.yaml:1:4"


def test_problem_at_value_and_at_key() -> None:
    document = load_document(TEXT, "r.yaml")
    loc = ("rules", 0, "refs")
    assert document.problem("bad", loc).render() == "r.yaml:5:11: bad\n        refs: [one, two]\n              ^"
    assert document.problem("bad", loc, "why", at_key=True).render().startswith("r.yaml:5:5: bad (why)\n")


def test_lines_end_where_editors_end_them() -> None:
    source = Source("f", "one\rtwo\r\nthree\n\nfive")
    assert [source.line(number) for number in range(7)] == ["", "one", "two", "three", "", "five", ""]
    assert str(source.location(source.text.index("five") + 2)) == "f:5:3"
    assert str(source.location(3)) == "f:1:4"


def test_long_lines_are_cut() -> None:
    source = Source("f", "x" * 500)
    assert source.problem("bad", 3).excerpt == "x" * 200 + " ..."
    assert source.problem("bad", 400).excerpt == ""
    assert str(source.problem("bad", 400).where) == "f:1:401"


@pytest.mark.parametrize(
    ("loc", "text"),
    [
        ((), ""),
        (("rules", 0, "require"), "rules[0].require"),
        (("flags", "--draft-max", "values"), "flags.--draft-max.values"),
        (("engines", "llama.cpp", 2, 3), "engines['llama.cpp'][2][3]"),
        (("a\x1bb", "x"), "['a\\x1bb'].x"),
    ],
)
def test_dotted(loc: tuple[str | int, ...], text: str) -> None:
    assert dotted(loc) == text
