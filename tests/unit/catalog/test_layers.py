from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from specrules.catalog.layers import BUILTIN, MAX_FOLDERS, Layer, builtin_layer, discover, files, project_folder, stacks
from specrules.catalog.located import MAX_BYTES
from specrules.errors import CatalogError

PATTERNS = "engines/*.yaml, benches/*.yaml, rules/*.yaml, templates/*.j2"


def write(root: Path, *names: str) -> Path:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"id: {path.stem}\n")
    return root


def problems(**options) -> list[str]:
    with pytest.raises(CatalogError) as raised:
        discover(**options)
    return [problem.render() for problem in raised.value.problems]


def test_order_from_low_to_high(tmp_path: Path) -> None:
    repo = write(tmp_path / "repo", ".git/HEAD", ".specrules/rules/r.yaml", "sub/deep/x")
    one, two = write(tmp_path / "one", "engines/e.yaml"), write(tmp_path / "two", "templates/t.md.j2")
    e1, e2 = write(tmp_path / "e1", "a.yaml"), write(tmp_path / "e2", "b.yml")
    rules, templates = write(tmp_path / "r", "a.yaml"), write(tmp_path / "t", "a.j2")
    layers = discover(
        cwd=repo / "sub/deep",
        environ={"SPECRULES_PATH": f"{one}::{two}"},
        engines=[e1, str(e2)],
        rules=[rules],
        templates=[templates],
    )
    assert [(layer.name, layer.origin, layer.kind) for layer in layers] == [
        ("built-in", "", None),
        ("SPECRULES_PATH", str(one), None),
        ("SPECRULES_PATH", str(two), None),
        (".specrules", "../../.specrules", None),
        ("--engines", str(e1), "engines"),
        ("--engines", str(e2), "engines"),
        ("--rules", str(rules), "rules"),
        ("--templates", str(templates), "templates"),
    ]
    assert [layer.is_builtin for layer in layers] == [True] + [False] * 7
    assert discover(cwd=tmp_path / "e1", environ={}, builtin=False) == ()
    assert discover(cwd=tmp_path / "e1", environ={}) == (builtin_layer(),)


def test_the_environment_and_folder_of_the_process_are_the_defaults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(write(tmp_path, ".specrules/engines/a.yaml", "org/rules/b.yaml"))
    monkeypatch.setenv("SPECRULES_PATH", "org")
    layers = discover(builtin=False)
    assert [layer.origin for layer in layers] == ["org", ".specrules"]
    assert [file.path for file in files(layers[0], "rules")] == ["org/rules/b.yaml"]
    assert [file.path for file in files(layers[1], "engines")] == [".specrules/engines/a.yaml"]


def test_project_folder_stops_at_the_repository(tmp_path: Path) -> None:
    write(tmp_path, ".specrules/rules/planted.yaml", "repo/.git/HEAD", "repo/a/b/x", "plain/x")
    assert project_folder(tmp_path / "repo/a/b") is None
    assert project_folder(tmp_path / "plain") is None
    assert project_folder(tmp_path) == tmp_path / ".specrules"
    write(tmp_path, "repo/.specrules/rules/r.yaml", "work/.specrules/rules/r.yaml", "work/sub/x")
    assert project_folder(tmp_path / "repo/a/b") == tmp_path / "repo/.specrules"
    (tmp_path / "work/.git").write_text("gitdir: elsewhere")
    assert project_folder(tmp_path / "work/sub") == tmp_path / "work/.specrules"
    write(tmp_path, "repo/a/.specrules/rules/r.yaml")
    assert project_folder(tmp_path / "repo/a/b") == tmp_path / "repo/a/.specrules"


def test_every_folder_that_counts_for_nothing_is_named_at_once(tmp_path: Path) -> None:
    cwd = write(tmp_path, ".specrules/README.md", "cases/a.test.yaml", "file.yaml", "whole/rules/r.yaml", "empty/x.txt")
    write(tmp_path, "typo/engine/e.yaml", "typo/rules/r.yaml")
    assert problems(
        cwd=cwd,
        environ={"SPECRULES_PATH": f"{tmp_path}/gone:{tmp_path}/typo"},
        engines=[tmp_path / "empty", tmp_path / "file.yaml"],
        rules=[tmp_path / "cases", tmp_path / "whole"],
        templates=[tmp_path / "cases"],
    ) == [
        f"{tmp_path}/gone: SPECRULES_PATH: no such folder",
        f"{tmp_path}/typo: SPECRULES_PATH: folder 'engine' is not read (did you mean 'engines'?)",
        f".specrules: .specrules: the folder holds no document (looked for {PATTERNS})",
        f"{tmp_path}/empty: --engines: the folder holds no document (looked for *.yaml)",
        f"{tmp_path}/file.yaml: --engines: no such folder",
        f"{tmp_path}/cases: --rules: the folder holds no document (looked for *.yaml)",
        f"{tmp_path}/whole: --rules: this holds rules/, give that folder itself",
        f"{tmp_path}/cases: --templates: the folder holds no document (looked for *.j2)",
    ]


