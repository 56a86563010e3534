from __future__ import annotations

from typing import Literal

import pytest
from pydantic import Field

from specrules.catalog.document import Document, dotted
from specrules.catalog.extends import MAX_DEPTH, merge, resolve
from specrules.catalog.located import load_document
from specrules.catalog.validate import check
from specrules.errors import CatalogError
from specrules.model.base import Model

BASE = """\
schema: 1
id: llama.cpp
flags:
  --draft-max: {default: 16, env: LLAMA_DRAFT}
  --draft-min: {default: 0}
devices: [cpu, cuda]
notes: {a: x}
"""
CHILD = """\
# remark
schema: 1
id: fork
extends: llama.cpp
flags:
  --draft-max: {default: 8}
  --draft-min:
  --tree: {default: 1}
devices: [vulkan]
notes: text now
"""


def tree(**texts: str) -> dict[str, Document]:
    return {name: load_document(text, f"{name}.yaml", f"layer-{name}") for name, text in texts.items()}


def lookup(documents: dict[str, Document]):
    return lambda _, name: documents.get(name)


def test_mappings_merge_lists_replace_null_deletes() -> None:
    documents = tree(base=BASE, child=CHILD)
    merged = resolve(documents["child"], lambda _, __: documents["base"])
    assert merged.data == {
        "schema": 1,
        "id": "fork",
        "flags": {"--draft-max": {"default": 8, "env": "LLAMA_DRAFT"}, "--tree": {"default": 1}},
        "devices": ["vulkan"],
        "notes": "text now",
    }
    assert list(merged.data["flags"]) == ["--draft-max", "--tree"]
    assert documents["base"].data["flags"]["--draft-max"]["default"] == 16


def test_every_leaf_keeps_layer_file_and_place() -> None:
    documents = tree(base=BASE, child=CHILD)
    merged = resolve(documents["child"], lambda _, __: documents["base"])
    assert {dotted(loc): str(provenance) for loc, provenance in merged.leaves()} == {
        "schema": "layer-child child.yaml:2:9",
        "id": "layer-child child.yaml:3:5",
        "flags.--draft-max.default": "layer-child child.yaml:6:26",
        "flags.--draft-max.env": "layer-base base.yaml:4:35",
        "flags.--tree.default": "layer-child child.yaml:8:21",
        "devices[0]": "layer-child child.yaml:9:11",
        "notes": "layer-child child.yaml:10:8",
    }
    assert str(merged.key_position(("flags", "--draft-max", "env"))) == "base.yaml:4:30"
    assert merged.path == "child.yaml"


def test_errors_of_the_model_point_into_the_file_that_is_wrong() -> None:
    class Flag(Model):
        default: int = 0

    class Engine(Model):
        schema_version: Literal[1] = Field(alias="schema")
        id: str
        flags: dict[str, Flag]
        must: int

    base = "schema: 1\nid: base\nflags:\n  a: {default: x}\n  b: {defalt: 1}\n  c: {default: y}\n"
    documents = tree(base=base, child="id: child\nextends: base\nflags:\n  c: {default: z}\n  d: {default: q}\n")
    _, problems = check(resolve(documents["child"], lookup(documents)), Engine)
    assert [problem.render().splitlines()[0] for problem in problems] == [
        "base.yaml:4:16: 'flags.a.default' must be a whole number, not 'x'",
        "base.yaml:5:7: unknown key 'flags.b.defalt' (did you mean 'default'?)",
        "child.yaml:1:1: missing key 'must'",
        "child.yaml:4:16: 'flags.c.default' must be a whole number, not 'z'",
        "child.yaml:5:16: 'flags.d.default' must be a whole number, not 'q'",
    ]
    assert problems[0].excerpt == "  a: {default: x}"
    assert problems[4].excerpt == "  d: {default: q}"


