"""`specrules engines`: list, show and check."""

from __future__ import annotations

import pytest

from specrules.catalog import catalogue
from specrules.errors import Problem

from .running import ENGINE, ROOT, changed, cli, put, refused

SHIPPED = sorted(path.stem for path in (ROOT / "engines").glob("*.yaml"))
BENCHES = sorted(path.stem for path in (ROOT / "benches").glob("*.yaml"))


@pytest.fixture
def ours():
    return put("engines/ours.yaml", ENGINE)


def test_list_names_every_engine_with_its_file(ours):
    ran = cli("engines", "list", "--engines", "engines")
    assert (ran.code, ran.err) == (0, "")
    rows = {line.split("  ")[0]: line.split("  ") for line in ran.out.splitlines()}
    assert sorted(rows) == sorted([*SHIPPED, "ours"])
    assert rows["ours"] == ["ours", "1.0", "plain", "(engines/ours.yaml)"]
    assert rows["llama.cpp"][3] == "(engines/llama.cpp.yaml)"


def test_show_says_how_every_claim_is_known(ours):
    ran = cli("engines", "show", "ours", "--engines", "engines")
    assert ran.code == 0
    assert ran.out.startswith("Ours (ours), facts from 1.0\nAn engine of our own.\n")
    assert "  plain (model): Plain [run 2026-11-01: we ran it]" in ran.out
    assert "  drafter on another device: possible. goes anywhere [run 2026-11-01: we ran it]" in ran.out
    assert "  log (log): its log [run 2026-11-01: we ran it]" in ran.out


@pytest.mark.parametrize("name", [*SHIPPED, "llama-server"])
def test_show_of_shipped_engines_and_aliases(name):
    ran = cli("engines", "show", name)
    assert (ran.code, ran.err) == (0, "")
    assert "Methods" in ran.out


@pytest.mark.parametrize("command", ["show", "check"])
def test_an_engine_that_does_not_exist(command):
    (problem,) = refused("engines", command, "lama.cpp")
    assert problem.startswith("no engine 'lama.cpp'; known are ")
    assert problem.endswith(" (did you mean 'llama.cpp'?)")


def test_check_of_all_shipped_engines():
    ran = cli("engines", "check")
    assert (ran.code, ran.err) == (0, "")
    assert [line.split(": ok, ")[0] for line in ran.out.splitlines()] == [*SHIPPED, *BENCHES]


def test_check_goes_on_after_an_engine_that_is_wrong(ours):
    ours.write_text(changed(ENGINE, "tokens: 5}", "tokens: 6}"))
    ran = cli("engines", "check", "ours", "llama.cpp", "--engines", "engines")
    assert (ran.code, ran.out.split(":")[0]) == (2, "llama.cpp")
    assert ran.problems == [
        "engines/ours.yaml: engine 'ours', reader 'log', pattern 'done', example 1: the field tokens is 5.0, not 6.0"
    ]


def test_check_looks_into_shipped_engines_though_loading_trusts_them(monkeypatch):
    monkeypatch.setattr(catalogue, "engine_problems", lambda *_: [Problem("this is wrong")])
    assert cli("engines", "list").code == 0
    assert refused("engines", "check", "llama.cpp") == ["this is wrong"]


def test_what_a_layer_changes_in_a_shipped_engine_is_checked(ours):
    ours.write_text("schema: 1\nextends: llama.cpp\nknown_issues:\n  - {id: x, title: X, effect: y, known: nobody}\n")
    (problem,) = refused("engines", "show", "llama.cpp", "--engines", "engines")
    assert problem.startswith("engines/ours.yaml:4:")
    assert "no source 'nobody' in this file" in problem
