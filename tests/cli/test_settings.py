"""`--set PATH=VALUE`: with a case and without, and mistakes at `--set:LINE:COL`."""

from __future__ import annotations

import json

import pytest

from .running import CASE, NOW, cli, place, put, refused


def sets(*settings: str) -> list[str]:
    return [argument for setting in settings for argument in ("--set", setting)]


def verdict(*arguments: object) -> dict:
    ran = cli("triage", "--format", "json", *NOW, *arguments)
    assert (ran.code, ran.err) == (0, ""), ran
    return json.loads(ran.out)


def test_no_case_is_needed_when_engine_incumbent_and_step_times_are_set():
    found = verdict(
        *sets("engine=llama.cpp", "incumbent.drafting=false", "incumbent.rate_tok_s=25", "drafter.step_ms=4")
    )
    assert found["case"] == "--set"
    assert found["incumbent"]["rate_tok_s"] == 25
    # A round holds a plain step of 40 ms and one pass of the drafter, 4 ms, per drafted token and one to follow.
    for point in found["break_even"]:
        least = point["range"]["tokens_per_round"][0]
        assert round(40 * least, 6) >= 40 + 4 * (point["draft_length"] + 1)
        assert point["tokens_per_round"] >= least


def test_a_setting_counts_more_than_the_case():
    put("case.yaml", CASE)
    assert verdict("case.yaml")["incumbent"]["rate_tok_s"] == 25
    found = verdict("case.yaml", *sets("incumbent.rate_tok_s=30", "title=Another"))
    assert (found["incumbent"]["rate_tok_s"], found["title"]) == (30, "Another")


def test_without_case_and_settings():
    assert refused("triage") == [
        "no case: name a file, or set engine, incumbent and step times with --set PATH=VALUE",
    ]


@pytest.mark.parametrize("setting", ["drafter.step_ms", "=5", "drafter..step_ms=5", ".=1", ""])
def test_settings_that_are_no_path_and_value(setting):
    assert refused("triage", *sets("engine=llama.cpp", setting)) == [
        f"--set {setting}: expected PATH=VALUE, such as target.step_ms=67"
    ]


@pytest.mark.parametrize(
    ("setting", "at", "message"),
    [
        ("drafter.stp_ms=4", "4", "unknown key 'drafter.stp_ms' (did you mean 'step_ms'?)"),
        ("draftr.step_ms=4", "4", "unknown key 'draftr' (did you mean 'drafter'?)"),
        ("drafter.step_ms=fast", "fast", "'drafter.step_ms' must be a number or a mapping, not 'fast'"),
        ("drafter.step_ms=nan", "nan", "'drafter.step_ms' must be a number or a mapping, not 'nan'"),
        ("drafter.step_ms=.inf", ".inf", "'drafter.step_ms' must be a number or a mapping, not '.inf'"),
        ("drafter.step_ms=1.0e999", "1.0e999", "number 1.0e999 is out of range"),
        ("drafter.step_ms= -1", "-1", "drafter.step_ms: -1 is out of range: it must be above 0"),
        ("drafter=27B", "27B", "'drafter' must be a mapping, not '27B'"),
        ("incumbent.drafting=yes", "yes", "'incumbent.drafting' must be true or false, not 'yes' (write true)"),
        ("engine.methods=draft-simple", "draft-simple", "'engine.methods' must be a list, not 'draft-simple'"),
        ("engine.methods=[draft-simple, draft-mpt]", "draft-mpt", None),
        ("engine.version=newest", "newest", "engine.version: 'newest' is not a build number such as b11434"),
        ("drafter.step_ms={value: 4, unti: ms}", "unti",
         "unknown key 'drafter.step_ms.unti' (did you mean 'unit'?)"),
        ("drafter.step_ms={value: 4", "{",
         "not valid YAML: the file ends while parsing a flow mapping that begins here"),
        ("drafter.step_ms={value: 4, value: 5}", "value: 5", "duplicate key 'value' (first at line 1)"),
        ("engine.flags=[&a x]", "&a",
         "anchor '&a' is not allowed (write the value out, or build on a whole document with 'extends: ID')"),
        ("schema=2", "2", "written for a newer specrules (schema 2, this one reads 1)"),
        ("drafter.class=modle", "modle", None),
    ],
)  # fmt: skip
def test_mistakes_have_a_place_among_the_settings(setting, at, message):
    problems = refused("triage", *sets("engine=llama.cpp", setting))
    column = place(setting, at).removeprefix("1:")
    assert len(problems) == 1
    assert problems[0].startswith(f"--set:2:{column}: ")
    if message is not None:
        assert problems[0] == f"--set:2:{column}: {message}"


def test_an_unknown_engine_among_the_settings():
    (problem,) = refused("triage", *sets("drafter.step_ms=4", "engine=llama.cp"))
    assert problem.startswith("--set:2:8: no engine 'llama.cp'; known are ")
    assert problem.endswith(" (did you mean 'llama.cpp'?)")


def test_the_setting_is_shown_with_a_caret():
    ran = cli("triage", *sets("engine=llama.cpp", "drafter.step_ms=fast"))
    assert ran.err.splitlines()[1:] == ["    drafter.step_ms=fast", "                    ^"]


def test_acceptance_without_a_kind_is_refused_here_too():
    (problem,) = refused("triage", *sets("engine=llama.cpp", "measurements.acceptance=0.5"))
    assert problem.startswith("--set:2:25: measurements.acceptance has no 'kind', and 0.5 means different things.")


@pytest.mark.parametrize("character", ["\n", "\x1b", "\x00", "\udcff"])
def test_control_characters_are_refused(character):
    (problem,) = refused("triage", *sets("engine=llama.cpp", f"title=a{character}b"))
    assert problem == f"--set {f'title=a{character}b'!r}: control characters are not allowed"


def test_the_same_mistake_is_reported_once_for_several_cases():
    put("a.yaml", CASE)
    put("b.yaml", CASE)
    assert len(refused("triage", "a.yaml", "b.yaml", *sets("drafter.stp_ms=4"))) == 1