def test_a_null_that_deletes_nothing_is_an_error_naming_every_one() -> None:
    documents = tree(base=BASE, child="extends: base\nflags:\n  --draf-max:\n  --x: {y: ~}\nnots: ~\n")
    with pytest.raises(CatalogError) as raised:
        resolve(documents["child"], lookup(documents))
    what = "is empty, which deletes it, but what is extended does not have it"
    assert [(str(problem.where), problem.message, problem.hint) for problem in raised.value.problems] == [
        ("child.yaml:3:3", f"'flags.--draf-max' {what}", "did you mean '--draft-max'?"),
        ("child.yaml:5:1", f"'nots' {what}", "did you mean 'notes'?"),
    ]


def test_null_in_a_list_and_below_a_new_key_is_kept() -> None:
    documents = tree(base="a: 1", child="extends: base\nb: {c: ~}\nd: [~]\n")
    assert resolve(documents["child"], lookup(documents)).data == {"a": 1, "b": {"c": None}, "d": [None]}


def test_directives_do_not_reach_the_result() -> None:
    documents = tree(base="a: 1\noverrides: true", child="extends: base\noverrides: true\n")
    merged = resolve(documents["child"], lookup(documents))
    assert merged.data == {"a": 1}
    assert [dotted(loc) for loc, _ in merged.leaves()] == ["a"]
    assert resolve(documents["base"], lookup(documents)).data == {"a": 1}


def test_a_circle_is_named_whole() -> None:
    documents = tree(a="extends: b\nx: 1", b="extends: c", c="extends: a")
    with pytest.raises(CatalogError) as raised:
        resolve(documents["a"], lookup(documents))
    assert str(raised.value).startswith("a.yaml:1:10: extends itself: a.yaml -> b.yaml -> c.yaml -> a.yaml\n")
    documents = tree(start="extends: a", a="extends: b", b="extends: a")
    with pytest.raises(CatalogError, match=r"start\.yaml -> a\.yaml -> b\.yaml -> a\.yaml"):
        resolve(documents["start"], lookup(documents))


def chain(levels: int) -> dict[str, Document]:
    texts = {f"d{level}": f"extends: d{level + 1}\nk{level}: {level}" for level in range(levels)}
    return tree(**texts, **{f"d{levels}": "end: true"})


def test_depth_limit() -> None:
    documents = chain(MAX_DEPTH)
    assert len(resolve(documents["d0"], lookup(documents)).data) == MAX_DEPTH + 1
    documents = chain(MAX_DEPTH + 1)
    with pytest.raises(CatalogError, match=r"d0\.yaml:1:10: extends more than 8 levels: d0\.yaml -> d1\.yaml"):
        resolve(documents["d0"], lookup(documents))


def test_middle_levels_win_over_lower_ones() -> None:
    documents = tree(a="extends: b\nx: 1", b="extends: c\nx: 2\ny: 2", c="x: 3\ny: 3\nz: 3")
    assert resolve(documents["a"], lookup(documents)).data == {"x": 1, "y": 2, "z": 3}


def test_deleted_and_set_again() -> None:
    documents = tree(a="extends: b\nm: {q: 1}", b="extends: c\nm: ~", c="m: {p: 1}\n")
    assert resolve(documents["a"], lookup(documents)).data == {"m": {"q": 1}}


@pytest.mark.parametrize("value", ["", "5", "[a]", "''", "{a: b}"])
def test_extends_must_be_an_id(value: str) -> None:
    documents = tree(a=f"extends: {value}\n")
    with pytest.raises(CatalogError, match=r"a\.yaml:1:\d+: 'extends' must be the id of a document"):
        resolve(documents["a"], lookup(documents))


def test_unknown_parent() -> None:
    documents = tree(a="x: 1\nextends: lama.cpp\n")
    with pytest.raises(CatalogError) as raised:
        resolve(documents["a"], lookup(documents), known=["llama.cpp", "vllm"])
    first = "a.yaml:2:10: extends 'lama.cpp': no such document to build on (did you mean 'llama.cpp'?)"
    assert str(raised.value).splitlines()[0] == first


def test_merge_of_two_documents_reports_as_values() -> None:
    documents = tree(base="a: {b: 1, c: 2}", change="a: {b: 5, d: ~}")
    merged = merge(documents["base"], documents["change"])
    assert merged.data == {"a": {"b": 5, "c": 2}}
    assert [str(problem.where) for problem in merged.problems] == ["change.yaml:1:11"]
