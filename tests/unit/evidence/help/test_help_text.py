"""The help text of a real llama-server, and changed copies of it."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from specrules.catalog.catalogue import Catalog
from specrules.errors import EvidenceError, UsageError
from specrules.evidence.help.help_text import read_options
from specrules.evidence.source import source_from_bytes
from specrules.pipeline.skeleton import engine_skeleton
from specrules.pipeline.verifying import verify_help

HELP = Path(__file__).parents[3] / "data/recordings/llama.cpp-b11434/help.txt"
ENGINE = Catalog.load(environ={}, cwd=Path(__file__).parent).engine("llama.cpp").model


def changed(tmp_path: Path, old: str, new: str) -> str:
    text = HELP.read_text()
    assert old in text
    path = tmp_path / "help.txt"
    path.write_text(text.replace(old, new))
    return str(path)


def kinds(tmp_path: Path, old: str, new: str) -> set[tuple[str, str]]:
    return {(item.kind, item.flag) for item in verify_help(ENGINE, changed(tmp_path, old, new)).drift}


def test_names_default_and_section_of_an_option() -> None:
    assert ENGINE.help is not None
    options = {option.name: option for option in read_options(source_from_bytes("h", HELP.read_bytes()), ENGINE.help)}
    drafter = options["--spec-draft-n-cpu-moe"]
    assert set(drafter.names) == {
        "--spec-draft-n-cpu-moe", "--spec-draft-ncmoe", "-ncmoed", "--n-cpu-moe-draft",
    }  # fmt: skip
    assert drafter.section == "speculative params"
    assert options["--spec-draft-n-max"].default == "3"
    assert options["--slots"].default == "on"
    assert options["--spec-draft-hf"].default is None


def test_the_recorded_help_text_agrees() -> None:
    found = verify_help(ENGINE, str(HELP))
    assert found.drift == ()
    assert found.compared > 50


def test_every_kind_of_drift_is_seen(tmp_path: Path) -> None:
    assert kinds(tmp_path, "--spec-synth-len L", "--spec-synth-length L") == {
        ("vanished", "--spec-synth-len"),
        ("appeared", "--spec-synth-length"),
    }
    new_default = "number of tokens to draft for speculative decoding (default: 4)"
    assert kinds(tmp_path, new_default.replace("4", "3"), new_default) == {("default", "--spec-draft-n-max")}


def test_flags_outside_the_scope_do_not_matter(tmp_path: Path) -> None:
    assert kinds(tmp_path, "-mu,   --model-url MODEL_URL ", "-mu,   --model-link MODEL_URL") == set()


def test_a_text_of_another_kind_cannot_be_judged(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("Dear all,\nthe server is fine.\n")
    with pytest.raises(EvidenceError, match=r"notes\.txt: no option"):
        verify_help(ENGINE, str(path))
    with pytest.raises(UsageError, match="does not say how its help text is read"):
        verify_help(ENGINE.model_copy(update={"help": None}), str(HELP))


def test_a_program_is_run_and_its_failure_told(tmp_path: Path) -> None:
    program = tmp_path / "server"
    program.write_text(f"#!/bin/sh\ntest \"$1\" = --help && cat '{HELP}'\n")
    program.chmod(0o755)
    assert verify_help(ENGINE, str(program)).drift == ()
    program.write_text("#!/bin/sh\nexit 3\n")
    with pytest.raises(EvidenceError, match="printed nothing and ended with 3"):
        verify_help(ENGINE, str(program))


@pytest.mark.parametrize("help_text", [None, str(HELP)])
def test_a_skeleton_loads_and_takes_flags_from_a_help_text(tmp_path: Path, help_text: str | None) -> None:
    text = engine_skeleton("in-house", "In house", date(2026, 11, 29), schema="engine.json", help_text=help_text)
    (tmp_path / "in-house.yaml").write_text(text)
    catalog = Catalog.load(engines=[tmp_path], environ={}, cwd=tmp_path)
    engine = catalog.engine("in-house").model
    flags = {flag.name for flag in engine.flags}
    assert ("--spec-draft-n-max" in flags) == (help_text is not None)
    if help_text is not None:
        assert verify_help(engine, help_text).drift == ()


def test_an_id_that_no_engine_can_have_is_refused() -> None:
    with pytest.raises(UsageError, match="'In House' is no id"):
        engine_skeleton("In House", "x", date(2026, 11, 29), schema="engine.json")