def test_files_by_name_with_cases_and_without_hidden_and_foreign_ones(tmp_path: Path) -> None:
    write(tmp_path, "rules/b.yaml", "rules/b.test.yaml", "rules/sub/a.yml", "rules/.hidden.yaml", "rules/.git/x.yaml")
    write(tmp_path, "rules/notes.md", "rules/b.yaml.bak", "engines/e.yaml", "rules/C.YAML", "rules/x.test.yml")
    layer = Layer("org", tmp_path, "org/")
    found = files(layer, "rules")
    assert [(file.name, file.is_case) for file in found] == [
        ("C.YAML", False),
        ("b.test.yaml", True),
        ("b.yaml", False),
        ("sub/a.yml", False),
        ("x.test.yml", True),
    ]
    assert found[3].path == "org/rules/sub/a.yml"
    assert found[3].read() == b"id: a\n"
    assert files(layer, "templates") == []
    explicit = Layer("--rules", tmp_path / "rules", "./rules", "rules")
    assert [file.path for file in files(explicit, "rules")][2] == "./rules/b.yaml"
    assert files(explicit, "engines") == []


def test_built_in_files_are_shown_by_kind_and_must_exist(tmp_path: Path) -> None:
    layer = Layer(BUILTIN, write(tmp_path, "engines/e.yaml"), "")
    assert [file.path for file in files(layer, "engines")] == ["engines/e.yaml"]
    with pytest.raises(CatalogError, match="built-in rules are missing"):
        files(layer, "rules")


def test_a_link_in_a_circle_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, "rules/a.yaml")
    (tmp_path / "rules/loop").symlink_to(tmp_path / "rules")
    with pytest.raises(CatalogError, match=rf"rules/{'loop/' * MAX_FOLDERS}: more than 8 folders deep"):
        files(Layer("org", tmp_path, "org"), "rules")
    (message,) = problems(cwd=tmp_path, environ={"SPECRULES_PATH": str(tmp_path)})
    assert "more than 8 folders deep" in message


def test_reading_is_bounded_and_a_file_that_went_away_is_a_problem(tmp_path: Path) -> None:
    write(tmp_path, "rules/a.yaml")
    (file,) = files(Layer("org", tmp_path, "org"), "rules")
    with (tmp_path / "rules/a.yaml").open("wb") as stream:
        stream.truncate(MAX_BYTES * 3)
    assert len(file.read()) == MAX_BYTES + 1
    (tmp_path / "rules/a.yaml").unlink()
    with pytest.raises(CatalogError, match=r"^org/rules/a\.yaml: cannot be read: No such file"):
        file.read()


def test_versions_of_a_template_from_low_to_high(tmp_path: Path) -> None:
    low, high = (
        write(tmp_path / "low", "templates/a.j2", "templates/parts/b.j2"),
        write(tmp_path / "high", "a.j2", "c.j2"),
    )
    layers = [Layer(BUILTIN, low, ""), Layer("--templates", high, "high", "templates")]
    found = stacks(layers, "templates")
    assert {name: [file.path for file in versions] for name, versions in found.items()} == {
        "a.j2": ["templates/a.j2", "high/a.j2"],
        "parts/b.j2": ["templates/parts/b.j2"],
        "c.j2": ["high/c.j2"],
    }


def test_a_layer_inside_a_zip(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "w.whl", "w") as archive:
        archive.writestr("specrules/_data/rules/a.yaml", "id: a")
        archive.writestr("specrules/_data/rules/sub/b.yaml", "id: b")
        archive.writestr("specrules/_data/rules/a.test.yaml", "")
    layer = Layer(BUILTIN, zipfile.Path(tmp_path / "w.whl", "specrules/_data/"), "")
    assert [(file.path, file.read()) for file in files(layer, "rules")] == [
        ("rules/a.test.yaml", b""),
        ("rules/a.yaml", b"id: a"),
        ("rules/sub/b.yaml", b"id: b"),
    ]
    with pytest.raises(CatalogError, match="built-in engines are missing"):
        files(layer, "engines")


def test_a_project_folder_may_hold_nothing_but_waivers(tmp_path: Path) -> None:
    folder = tmp_path / ".specrules"
    folder.mkdir()
    with pytest.raises(CatalogError, match="the folder holds no document"):
        discover(cwd=tmp_path, environ={})
    (folder / "waivers.yaml").write_text("schema: 1\nwaivers: []\n", encoding="utf-8")
    assert [layer.name for layer in discover(cwd=tmp_path, environ={})] == ["built-in", ".specrules"]
