"""`specrules read`: how sure it is, earlier dumps, files larger than memory would like, and the bar."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path

from specrules.cli import read
from specrules.cli.main import run

from .running import ENGINE, SELF_DRAFT, cli, put, refused

RECORDINGS = Path(__file__).parents[1] / "data" / "recordings"
LOG = SELF_DRAFT / "self4.log"
DUMP = "llamacpp:tokens_predicted_total {}\nllamacpp:tokens_predicted_seconds_total {}\n"


def found(*arguments):
    ran = cli("read", *arguments, "--format", "json")
    assert ran.code == 0, ran
    return json.loads(ran.out)


class TestSureness:
    """How sure it is that a file is of one engine."""

    def test_the_text_says_it_below_the_first_line(self):
        _, second, third, *_ = cli("read", LOG).out.splitlines()
        assert second.startswith("  certain, 15 lines recognised")
        assert third == "  era: June 2026 on, every line with its prefix"

    def test_a_named_engine_is_taken_as_it_is(self):
        assert cli("read", LOG, "--engine", "llama.cpp").out.splitlines()[1] == "  as stated, 15 lines recognised"

    def test_json_has_all_candidates(self):
        recognition = found(LOG)["recognition"]
        assert (recognition["sureness"], recognition["stated"]) == ("certain", False)
        assert recognition["matches"][0] == {"engine": "llama.cpp", "lines": 15}
        assert recognition["compared_lines"] is None
        assert "August 2026 on, with -lv 4" in recognition["eras"]

    def test_two_engines_that_print_the_same_are_both_named(self):
        for name in ("ours", "theirs"):
            put(f"engines/{name}.yaml", ENGINE.replace("id: ours", f"id: {name}"))
        put("log", "finished after 5 tokens\n" * 4)
        recognition = found("log", "--engines", "engines")["recognition"]
        assert recognition["sureness"] == "ambiguous"
        assert [item["engine"] for item in recognition["matches"]] == ["ours", "theirs"]


class TestRuns:
    """A bench output with several runs."""

    BENCH = RECORDINGS / "llama.cpp-b11434-bench" / "llama-batched-bench.md"

    def test_all_runs_are_shown_with_what_they_differ_in(self):
        ran = cli("read", self.BENCH)
        assert ran.code == 0
        assert [line for line in ran.out.splitlines() if "run: " in line] == ["  run: prompt=16", "  run: prompt=128"]
        assert [item["run"]["prompt"] for item in found(self.BENCH)] == [16, 128]

    def test_one_run_is_an_object_and_has_no_line_of_its_own(self):
        assert found(self.BENCH, "--where", "prompt=128")["run"] == {"prompt": 128, "steps": 16}
        assert "run: " not in cli("read", self.BENCH, "--where", "prompt=128").out

    def test_an_interval_stands_behind_its_value(self):
        ran = cli("read", self.BENCH, "--where", "prompt=128")
        (row,) = [line for line in ran.out.splitlines() if line.startswith("  rate_tok_s")]
        assert row.split()[:5] == ["rate_tok_s", "70.5188", "(60.7114", "to", "80.3262)"]

    def test_a_run_that_is_not_there(self):
        (message,) = refused("read", self.BENCH, "--where", "prompt=1")
        assert message == f"{self.BENCH}: no run in this file has prompt=1; there are: prompt=16; prompt=128"

    def test_what_is_no_setting(self):
        (message,) = refused("read", self.BENCH, "--where", "prompt")
        assert message.startswith("--where prompt: it has the form NAME=VALUE")

    def test_a_bench_tool_may_be_named(self):
        path = RECORDINGS / "aiperf-0.13.0" / "spec.profile_export_aiperf.json"
        assert found(path, "--engine", "genai-perf")["engine"] == "aiperf"


class TestBefore:
    """Two dumps of one server."""

    def test_the_difference_is_shown(self):
        put("a.txt", DUMP.format(100, 2))
        put("b.txt", DUMP.format(400, 12))
        ran = cli("read", "b.txt", "--before", "a.txt")
        assert (ran.code, ran.err) == (0, "")
        first, *rows = ran.out.splitlines()
        assert first.startswith("b.txt since a.txt: ")
        assert any(row.split()[:3] == ["rate_tok_s", "30", "tok/s"] for row in rows)
        data = found("b.txt", "--before", "a.txt")
        assert (data["before"], data["idle"]) == ("a.txt", False)

    def test_an_idle_window_has_no_facts(self):
        put("a.txt", DUMP.format(100, 2))
        data = found("a.txt", "--before", "a.txt")
        assert (data["idle"], data["facts"]) == (True, [])
        assert "idle window" in cli("read", "a.txt", "--before", "a.txt").err

    def test_a_restart_is_refused_with_both_values(self):
        put("a.txt", DUMP.format(100, 2))
        put("b.txt", DUMP.format(40, 3))
        (message,) = refused("read", "b.txt", "--before", "a.txt")
        assert message.startswith("b.txt:1: llamacpp:tokens_predicted_total went down from 100 (a.txt:1) to 40: ")

    def test_a_log_cannot_be_subtracted(self):
        put("a.txt", DUMP.format(100, 2))
        (message,) = refused("read", LOG, "--before", "a.txt")
        assert message.endswith(": this is a server log: only metrics dumps can be subtracted from each other")


class TestBar:
    """Progress, for people who wait."""

    @staticmethod
    def shown(path: object) -> str:
        """What a terminal shows while a file is read."""
        screen = io.StringIO()
        screen.isatty = lambda: True
        with contextlib.redirect_stderr(screen):
            assert run(["read", str(path), "-o", "out"]) == 0
        return screen.getvalue()

    def test_a_big_file_shows_how_much_was_read(self, monkeypatch):
        monkeypatch.setattr(read, "_BIG", 1 << 16)
        put("log", "serve_api: mtp 63 tok in 1.31s = 47.97 t/s | 33 rounds, commit 1.88/round\n" * 1000)
        shown = self.shown("log")
        assert "reading log" in shown
        assert "100%" in shown
        assert Path("out").read_text(encoding="utf-8").startswith("log: ")

    def test_a_small_file_shows_nothing(self):
        assert self.shown(LOG) == ""

    def test_without_a_terminal_nothing_is_shown(self, monkeypatch):
        monkeypatch.setattr(read, "_BIG", 16)
        assert cli("read", LOG).err == ""
