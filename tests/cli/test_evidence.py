"""`specrules read`, and the evidence files of a case: what is read, what is refused, and where."""

from __future__ import annotations

import io
import json
import sys

import pytest

from .running import CASE, ENGINE, NOW, SELF_DRAFT, changed, cli, put, refused

HALOGEN = "serve_api: mtp 63 tok in 1.31s = 47.97 t/s | 33 rounds, commit 1.88/round\n"
LOG = (SELF_DRAFT / "self4.log").read_text(encoding="utf-8")
LONG = "x" * 70_000


def judge(*lines: str, kind: str = "json"):
    """Run the small case with these evidence entries."""
    put("case.yaml", CASE + "evidence:\n" + "".join(f"  - {line}\n" for line in lines))
    return cli("triage", "case.yaml", *NOW, "--format", kind)


def refusals(*lines: str) -> list[str]:
    ran = judge(*lines)
    assert (ran.code, ran.out) == (2, ""), ran
    assert "internal error" not in ran.err
    return ran.problems


class TestRead:
    """One file."""

    def test_the_engine_is_detected(self):
        put("hal.log", HALOGEN)
        ran = cli("read", "hal.log")
        assert (ran.code, ran.err) == (0, "")
        first, *facts = ran.out.splitlines()
        assert first.startswith("hal.log: ")
        assert first.endswith(" of halogen-flash-server (reader serve-api-log)")
        rows = {line.split()[0]: line.split()[1:] for line in facts}
        assert rows["tokens"] == ["63", "tokens", "hal.log:1"]
        assert rows["tokens_per_round"] == ["1.88", "tokens", "hal.log:1"]
        assert rows["drafting"] == ["true", "hal.log:1"]

    def test_the_files_of_a_real_run_agree(self):
        def drafted(name: str) -> tuple[object, ...]:
            ran = cli("read", SELF_DRAFT / name, "--format", "json")
            assert ran.code == 0, ran
            found = json.loads(ran.out)
            facts = {fact["name"]: fact["value"] for fact in found["facts"]}
            return found["engine"], facts["rounds"], facts["drafted"], facts["accepted"]

        assert drafted("self4.log") == ("llama.cpp", 13, 50, 50)
        assert drafted("self4.metrics.txt") == ("llama.cpp", 13, 50, 50)

    @pytest.mark.parametrize("name", ["self4.slots.json", "self4.response.json", "d_tok30000.log", "mdonly.log"])
    def test_files_of_the_example_are_of_llama_cpp(self, name):
        ran = cli("read", SELF_DRAFT / name, "--format", "json")
        assert ran.code == 0, ran
        found = json.loads(ran.out)
        facts = {fact["name"]: fact["value"] for fact in found["facts"]}
        assert (found["engine"], facts["drafting"]) == ("llama.cpp", name.startswith("self4"))

    def test_json_holds_facts_with_provenance(self):
        put("hal.log", HALOGEN)
        found = json.loads(cli("read", "hal.log", "--format", "json").out)
        assert (found["schema"], found["engine"], found["reader"]) == (1, "halogen-flash-server", "serve-api-log")
        fact = next(fact for fact in found["facts"] if fact["name"] == "rounds")
        assert (fact["value"], fact["provenance"]["source"]) == (33, "hal.log:1")

    def test_standard_input(self, monkeypatch):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(HALOGEN.encode())))
        ran = cli("read", "-", "--engine", "halogen-flash-server")
        assert ran.code == 0
        assert "<stdin>:1" in ran.out

    def test_an_alias_of_the_engine(self):
        assert cli("read", SELF_DRAFT / "self4.log", "--engine", "llama-server").code == 0

    def test_an_engine_of_a_layer_is_detected_too(self):
        put("engines/ours.yaml", ENGINE)
        put("ours.log", "finished after 7 tokens\n")
        ran = cli("read", "ours.log", "--engines", "engines")
        assert (ran.code, "tokens  7  tokens  ours.log:1" in ran.out) == (0, True)

    def test_a_log_cut_in_mid_line_is_read_with_a_warning(self):
        put("cut.log", LOG[: LOG.rindex("\n", 0, -1) + 20])
        ran = cli("read", "cut.log", "--format", "json")
        lines = LOG.count("\n")
        assert (ran.code, ran.problems) == (0, [f"cut.log:{lines}: the last line has no end and was not read"])
        assert json.loads(ran.out)["warnings"] == ran.problems
        facts = {fact["name"]: fact["value"] for fact in json.loads(ran.out)["facts"]}
        assert facts["drafting"] is True

    def test_bytes_that_are_no_text_are_replaced_with_a_warning(self):
        put("hal.log", HALOGEN.encode() + b"\xe9\xff\n")
        ran = cli("read", "hal.log")
        assert (ran.code, ran.problems) == (0, ["hal.log: 2 characters are not valid UTF-8 and were replaced"])

    @pytest.mark.parametrize(
        ("content", "problem"),
        [
            ("hello\nworld\n", "x.log: nothing in this file is known from any engine ("),
            (b"\x00\x01\x02" * 50, "x.log:1: the file is binary: it holds a NUL byte here"),
            (b"a\nb\x00\n", "x.log:2: the file is binary: it holds a NUL byte here"),
            (b"\x1f\x8b\x08\x00" * 20, "x.log:1: the file is binary: it holds a NUL byte here (decompress it first)"),
            ("", "x.log: the file is empty"),
            (" \n\n", "x.log: the file is empty"),
            (f"{HALOGEN}{LONG}\n", "x.log:2: the line has more than 65536 characters"),
            ('{"timings": {"predicted_n": 3,}}\n', "x.log:1:31: this is not JSON: "),
            ('{"a": 1,\n "b": }\n', "x.log:2:7: this is not JSON: "),
            ("[]", "x.log: nothing in this file is known from any engine ("),
        ],
        ids=[
            "unknown",
            "binary",
            "binary later",
            "gzip",
            "empty",
            "blank",
            "long line",
            "no json",
            "no json 2",
            "json",
        ],
    )
    def test_what_cannot_be_read(self, content, problem):
        put("x.log", content)
        problems = refused("read", "x.log")
        assert len(problems) == 1
        assert problems[0].startswith(problem)

    def test_files_that_cannot_be_opened(self, folder):
        assert refused("read", "gone.log") == ["gone.log: cannot be read: No such file or directory"]
        (folder / "logs").mkdir()
        assert refused("read", "logs") == ["logs: cannot be read: Is a directory"]

    def test_a_log_of_another_engine_names_it(self):
        put("hal.log", HALOGEN)
        (problem,) = refused("read", "hal.log", "--engine", "llama.cpp")
        assert problem.startswith("hal.log: nothing in this file is known from llama.cpp, which reads: server log, ")
        assert "(halogen-flash-server recognises it as its " in problem
        (problem,) = refused("read", SELF_DRAFT / "self4.log", "--engine", "halogen-flash-server")
        assert "llama.cpp recognises it as its server log" in problem

    def test_an_unknown_engine(self):
        (problem,) = refused("read", "hal.log", "--engine", "lama.cpp")
        assert problem.startswith("no engine 'lama.cpp'; known are ")
        assert problem.endswith(" (did you mean 'llama.cpp'?)")

    def test_the_output_file_is_left_alone_on_an_error(self):
        before = put("facts.json", "before")
        refused("read", "gone.log", "-o", "facts.json")
        assert before.read_text() == "before"


