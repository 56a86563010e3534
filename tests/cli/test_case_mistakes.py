"""Mistakes in case files: one message each, at its place, with exit code 2 and nothing on stdout."""

from __future__ import annotations

import pytest

from .running import CASE, changed, cli, place, put, refused

STEP = "step_ms: {value: 4, kind: measured, source: alone}"


def of(old: str, new: str, at: str | None = None) -> list[str]:
    """The messages about a case with one place changed; the expected place is taken out of the one at `at`."""
    text = changed(CASE, old, new)
    put("case.yaml", text)
    problems = refused("triage", "case.yaml")
    if at is None:
        return problems
    where = f"case.yaml:{place(text, at)}: "
    assert problems[0].startswith(where), (where, problems)
    return [problem.removeprefix(where) for problem in problems]


def test_the_case_itself_is_fine():
    put("case.yaml", CASE)
    ran = cli("triage", "case.yaml", "--format", "summary")
    assert (ran.code, ran.err) == (0, "")


@pytest.mark.parametrize(
    ("old", "new", "at", "message"),
    [
        ("title: A", "titel: A", "titel", "unknown key 'titel' (did you mean 'title'?)"),
        ("  kind: dense", "  knid: dense", "knid", "unknown key 'target.knid' (did you mean 'kind'?)"),
        ("kind: dense", "kind: danse", "danse",
         "'target.kind' must be one of 'dense', 'moe', 'hybrid' or 'hybrid-moe', not 'danse' (did you mean 'dense'?)"),
        ("rate_tok_s: 25", "rate_tok_s: {value: 25, unit: ms}", "{value: 25",
         "incumbent.rate_tok_s: the unit here is 'tok/s', not 'ms': convert the number or use another key"),
        ("{value: 4,", "{value: 4, unit: s,", "{value: 4, unit: s",
         "drafter.step_ms: the unit here is 'ms', not 's': convert the number or use another key"),
        ("{value: 4,", "{value: -4,", "{value: -4", "drafter.step_ms: -4 is out of range: it must be above 0"),
        ("step_ms: 40", "step_ms: 0", "0\ndrafter", "target.step_ms: 0 is out of range: it must be above 0"),
        ("rate_tok_s: 25", "rate_tok_s: {low: 30, high: 20}", "{low: 30",
         "incumbent.rate_tok_s: the interval 30.0 to 20.0 does not hold the value 25"),
        ("value: 0.7", "value: 1.7", "{kind: conditional",
         "measurements.acceptance: kind 'conditional' lies between 0 and 1"),
        ("drafting: false", "drafting: no", "no\n",
         "'incumbent.drafting' must be true or false, not 'no' (write false)"),
        ("schema: 1", "schema: 2", "2\n", "written for a newer specrules (schema 2, this one reads 1)"),
        ("schema: 1\n", "", "title: A", "missing key 'schema' (write 'schema: 1' at the top)"),
        ("  name: big\n", "", "kind: dense", "missing key 'target.name'"),
        ("version: b11434", "version: 11434", "11434",
         "'engine.version' must be text, not 11434 (put it in quotes: \"11434\")"),
        ("b11434", "next", "next", "engine.version: 'next' is not a build number such as b11434"),
        ("title: A small case", "title: A\ntitle: B", "title: B", "duplicate key 'title' (first at line 2)"),
        ("target:\n", "target: &big\n", "&big",
         "anchor '&big' is not allowed (write the value out, or build on a whole document with 'extends: ID')"),
        ("title: A small case", "title: *big", "*big",
         "alias '*big' is not allowed (write the value out, or build on a whole document with 'extends: ID')"),
        ("title: A", "title: !!str A", "!!str", "tag '!!str' is not allowed (leave it out; text goes in quotes)"),
        ("  name: big", "  <<: {name: big}", "<<",
         "merge key '<<' is not allowed (write the value out, or build on a whole document with 'extends: ID')"),
        ("title: A", "title: a: A", ": A",
         "not valid YAML: a ':' does not fit here (check the indent, and put text that holds ': ' in quotes)"),
    ],
)  # fmt: skip
def test_one_message_at_its_place(old, new, at, message):
    if message.startswith("missing key 'target.name'"):
        assert of(old, new) == ["case.yaml:4:3: missing key 'target.name'"]
    else:
        assert of(old, new, at) == [message]


@pytest.mark.parametrize("number", ["NaN", ".nan", "nan", "inf", ".inf", "-.inf", "Infinity"])
def test_nan_and_infinity_are_no_numbers(number):
    message = f"'drafter.step_ms.value' must be a number, not {number!r}"
    assert of("{value: 4,", f"{{value: {number},", number) == [message]


def test_a_number_beyond_floats():
    assert of("{value: 4,", "{value: 1.0e999,", "1.0e999") == ["number 1.0e999 is out of range"]
    assert of("{value: 4,", f"{{value: {10**400},", "1000")[0].startswith("number 1000")


def test_a_time_whose_utc_lies_before_the_calendar():
    problems = of("kind: measured", 'kind: measured, observed_at: "0001-01-01T00:00:00+14:00"', '"0001-')
    assert problems == ["drafter.step_ms.observed_at: this time lies outside the years 1 to 9999"]


