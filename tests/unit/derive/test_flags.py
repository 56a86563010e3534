from __future__ import annotations

import pytest

from specrules.derive.flags import FlagReport, check_flags

from .build import case, engine


def check(*flags: str, version: str | None = "b11434", on: str = "llama.cpp") -> FlagReport:
    return check_flags(case(engine={"id": on, "version": version, "flags": list(flags)}), engine(on))


@pytest.mark.parametrize(
    ("flag", "instead"),
    [
        ("--draft 4", "--spec-draft-n-max or --spec-ngram-mod-n-max"),
        ("--draft-n 4", "--spec-draft-n-max or --spec-ngram-mod-n-max"),
        ("--draft-max 4", "--spec-draft-n-max or --spec-ngram-mod-n-max"),
        ("LLAMA_ARG_DRAFT_MAX=4", "--spec-draft-n-max or --spec-ngram-mod-n-max"),
        ("--draft-min 1", "--spec-draft-n-min or --spec-ngram-mod-n-min"),
        ("--draft-n-min 1", "--spec-draft-n-min or --spec-ngram-mod-n-min"),
        ("LLAMA_ARG_DRAFT_MIN=1", "--spec-draft-n-min or --spec-ngram-mod-n-min"),
        (
            "--spec-ngram-size-n 12",
            (
                "--spec-ngram-simple-size-n or --spec-ngram-map-k-size-n or --spec-ngram-map-k4v-size-n "
                "or --spec-ngram-mod-n-match"
            ),
        ),
        (
            "--spec-ngram-size-m 48",
            "--spec-ngram-simple-size-m or --spec-ngram-map-k-size-m or --spec-ngram-map-k4v-size-m",
        ),
        (
            "--spec-ngram-min-hits 1",
            "--spec-ngram-simple-min-hits or --spec-ngram-map-k-min-hits or --spec-ngram-map-k4v-min-hits",
        ),
        ("--mtp", "--spec-type draft-mtp"),
        ("--eagle3", "--spec-type draft-eagle3"),
        ("--dflash", "--spec-type draft-dflash"),
        ("LLAMA_ARG_MODEL_DRAFT=d.gguf", "LLAMA_ARG_SPEC_DRAFT_MODEL"),
    ],
)
def test_a_removed_flag_is_wrong_and_its_replacement_is_named(flag: str, instead: str) -> None:
    found = check(flag)
    assert found.bad == 1
    assert found.note.endswith(f"; use {instead}")


@pytest.mark.parametrize(
    "flag", ["-cd 4096", "--ctx-size-draft 4096", "--spec-replace a b", "--spec-draft-conf-min 0.5"]
)
def test_some_have_no_replacement(flag: str) -> None:
    found = check(flag)
    assert found.bad == 1
    assert "was removed" in found.note
    assert "; use" not in found.note


@pytest.mark.parametrize(
    "flag",
    [
        "--spec-type draft-simple",
        "--spec-type draft-dflash,ngram-mod",
        "LLAMA_ARG_SPEC_TYPE=draft-mtp",
        "-md drafter.gguf",
        "--spec-draft-n-max 7",
        "-devd CUDA1",
        "-ngld 99",
        "--metrics",
        "--spec-draft-type-k q8_0",
        "--spec-synth-len 1",
        "  -lv 4 ",
        "-t 2",
        "--host 0.0.0.0",
        "--threads-batch 4",
        "--cache-type-k q8_0",
        "-ctk q8_0",
        "--spec-draft-n-max\t7",
    ],
)
def test_valid_flags_and_flags_of_other_matters_are_left_alone(flag: str) -> None:
    assert check(flag) == FlagReport(0, "every stated flag is valid for this version")


@pytest.mark.parametrize(
    ("flag", "note"),
    [
        (
            "--spec-type=draft-simple",
            "--spec-type=draft-simple: llama.cpp refuses --spec-type=VALUE, write --spec-type VALUE",
        ),
        ("--host=0.0.0.0", "--host=0.0.0.0: llama.cpp refuses --host=VALUE, write --host VALUE"),
        ("-md=drafter.gguf", "-md=drafter.gguf: llama.cpp refuses -md=VALUE, write -md VALUE"),
        ("--spec-draft-n-max", "--spec-draft-n-max needs a value"),
        ("--spec-draft-n-mx 7", "--spec-draft-n-mx is no flag of llama.cpp (did you mean '--spec-draft-n-max'?)"),
    ],
)
def test_what_is_wrong_is_said(flag: str, note: str) -> None:
    assert check(flag) == FlagReport(1, note)


@pytest.mark.parametrize(
    ("flag", "item"),
    [
        ("--spec-type draft", "draft"),
        ("--spec-type draft-simple,mtp", "mtp"),
        ("LLAMA_ARG_SPEC_TYPE=eagle3", "eagle3"),
        # A space after a comma ends the program.
        ("--spec-type draft-simple, ngram-mod", " ngram-mod"),
        ("--spec-draft-sampling random", "random"),
        ("--spec-draft-type-k q3_k", "q3_k"),
    ],
)
def test_a_value_that_the_flag_does_not_take(flag: str, item: str) -> None:
    found = check(flag)
    assert found.bad == 1
    assert f"does not take {item} (" in found.note


def test_every_wrong_flag_is_counted() -> None:
    found = check("--draft-max 4", "--spec-type draft-simple", "--spec-type=none")
    assert found.bad == 2
    assert found.note.count("; ") == 2


def test_without_flags_nothing_is_known() -> None:
    assert check() == FlagReport(None, "no flags were stated")


def test_an_engine_with_variables_takes_them_with_a_value() -> None:
    on = "halogen-flash-server"
    assert check("HALOGEN_PLD=3,3", "HALOGEN_DRAFTER_DEFAULT=1", version="0.17.3", on=on).bad == 0
    assert (
        check("HALOGEN_DRAFTER_DEFAULT=2", version="0.17.3", on=on).note
        == "HALOGEN_DRAFTER_DEFAULT does not take 2 (0, 1)"
    )


@pytest.mark.parametrize(("version", "bad"), [("0.17.3", 0), ("0.6.0", 0), ("0.5.5", 1), (None, 0)])
def test_a_flag_counts_for_its_versions(version: str | None, bad: int) -> None:
    found = check("HALOGEN_PLD=0", version=version, on="halogen-flash-server")
    assert found.bad == bad
    if bad:
        assert found.note == "HALOGEN_PLD does not exist in 0.5.5 (since 0.6.0, until ?)"


@pytest.mark.parametrize(("version", "bad"), [("b8000", 0), ("b9000", 0), ("b9001", 1), (None, 1)])
def test_a_flag_that_was_removed_once_is_valid_before(version: str | None, bad: int) -> None:
    removed = {"name": "--old", "effect": "The program ends.", "known": "run-b11434", "until": "b9000"}
    one = case(engine={"version": version, "flags": ["--old 1"]})
    assert check_flags(one, engine(removed_flags=[removed])).bad == bad
