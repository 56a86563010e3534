"""`specrules schema` and `specrules completion`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from specrules.catalog.schemas import KINDS

from .running import ROOT, cli, put, refused


def test_schema_prints_what_is_published():
    ran = cli("schema", "case")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == (ROOT / "schemas" / "case.json").read_text(encoding="utf-8")


def test_schema_lists_its_kinds():
    assert cli("schema").out.split() == list(KINDS)


def test_all_schemas_into_a_folder():
    ran = cli("schema", "--all", "deep/schemas")
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    assert sorted(os.listdir("deep/schemas")) == sorted(f"{kind}.json" for kind in KINDS)
    assert Path("deep/schemas/rules.json").read_bytes() == (ROOT / "schemas" / "rules.json").read_bytes()


def test_a_schema_into_a_file():
    assert cli("schema", "engine", "-o", "engine.json").code == 0
    assert json.loads(Path("engine.json").read_text(encoding="utf-8"))["title"] == "Engine"


def test_a_kind_that_does_not_exist():
    (problem,) = refused("schema", "cas")
    assert problem == f"no schema 'cas'; known are {', '.join(KINDS)} (did you mean 'case'?)"


def test_a_folder_that_cannot_be_made():
    put("file", "")
    assert refused("schema", "--all", "file/schemas") == ["file/schemas: cannot be made: Not a directory"]
    assert "'file' is a file" in refused("schema", "--all", "file")[-1]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_are_for_specrules(shell):
    ran = cli("completion", shell)
    assert (ran.code, ran.err) == (0, "")
    assert "_SPECRULES_COMPLETE" in ran.out
    program = shutil.which(shell)
    if program is not None:
        subprocess.run([program, "-n"], input=ran.out, text=True, check=True, timeout=30)


def test_a_shell_without_completion():
    assert "'tcsh' is not one of 'bash', 'zsh', 'fish'" in refused("completion", "tcsh")[-1]