class TestCase:
    """The evidence of a case, with paths from its folder."""

    def test_facts_come_with_their_file_and_line(self):
        put("logs/self4.log", LOG)
        found = json.loads(judge("{path: logs/self4.log, arm: candidate, observed_at: 2026-11-01}").out)
        fact = next(fact for fact in found["facts"] if fact["name"] == "candidate.drafting")
        assert fact["value"] is True
        assert fact["provenance"]["source"].startswith("logs/self4.log")
        assert fact["provenance"]["observed_at"] == "2026-11-01T00:00:00Z"

    def test_paths_start_at_the_case(self):
        put("deep/hal.log", HALOGEN)
        put("deep/case.yaml", CASE + "evidence:\n  - {path: hal.log, arm: off, engine: halogen-flash-server}\n")
        assert cli("triage", "deep/case.yaml", "--format", "summary").code == 0

    def test_a_log_cut_in_mid_line_is_a_notice_of_the_report(self):
        put("cut.log", LOG[: LOG.rindex("\n", 0, -1) + 20])
        ran = judge("{path: cut.log, arm: candidate}")
        assert ran.code == 0
        notice = f"cut.log:{LOG.count(chr(10))}: the last line has no end and was not read"
        assert notice in json.loads(ran.out)["notices"]

    def test_a_log_of_another_engine_names_it(self):
        put("hal.log", HALOGEN)
        (problem,) = refusals("{path: hal.log, arm: candidate}")
        assert problem.startswith("hal.log: nothing in this file is known from llama.cpp, which reads: ")
        assert "(halogen-flash-server recognises it as its " in problem

    def test_an_entry_may_name_the_other_engine(self):
        put("hal.log", HALOGEN)
        found = json.loads(judge("{path: hal.log, arm: incumbent, engine: halogen-flash-server}").out)
        fact = next(fact for fact in found["facts"] if fact["name"] == "incumbent.tokens_per_round")
        assert fact["value"] == 1.88

    def test_a_file_of_another_engine_is_not_read_as_of_the_version_of_the_case(self):
        # Version 0.1.0 is before the metrics of halogen-flash-server, but it is not halogen-flash-server's.
        put("engines/ours.yaml", ENGINE)
        metrics = "halogen:requests_total 1\nllamacpp:tokens_predicted_total 9\n"
        put("halogen.prom", metrics)
        text = changed(
            CASE, "id: llama.cpp\n  version: b11434\n  methods: [draft-simple]", 'id: ours\n  version: "0.1.0"'
        )
        put("case.yaml", f"{text}evidence:\n  - {{path: halogen.prom, arm: off, engine: halogen-flash-server}}\n")
        ran = cli("triage", "case.yaml", "--engines", "engines", "--format", "summary")
        assert (ran.code, ran.err) == (0, "")

    def test_an_unknown_engine_has_the_place_of_its_entry(self):
        put("hal.log", HALOGEN)
        (problem,) = refusals("{path: hal.log, arm: candidate, engine: halogen-flash-sever}")
        line = CASE.count("\n") + 2
        assert problem.startswith(f"case.yaml:{line}:45: no engine 'halogen-flash-sever'; known are ")
        assert problem.endswith(" (did you mean 'halogen-flash-server'?)")

    def test_the_problems_of_all_files_come_at_once(self):
        put("binary.log", b"\x00")
        put("other.log", "hello\n")
        put("long.log", LONG + "\n")
        put("bad.json", '{"timings": \n')
        names = ["binary.log", "other.log", "gone.log", "long.log", "bad.json"]
        problems = refusals(*(f"{{path: {name}, arm: candidate}}" for name in names))
        assert [problem.split(": ")[0] for problem in problems] == [
            "binary.log:1", "other.log", "gone.log", "long.log:1", "bad.json:2:1",
        ]  # fmt: skip

    def test_an_arm_that_does_not_exist(self):
        (problem,) = refusals("{path: x.log, arm: candidat}")
        assert problem.endswith("not 'candidat' (did you mean 'candidate'?)")

    def test_standard_input_is_no_evidence_of_a_case(self):
        (problem,) = refusals("{path: '-', arm: candidate}")
        line = CASE.count("\n") + 2
        assert problem == f"case.yaml:{line}:12: standard input cannot be the evidence of a case: name a file"
