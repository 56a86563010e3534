"""Folders that a measurement script left behind."""

from __future__ import annotations

import pytest

from specrules.catalog.case import load_case
from specrules.catalog.evidence_folder import with_folders
from specrules.errors import LoadError

CASE = """\
schema: 1
target: {name: t}
drafter: {name: d, class: model}
engine: llama.cpp
evidence:
  - {path: own.log, arm: off}
"""


@pytest.fixture
def loaded(tmp_path):
    file = tmp_path / "case.yaml"
    file.write_text(CASE)
    return load_case(file)


def listing(tmp_path, text, name="run"):
    folder = tmp_path / name
    folder.mkdir()
    (folder / "evidence.yaml").write_text(text)
    return folder


def test_files_are_added_behind_those_of_the_case(tmp_path, loaded):
    folder = listing(
        tmp_path,
        "schema: 1\nevidence:\n  - {path: s.jsonl, arm: candidate}\n  - {path: a.txt, arm: off, before: b.txt}\n",
    )
    found = with_folders(loaded, [folder])
    assert [item.arm for item in found.case.evidence] == ["off", "candidate", "off"]
    assert found.case.evidence[1].path == str(folder / "s.jsonl")
    assert found.case.evidence[2].before == str(folder / "b.txt")
    assert found.found == {1, 2}
    assert loaded.case.evidence == found.case.evidence[:1]


def test_a_script_that_measured_nothing_leaves_an_empty_list(tmp_path, loaded):
    found = with_folders(loaded, [listing(tmp_path, "schema: 1\nevidence:\n")])
    assert found.case == loaded.case
    assert found.found == set()


def test_without_folders_nothing_changes(loaded):
    assert with_folders(loaded, []).case is not None
    assert with_folders(loaded, []).found == frozenset()


def test_every_wrong_folder_is_named(tmp_path, loaded):
    (tmp_path / "empty").mkdir()
    wrong = listing(tmp_path, "schema: 1\nevidence:\n  - {path: a, arm: nobody}\n")
    with pytest.raises(LoadError) as raised:
        with_folders(loaded, [tmp_path / "none", tmp_path / "empty", wrong])
    found = [problem.render().replace(str(tmp_path), "").partition("\n")[0] for problem in raised.value.problems]
    assert found[0].startswith("/none: no such folder")
    assert found[1].startswith("/empty: the folder holds no evidence.yaml (it is written by the script")
    assert found[2].startswith("/run/evidence.yaml:3:")
