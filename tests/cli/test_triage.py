"""`specrules triage`: formats, several cases, files that are written, and reproducible output."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys

import pytest
from jsonschema import Draft202012Validator

from .running import ALL_EXAMPLES, BARE, CASE, NOW, ROOT, changed, child_environment, cli, place, put, refused

SCHEMA = Draft202012Validator(json.loads((ROOT / "schemas" / "triage.json").read_text(encoding="utf-8")))


def documents(*arguments: object) -> list[dict]:
    ran = cli("triage", "--format", "json", *NOW, *arguments)
    assert ran.code == 0, ran
    found = json.loads(ran.out)
    return found if isinstance(found, list) else [found]


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """The JSON of every example, of the small case and of one of unknowns, from one run."""
    with contextlib.chdir(tmp_path_factory.mktemp("judged")):
        cases = [*ALL_EXAMPLES, put("case.yaml", CASE), put("bare.yaml", BARE)]
        return dict(zip(map(str, cases), documents(*cases), strict=True))


class TestJson:
    """The published schema and the contract."""

    def test_every_example_fits_the_schema(self, judged):
        assert len(judged) == len(ALL_EXAMPLES) + 2
        for case, document in judged.items():
            assert document["case"] == case
            assert [error.message for error in SCHEMA.iter_errors(document)] == []

    def test_the_schema_is_strict_enough_to_refuse(self, judged):
        document = judged["case.yaml"]
        assert list(SCHEMA.iter_errors(document | {"verdict": "maybe"}))
        assert list(SCHEMA.iter_errors(document | {"extra": 1}))
        assert list(SCHEMA.iter_errors({key: value for key, value in document.items() if key != "footer"}))

    def test_a_case_of_unknowns(self, judged):
        document = judged["bare.yaml"]
        assert (document["verdict"], document["best"]) == ("measure-first", "unknown")
        assert document["incumbent"] == {
            "drafting": None, "method": None, "rate_tok_s": None, "tokens_per_round": None, "round_ms": None,
        }  # fmt: skip
        assert "incumbent.rate_tok_s" in document["missing"]
        assert document["measurement"]["command"]

    def test_what_the_contract_promises(self, judged):
        document = judged["case.yaml"]
        assert document["schema"] == 1
        assert {point["draft_length"] for point in document["break_even"]} >= {1, 3, 7}
        assert {point["draft_length"] for point in document["projection"]} >= {1, 3, 7}
        assert [arm["name"] for arm in document["alternatives"]] == ["incumbent", "off", "candidate"]
        for point in document["projection"]:
            assert set(point["speedup"]) == {"low", "mid", "high", "probability_above_margin"}
        for gate in document["gates"]:
            assert set(gate) >= {"id", "part", "severity", "outcome", "message", "missing"}

    def test_a_verdict_ends_with_zero_whatever_it_is(self, judged):
        assert {"blocked", "deploy", "measure-first"} <= {document["verdict"] for document in judged.values()}

    def test_facts_say_where_the_case_states_them(self, judged):
        fact = next(fact for fact in judged["case.yaml"]["facts"] if fact["name"] == "target.step_ms")
        line, _, _ = place(CASE, "40").partition(":")
        assert fact["provenance"]["source"] == f"case.yaml:{line}"


def test_markdown_is_the_default_and_has_five_parts():
    put("case.yaml", CASE)
    ran = cli("triage", "case.yaml", *NOW)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("# VERDICT: ")
    parts = [line[3:6] for line in ran.out.splitlines() if line.startswith("## (")]
    assert parts == [f"({part})" for part in "abcde"]


def test_a_summary_is_short(judged):
    put("case.yaml", CASE)
    ran = cli("triage", "case.yaml", *NOW, "--format", "summary")
    assert judged["case.yaml"]["verdict"] in ran.out
    assert 0 < ran.out.count("\n") < 40


def test_unknown_formats():
    assert "'xml' is not one of 'md', 'json', 'summary'" in refused("triage", "case.yaml", "--format", "xml")[-1]


class TestSeveralCases:
    """An array in the given order, a ranking by rate, and one bad file that stops nothing."""

    @pytest.fixture(autouse=True)
    def cases(self):
        put("a.yaml", BARE)
        put("b.yaml", BARE)
        put("bad.yaml", changed(BARE, "schema: 1", "schema: 1\ntitel: x"))

    def test_an_array_in_the_order_given(self):
        assert [item["case"] for item in documents("b.yaml", "a.yaml")] == ["b.yaml", "a.yaml"]

    def test_one_case_is_no_array(self):
        assert json.loads(cli("triage", "a.yaml", "--format", "json").out)["case"] == "a.yaml"

    def test_markdown_ends_with_a_ranking_by_rate(self):
        for name, acceptance in (("low", "0.2"), ("high", "0.9")):
            put(f"{name}.yaml", changed(CASE, "value: 0.7", f"value: {acceptance}"))
        ran = cli("triage", "low.yaml", "high.yaml", *NOW, "--format", "summary")
        *reports, ranking = ran.out.split("\n---\n")
        assert ["low.yaml" in report for report in reports] == [True, False]
        assert 0 < ranking.index("high.yaml") < ranking.index("low.yaml")

    def test_one_bad_file_does_not_stop_the_rest(self):
        ran = cli("triage", "b.yaml", "bad.yaml", "gone.yaml", "a.yaml", "--format", "json")
        assert ran.code == 2
        assert [item["case"] for item in json.loads(ran.out)] == ["b.yaml", "a.yaml"]
        assert ran.problems == [
            "bad.yaml:2:1: unknown key 'titel' (did you mean 'title'?)",
            "gone.yaml: cannot be read: No such file or directory",
        ]

    def test_what_is_left_of_two_cases_is_still_an_array(self):
        ran = cli("triage", "a.yaml", "gone.yaml", "--format", "json")
        assert (ran.code, [item["case"] for item in json.loads(ran.out)]) == (2, ["a.yaml"])

    def test_with_a_bad_file_nothing_is_written(self):
        before = put("out.json", "before")
        assert len(refused("triage", "a.yaml", "bad.yaml", "--format", "json", "-o", "out.json")) == 1
        assert before.read_text() == "before"

    def test_a_mistake_in_the_catalogue_is_reported_once(self):
        put("rules/x.yaml", "schema: 1\nid: x\nrules: 3\npart: a\ntitle: X\n")
        problems = refused("triage", "a.yaml", "b.yaml", "--rules", "rules")
        assert problems == ["rules/x.yaml:3:8: 'rules' must be a list, not 3"]

    def test_all_cases_bad(self):
        assert len(refused("triage", "bad.yaml", "gone.yaml")) == 2


class TestOutputFile:
    """-o FILE: whole or not at all (see test_writing for how)."""

    @pytest.fixture(autouse=True)
    def cases(self):
        put("case.yaml", BARE)
        put("bad.yaml", changed(BARE, "schema: 1", "schema: 1\ntitel: x"))

    def test_the_file_holds_what_stdout_would(self):
        ran = cli("triage", "case.yaml", *NOW, "--format", "json", "-o", "report.json")
        assert (ran.code, ran.out, ran.err) == (0, "", "")
        shown = cli("triage", "case.yaml", *NOW, "--format", "json").out
        with open("report.json", encoding="utf-8") as report:
            assert report.read() == shown
        assert sorted(os.listdir()) == ["bad.yaml", "case.yaml", "report.json"]

    @pytest.mark.parametrize("arguments", [("bad.yaml",), ("gone.yaml",), ("case.yaml", "--rules", "gone")])
    def test_an_error_leaves_the_file_as_it_was(self, arguments):
        before = put("report.md", "before")
        refused("triage", *arguments, "-o", "report.md")
        refused("triage", *arguments, "-o", "new.md")
        assert before.read_text() == "before"
        assert sorted(os.listdir()) == ["bad.yaml", "case.yaml", "report.md"]

    def test_a_folder_that_is_missing(self):
        problems = refused("triage", "case.yaml", "--format", "json", "-o", "gone/report.json")
        assert problems == ["gone/report.json: cannot be written: No such file or directory"]

    def test_a_folder_is_no_file(self, folder):
        (folder / "reports").mkdir()
        assert "'reports' is a directory" in refused("triage", "case.yaml", "-o", "reports")[-1]


class TestNow:
    """--now makes the output the same byte for byte."""

    def test_two_processes_write_the_same_bytes(self):
        words = ["triage", str(ROOT / "examples" / "dflash2-fleet.yaml"), *NOW, "--format"]
        script = f"from specrules.cli.main import run\nfor kind in ('md', 'json', 'summary'): run([*{words}, kind])"
        outputs = [
            subprocess.run(
                [sys.executable, "-c", script],
                capture_output=True,
                env=child_environment(PYTHONHASHSEED=seed),
                timeout=120,
                check=True,
            ).stdout
            for seed in ("1", "2")
        ]
        assert outputs[0] == outputs[1]
        assert outputs[0].count(b"2026-11-29T00:00:00+00:00") == 3

    def test_ages_are_counted_to_it(self):
        put("case.yaml", f"{BARE}incumbent: {{rate_tok_s: {{value: 25, observed_at: 2026-01-01}}}}\n")

        def outcomes(now: str) -> dict[str, str]:
            (found,) = documents("case.yaml", "--now", now)
            assert found["footer"]["now"] == f"{now}T00:00:00+00:00"
            return {gate["id"]: gate["outcome"] for gate in found["gates"]}

        fresh, stale = outcomes("2026-01-02"), outcomes("2027-01-02")
        differing = [name for name, outcome in fresh.items() if stale[name] != outcome]
        assert [(fresh[name], stale[name]) for name in differing] == [("pass", "fail")]

    def test_zones_are_turned_into_utc(self):
        put("case.yaml", BARE)
        (found,) = documents("case.yaml", "--now", "2026-11-29T12:00:00+02:00")
        assert found["footer"]["now"] == "2026-11-29T10:00:00+00:00"

    @pytest.mark.parametrize("text", ["yesterday", "2026-13-01", "", "0001-01-01T00:00:00+14:00"])
    def test_what_is_no_time(self, text):
        assert refused("triage", "case.yaml", "--now", text)[-1] == (
            f"Error: Invalid value for '--now': {text!r} is no time such as 2026-11-29 or 2026-11-29T12:00:00Z"
        )