def test_all_problems_of_a_file_come_at_once_in_order_of_place():
    text = changed(changed(CASE, "kind: dense", "kind: danse"), "rate_tok_s: 25", "rate_tok_s: fast")
    put("case.yaml", text)
    assert [problem.split(": ")[0] for problem in refused("triage", "case.yaml")] == [
        "case.yaml:5:9",
        "case.yaml:17:15",
    ]


def test_the_source_line_is_shown_with_a_caret():
    put("case.yaml", changed(CASE, "kind: dense", "kind: danse"))
    assert cli("triage", "case.yaml").err.splitlines()[1:] == ["      kind: danse", "            ^"]


@pytest.mark.parametrize(
    ("written", "meant"), [("lama.cpp", "llama.cpp"), ("halogen-flash-servr", "halogen-flash-server")]
)
def test_an_unknown_engine_at_its_place_in_the_case(written, meant):
    problems = of("id: llama.cpp", f"id: {written}", written)
    assert len(problems) == 1
    assert problems[0].startswith(f"no engine {written!r}; known are ")
    assert problems[0].endswith(f" (did you mean {meant!r}?)")


def test_an_engine_given_as_a_string_has_its_place_too():
    text = CASE[: CASE.index("engine:")] + "engine: lama.cpp\n"
    put("case.yaml", text)
    assert refused("triage", "case.yaml")[0].startswith("case.yaml:11:9: no engine 'lama.cpp'")


def test_an_unknown_drafter_class_at_its_place():
    problems = of("class: model", "class: modle", "modle")
    assert problems[0].startswith("no drafter class 'modle'; known are model, ")
    assert problems[0].endswith(" (did you mean 'model'?)")


def test_an_unknown_method_at_its_place():
    problems = of("[draft-simple]", "[draft-simple, draft-mpt]", "draft-mpt")
    assert len(problems) == 1
    assert problems[0].startswith("llama.cpp has no method 'draft-mpt'; known are draft-simple, ")
    assert problems[0].endswith(" (did you mean 'draft-mtp'?)")


@pytest.mark.parametrize("ends", ["value: 0.5", "low: 0.4, high: 0.6"])
def test_acceptance_without_a_kind_is_refused_with_both_readings(ends):
    (problem,) = of("kind: conditional, value: 0.7", ends, "acceptance")
    assert problem.startswith("measurements.acceptance has no 'kind', and ")
    assert "read as 'conditional' (p) it commits" in problem
    assert "read as 'ratio' (accepted / drafted) it commits" in problem
    assert problem.endswith("Say kind: conditional, ratio, position_vector, tokens_per_round, counts or histogram")


def test_the_two_readings_are_right():
    # p = 0.5 at K=3: (1 - 0.5^4) / 0.5 = 1.875. r = 0.5 at K=3: 1 + 0.5 * 3 = 2.5. At K=7: 1.992 and 4.5.
    (problem,) = of("{kind: conditional, value: 0.7}", "0.5", "acceptance")
    assert "At K=3: read as 'conditional' (p) it commits 1.88 tokens per round;" in problem
    assert "read as 'ratio' (accepted / drafted) it commits 2.50, which is p 0.691." in problem
    assert "At K=7: read as 'conditional' (p) it commits 1.99 tokens per round;" in problem
    (at_four,) = of("kind: conditional, value: 0.7", "value: 0.5, draft_length: 4", "acceptance")
    assert "At K=4: read as 'conditional' (p) it commits 1.94 " in at_four
    assert "K=3" not in at_four


def test_acceptance_without_a_kind_outside_the_unit_interval_gets_no_readings():
    (problem,) = of("kind: conditional, value: 0.7", "value: 3.2", "acceptance")
    assert problem == (
        "measurements.acceptance has no 'kind': say whether it is conditional, ratio, position_vector, "
        "tokens_per_round, counts or histogram"
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "case.yaml:1:1: the file is empty"),
        (b"# nothing\n", "case.yaml:1:1: the file is empty"),
        (b"[]\n", "case.yaml:1:1: the document must be a mapping of keys to values, not a list"),
        (b"GGUF\x03\x00", "case.yaml:1:5: character U+0003 is not allowed"),
        (b"\x1f\x8b\x08", "case.yaml:1:2: not UTF-8: byte 0x8b (save as UTF-8)"),
    ],
)
def test_files_that_are_no_case(content, message):
    put("case.yaml", content)
    assert refused("triage", "case.yaml")[0].startswith(message)


def test_a_case_that_is_missing_or_a_folder(folder):
    assert refused("triage", "nope.yaml") == ["nope.yaml: cannot be read: No such file or directory"]
    (folder / "cases").mkdir()
    assert refused("triage", "cases") == ["cases: cannot be read: Is a directory"]


def test_a_name_that_looks_like_code_stays_text():
    put("case.yaml", changed(CASE, "name: big", 'name: "{{ 7 * 7 }}"'))
    ran = cli("triage", "case.yaml", "--format", "json")
    assert ran.code == 0
    assert '"target": "{{ 7 * 7 }}"' in ran.out
