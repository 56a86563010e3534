from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from specrules.catalog.collection import Collection, Override, collect
from specrules.catalog.digest import digest
from specrules.catalog.document import dotted
from specrules.catalog.layers import BUILTIN, Layer
from specrules.errors import CatalogError, LoadError, UserError

REUSE = "write the value out, or build on a whole document with 'extends: ID'"


class Tree:
    """Layers on disk; the first is the built-in one."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.layers: list[Layer] = []

    def add(self, name: str, **documents: str) -> Tree:
        for stem, text in documents.items():
            path = self.root / name / "engines" / f"{stem}.yaml"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"schema: 1\n{text}\n")
        self.layers.append(Layer(name, self.root / name, "" if name == BUILTIN else name))
        return self

    def collect(self) -> Collection:
        return collect(self.layers, "engines", lambda data: data.get("id"))

    def refused(self, error: type[UserError] = CatalogError) -> list[str]:
        with pytest.raises(error) as raised:
            self.collect()
        return [problem.render().splitlines()[0] for problem in raised.value.problems]


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


def test_documents_of_all_layers_by_id(tree: Tree) -> None:
    found = tree.add(BUILTIN, b="id: b", a="id: a").add("org", c="id: c").collect()
    assert {name: (doc.data, doc.layer, doc.path) for name, doc in found.documents.items()} == {
        "a": ({"schema": 1, "id": "a"}, "built-in", "engines/a.yaml"),
        "b": ({"schema": 1, "id": "b"}, "built-in", "engines/b.yaml"),
        "c": ({"schema": 1, "id": "c"}, "org", "org/engines/c.yaml"),
    }
    assert list(found.documents) == ["a", "b", "c"]
    assert found.overrides == ()
    assert [file.path for file in found.files] == ["engines/a.yaml", "engines/b.yaml", "org/engines/c.yaml"]


def test_a_whole_document_overrides_by_id(tree: Tree) -> None:
    tree.add(BUILTIN, a="id: a\nx: 1\ny: 1", b="id: b").add("org", other="id: a\noverrides: true\nx: 2")
    found = (
        tree.add("repo", a="id: a\noverrides: true\nx: 3", c="id: c").add("top", c="id: c\noverrides: true").collect()
    )
    assert found.documents["a"].data == {"schema": 1, "id": "a", "x": 3}
    assert found.overrides == (
        Override("a", "repo/engines/a.yaml", "repo", ("engines/a.yaml", "org/engines/other.yaml"), of_builtin=True),
        Override("c", "top/engines/c.yaml", "top", ("repo/engines/c.yaml",), of_builtin=False),
    )
    assert [item.id for item in found.overridden_builtins] == ["a"]


def test_extends_of_the_same_id_changes_the_layers_below(tree: Tree) -> None:
    tree.add(BUILTIN, a="id: a\nm: {x: 1, y: 1, z: 1}").add("org", a="id: a\nextends: a\nm: {y: 2}")
    found = tree.add("repo", change="extends: a\nm: {z: 3}").collect()
    document = found.documents["a"]
    assert document.data == {"schema": 1, "id": "a", "m": {"x": 1, "y": 2, "z": 3}}
    assert {dotted(loc): str(where) for loc, where in document.leaves()} == {
        "schema": "repo repo/engines/change.yaml:1:9",
        "id": "org org/engines/a.yaml:2:5",
        "m.x": "built-in engines/a.yaml:3:8",
        "m.y": "org org/engines/a.yaml:4:8",
        "m.z": "repo repo/engines/change.yaml:3:8",
    }
    assert found.overridden_builtins[0].over == ("engines/a.yaml", "org/engines/a.yaml")


def test_extends_of_another_id_sees_its_own_layer_and_below_but_nothing_above(tree: Tree) -> None:
    tree.add(BUILTIN, a="id: a\nx: 1", variant="id: variant\nextends: a")
    tree.add("org", a="id: a\noverrides: true\nx: 2", mine="id: mine\nextends: a")
    found = tree.add("repo", a="id: a\noverrides: true\nx: 3", last="id: last\nextends: a").collect()
    assert {name: document.data["x"] for name, document in found.documents.items()} == {
        "a": 3,
        "variant": 1,
        "mine": 2,
        "last": 3,
    }


def test_the_same_id_twice_in_one_layer_names_both_files(tree: Tree) -> None:
    tree.add(BUILTIN, x="id: x").add("org", one="id: a", two="title: t\nid: a", three="extends: x", four="extends: x")
    assert tree.refused() == [
        "org/engines/three.yaml:2:10: id 'x' is already taken by org/engines/four.yaml:2:10",
        "org/engines/two.yaml:3:5: id 'a' is already taken by org/engines/one.yaml:2:5",
    ]


def test_a_clash_cannot_shadow_by_accident(tree: Tree) -> None:
    tree.add(BUILTIN, a="id: a", b="id: b", c="id: c")
    tree.add("org", a="id: a", b="id: b\noverrides: false", c="id: c\nextends: a")
    assert tree.refused() == [
        f"org/engines/{name}.yaml:2:5: id '{name}' is taken by built-in engines/{name}.yaml:2:5"
        f" (add 'overrides: true', or 'extends: {name}' to change it)"
        for name in "abc"
    ]


def test_the_nearest_document_below_is_named(tree: Tree) -> None:
    tree.add(BUILTIN, a="id: a").add("org", a="id: a\noverrides: true").add("repo", a="id: a").add("top", b="id: b")
    assert tree.refused()[0].startswith("repo/engines/a.yaml:2:5: id 'a' is taken by org org/engines/a.yaml:2:5")


def test_overriding_nothing_is_a_slip(tree: Tree) -> None:
    tree.add(BUILTIN, a="id: llama.cpp").add("org", a="id: lama.cpp\noverrides: true", b="id: b\noverrides: please")
    assert tree.refused() == [
        "org/engines/a.yaml:2:5: overrides 'lama.cpp', which no layer below has (did you mean 'llama.cpp'?)",
        "org/engines/b.yaml:3:12: 'overrides' must be true or false",
    ]


def test_extends_that_leads_nowhere(tree: Tree) -> None:
    tree.add(BUILTIN, a="id: vllm\nextends: vllm", b="id: b\nextends: vlm").add("org", c="id: c")
    assert tree.refused() == [
        "engines/a.yaml:3:10: extends 'vllm': no such document to build on",
        "engines/b.yaml:3:10: extends 'vlm': no such document to build on (did you mean 'vllm'?)",
    ]


def test_a_circle_names_ids_and_files(tree: Tree) -> None:
    tree.add(BUILTIN, a="id: a\nextends: b", b="id: b\nextends: a")
    assert tree.refused()[0] == (
        "engines/a.yaml:3:10: extends itself: a (engines/a.yaml) -> b (engines/b.yaml) -> a (engines/a.yaml)"
    )


def test_problems_of_all_files_come_at_once(tree: Tree) -> None:
    tree.add(BUILTIN, a="id: a\nid: b\nx: &y 1", b="x: 1", c="id: 1.10", d="id: ''", e="id:", f="id: fine")
    tree.add("org", a="id: a\nextends: gone")
    (tree.root / "org/engines/old.yaml").write_text("id: a\n")
    (tree.root / "org/engines/new.yaml").write_text("schema: 2\nbroken: here too\n")
    assert tree.refused(LoadError) == [
        "engines/a.yaml:3:1: duplicate key 'id' (first at line 2)",
        f"engines/a.yaml:4:4: anchor '&y' is not allowed ({REUSE})",
        "engines/b.yaml:1:1: missing key 'id'",
        "engines/c.yaml:2:5: 'id' must be text (put it in quotes)",
        "engines/d.yaml:2:5: 'id' must be text that is not empty",
        "engines/e.yaml:2:4: 'id' must be text that is not empty",
        "org/engines/new.yaml:1:9: written for a newer specrules (schema 2, this one reads 1)",
        "org/engines/old.yaml:1:1: missing key 'schema' (write 'schema: 1' at the top)",
    ]


def test_an_empty_id_is_not_taken_from_what_is_extended(tree: Tree) -> None:
    tree.add(BUILTIN, a="id: a").add("org", a="id:\nextends: a")
    assert tree.refused(LoadError) == ["org/engines/a.yaml:2:4: 'id' must be text that is not empty"]


def test_cases_are_listed_and_not_read(tree: Tree) -> None:
    tree.add(BUILTIN, a="id: a")
    (tree.root / BUILTIN / "engines/a.test.yaml").write_text("not: [closed")
    found = tree.collect()
    assert [file.path for file in found.cases] == ["engines/a.test.yaml"]
    assert list(found.documents) == ["a"]


def test_no_document_at_all_is_an_error(tmp_path: Path) -> None:
    for layers in ([], [Layer("org", tmp_path, "org")]):
        with pytest.raises(CatalogError, match=r"no engines found in (org|no layer)"):
            collect(layers, "engines", lambda data: data.get("id"))


def test_the_digest_covers_every_file_and_which_layer_it_is_in(tree: Tree, tmp_path: Path) -> None:
    first = digest(tree.add(BUILTIN, a="id: a").add("org", b="id: b").collect().digests)
    moved = Tree(tmp_path / "elsewhere").add(BUILTIN, a="id: a").add("org", b="id: b")
    assert digest(moved.collect().digests) == first
    other = Tree(tmp_path / "other").add(BUILTIN, a="id: a", b="id: b").add("org", c="id: c").collect()
    assert digest(other.digests) != first
    (tree.root / "org/engines/b.yaml").write_text("schema: 1\nid: b # remark\n")
    assert digest(tree.collect().digests) != first


def test_a_newer_schema_is_read_where_the_caller_knows_it(tree: Tree) -> None:
    tree.add(BUILTIN)
    path = tree.root / BUILTIN / "engines/a.yaml"
    path.parent.mkdir(parents=True)
    path.write_text("schema: 2\nid: a\n")
    assert list(collect(tree.layers, "engines", lambda data: data.get("id"), newest=2).documents) == ["a"]


def test_built_ins_inside_a_zip_extended_from_disk(tree: Tree, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "w.whl", "w") as archive:
        archive.writestr("specrules/_data/engines/a.yaml", "schema: 1\nid: a\nx: 1\ny: 1\n")
    tree.layers.append(Layer(BUILTIN, zipfile.Path(tmp_path / "w.whl", "specrules/_data/"), ""))
    document = tree.add("org", a="id: a\nextends: a\ny: 2").collect().documents["a"]
    assert document.data == {"schema": 1, "id": "a", "x": 1, "y": 2}
    assert str(document.provenance(("x",))) == "built-in engines/a.yaml:3:4"
