from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from specrules.catalog.waivers import Waivers, load_waivers
from specrules.errors import LoadError

RULES = ("drafter-fits", "verdict")
ENGINES = ("llama.cpp", "vllm")
ONE = "- {rule: drafter-fits, engine: llama.cpp, reason: swap, owner: infra, expires: 2026-12-31}\n"


def put(folder: Path, text: str, name: str = ".specrules/waivers.yaml") -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"schema: 1\nwaivers:\n{text}", encoding="utf-8")
    return file


def refused(folder: Path, text: str) -> list[str]:
    file = put(folder, text, "w.yaml")
    with pytest.raises(LoadError) as caught:
        load_waivers(file, RULES, ENGINES, folder)
    return [problem.render().split("\n")[0].removeprefix(f"{file}:") for problem in caught.value.problems]


def test_without_a_file_there_are_none(tmp_path: Path) -> None:
    assert load_waivers(None, RULES, ENGINES, tmp_path) == Waivers()


def test_the_file_of_the_repository_is_found_from_a_folder_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").mkdir()
    put(tmp_path, ONE)
    deep = tmp_path / "services" / "llm"
    deep.mkdir(parents=True)
    monkeypatch.chdir(deep)
    found = load_waivers(None, RULES, ENGINES)
    (placed,) = found.placed
    assert (placed.waiver.rule, placed.waiver.expires) == ("drafter-fits", date(2026, 12, 31))
    assert (placed.where.path, placed.where.line, placed.where.column) == ("../../.specrules/waivers.yaml", 3, 3)
    assert found.root == "../.."


@pytest.mark.parametrize(("name", "root"), [("ops/w.yaml", "ops"), ("ops/.specrules/waivers.yaml", "ops")])
def test_patterns_of_a_named_file_start_at_its_folder(tmp_path: Path, name: str, root: str) -> None:
    assert load_waivers(put(tmp_path, ONE, name), RULES, ENGINES, tmp_path).root == root


def test_a_named_file_has_to_exist(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match=r"nowhere\.yaml: cannot be read"):
        load_waivers("nowhere.yaml", RULES, ENGINES, tmp_path)


def test_every_problem_at_its_place(tmp_path: Path) -> None:
    text = """\
- {rule: drafter-fit, engine: llama.cp, reason: r, owner: o, expires: 2026-12-31}
- {rule: verdict, engine: "llama*", reason: r, owner: o, expires: 2026-12-31}
"""
    assert refused(tmp_path, text) == [
        "3:10: there is no rule 'drafter-fit' (did you mean 'drafter-fits'?)",
        "3:31: there is no engine 'llama.cp' (did you mean 'llama.cpp'?)",
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("- {rule: verdict, engine: vllm, reason: r, owner: o}", "3:3: missing key 'waivers[0].expires'"),
        ("- {rule: verdict, engine: vllm, owner: o, expires: 2026-12-31}", "3:3: missing key 'waivers[0].reason'"),
        ("- {rule: verdict, engine: vllm, reason: r, expires: 2026-12-31}", "3:3: missing key 'waivers[0].owner'"),
        ("- {rule: verdict, reason: r, owner: o, expires: 2026-12-31}", "3:3: "),
        ('- {rule: verdict, engine: vllm, reason: " ", owner: o, expires: 2026-12-31}', "3:41: 'waivers[0].reason' "),
        ("- {rule: verdict, engine: vllm, reason: r, owner: o, expires: never}", "3:63: 'waivers[0].expires' "),
        ("- {rule: verdict, engine: vllm, reason: r, owner: o, expires: 2026-12-31T10:00:00Z}", "3:63: "),
        ("- {rule: verdict, engine: vllm, reason: r, owner: o, expires: 2026-02-30}", "3:63: 'waivers[0].expires' "),
        ("- {rule: verdict, engine: vllm, reason: r, owner: o, expires: 2026-12-31, inputs: x}", "3:83: "),
        ("- {rule: verdict, engine: vllm, reason: r, owner: o, expires: 2026-12-31, file: [x]}", "3:75: unknown key"),
    ],
)
def test_values(tmp_path: Path, line: str, message: str) -> None:
    (found,) = refused(tmp_path, line + "\n")
    assert found.startswith(message)


@pytest.mark.parametrize("left_open", ["inputs: ", "files: []", "drafter: "])
def test_what_narrows_a_waiver_cannot_be_left_open(tmp_path: Path, left_open: str) -> None:
    line = f"- {{rule: verdict, engine: vllm, reason: r, owner: o, expires: 2026-12-31, {left_open}}}\n"
    (found,) = refused(tmp_path, line)
    name = left_open.partition(":")[0]
    assert found.startswith(f"3:3: waivers[0]: {name} must not be empty")


def test_a_waiver_without_a_scope_says_what_it_needs(tmp_path: Path) -> None:
    (found,) = refused(tmp_path, "- {rule: verdict, reason: r, owner: o, expires: 2026-12-31}\n")
    assert "a waiver needs a scope: target, drafter, engine or files" in found
