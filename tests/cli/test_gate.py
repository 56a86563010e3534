from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from specrules.cli.gate import exit_code

from .deployments import OLD_FLAG, PLAIN, RENAMED
from .running import BARE, CASE, NOW, changed, child_environment, cli, imported, place, put, refused

SHIPPED = ("default", "strict", "advisory")


class TestExitCodes:
    def test_outcomes(self):
        assert [exit_code(outcome) for outcome in ("pass", "warn", "fail", "error")] == [0, 0, 1, 2]

    def test_nothing_wrong(self):
        assert cli("gate", put("llm.yaml", PLAIN), *NOW).code == 0

    def test_a_finding_that_blocks(self):
        ran = cli("gate", put("llm.yaml", OLD_FLAG), *NOW)
        assert (ran.code, ran.err) == (1, "")

    def test_a_file_that_cannot_be_read_beside_the_others(self):
        put("llm.yaml", OLD_FLAG)
        ran = cli("gate", "nowhere.yaml", "llm.yaml", *NOW)
        assert ran.code == 2
        assert "ERROR   nowhere.yaml: cannot be read: No such file or directory" in ran.out
        assert f"llm.yaml:{place(OLD_FLAG, RENAMED)}" in ran.out

    def test_an_unknown_that_blocks_is_1_and_not_2(self):
        put("case.yaml", BARE)
        assert cli("gate", "case.yaml", *NOW).code == 1
        assert cli("gate", "case.yaml", *NOW, "--policy", "advisory").code == 0

    def test_a_case_that_is_not_to_be_deployed_fails_under_every_policy(self):
        put("case.yaml", changed(CASE, "rate_tok_s: 25", "rate_tok_s: 2500"))
        assert [cli("gate", "case.yaml", *NOW, "--policy", policy).code for policy in SHIPPED] == [1, 1, 1]

    def test_no_file_is_a_mistake(self):
        assert refused("gate")[-1] == "Error: Missing argument 'CASE|DEPLOYMENT...'."


class TestConfiguration:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (("--policy", "strikt"), r"no policy 'strikt'; known are .* \(did you mean 'strict'\?\)"),
            (("--policy", "nowhere.yaml"), r"nowhere\.yaml: --policy: no such file"),
            (("--waivers", "nowhere.yaml"), r"nowhere\.yaml: cannot be read: No such file or directory"),
            (("--case", "nowhere.yaml"), r"nowhere\.yaml: cannot be read: No such file or directory"),
            (("--now", "soon"), r"Error: Invalid value for '--now': 'soon' is no time .*"),
        ],
    )
    def test_what_does_not_exist(self, options: tuple[str, ...], message: str):
        assert re.fullmatch(message, refused("gate", put("llm.yaml", PLAIN), *options)[-1])

    def test_a_policy_with_mistakes_is_refused_with_all_of_them(self):
        text = "schema: 1\nid: ours\nextends: default\nthresholds: {margn: 0.1}\nrules: {verdcit: warn}\n"
        assert refused("gate", put("llm.yaml", PLAIN), "--policy", put("ours.yaml", text)) == [
            "ours.yaml:4:14: threshold 'margn' is not described under 'docs' (did you mean 'margin'?)",
            "ours.yaml:5:9: there is no rule 'verdcit' (did you mean 'verdict'?)",
        ]

    def test_a_policy_of_the_repository_by_its_id(self):
        put(".specrules/rules/ours.yaml", "schema: 1\nid: ours\nextends: default\nrules: {setting-not-removed: info}\n")
        ran = cli("gate", put("llm.yaml", OLD_FLAG), "--policy", "ours", *NOW)
        assert (ran.code, "policy ours: " in ran.out) == (0, True)


def test_a_verdict_is_told_by_the_policy_that_the_gate_uses():
    put("case.yaml", CASE)
    limits = {}
    for policy in SHIPPED:
        found = json.loads(cli("triage", "case.yaml", "--policy", policy, "--format", "json", *NOW).out)
        limits[policy] = next(fact["value"] for fact in found["facts"] if fact["name"] == "policy.max_age_days")
    assert limits == {"default": 90, "strict": 30, "advisory": 90}
    assert refused("triage", "case.yaml", "--policy", "strikt")[0].startswith("no policy 'strikt'")


def test_the_web_is_only_asked_where_the_command_says_so():
    put("case.yaml", changed(BARE, "target: {name: big}", "target: {name: big, file: 'http://127.0.0.1:9/big.gguf'}"))
    offline, online = (cli("gate", "case.yaml", *more) for more in ((), ("--fetch",)))
    assert (offline.code, online.code) == (2, 2)
    assert "--fetch" in offline.out
    assert "--fetch" not in online.out
    assert "127.0.0.1:9" in online.out


class TestOutputs:
    def test_several_formats_at_once_and_text_on_stdout(self):
        put("llm.yaml", OLD_FLAG)
        names = {"json": "a.json", "sarif": "a.sarif", "junit": "a.xml", "gitlab": "a.gl.json", "md": "a.md"}
        targets = [part for name, file in names.items() for part in ("-o", f"{name}={file}")]
        ran = cli("gate", "llm.yaml", *NOW, *targets)
        assert ran.code == 1
        assert ran.out.startswith("FAIL    llm.yaml: Pod/llm, container server: ")
        assert json.loads(Path("a.json").read_text())["outcome"] == "fail"
        assert json.loads(Path("a.sarif").read_text())["version"] == "2.1.0"
        assert Path("a.xml").read_text().startswith("<?xml")
        assert json.loads(Path("a.gl.json").read_text())[0]["location"]["path"] == "llm.yaml"
        assert Path("a.md").read_text().startswith("## Failed\n")
        assert sorted(os.listdir()) == sorted(["llm.yaml", *names.values()])

    def test_a_document_on_stdout_stands_alone(self):
        put("llm.yaml", OLD_FLAG)
        for target in ("json=-", "json"):
            assert json.loads(cli("gate", "llm.yaml", "-o", target).out)["policy"] == "default"

    def test_errors_are_told_where_no_text_tells_them(self):
        ran = cli("gate", "nowhere.yaml", "-o", "json=-")
        assert ran.err == "nowhere.yaml: cannot be read: No such file or directory\n"
        assert cli("gate", "nowhere.yaml").err == ""

    def test_text_in_a_file_leaves_stdout_empty(self):
        ran = cli("gate", put("llm.yaml", PLAIN), "-o", "text=a.txt")
        assert (ran.out, Path("a.txt").read_text().splitlines()[-1][:20]) == ("", "PASS    policy defau")

    @pytest.mark.parametrize(
        ("outputs", "message"),
        [
            (("sarfi=a",), "unknown format 'sarfi': use one of .* \\(did you mean 'sarif'\\?\\)"),
            (("sarif=",), "-o sarif=: expected FORMAT=FILE, such as sarif=gate.sarif"),
            (("json", "sarif"), "json and sarif cannot share stdout: .*"),
            (("text", "json=-"), "text and json cannot share stdout: .*"),
            (("json=a", "sarif=./a"), "-o sarif=./a: cannot be written, json goes there already"),
            (("json=llm.yaml",), "-o json=llm.yaml: cannot be written, it is one of the files to judge: llm.yaml"),
            (("json=gone/a",), "gone/a: cannot be written: No such file or directory"),
        ],
    )
    def test_outputs_that_make_no_sense(self, outputs: tuple[str, ...], message: str):
        put("llm.yaml", PLAIN)
        targets = [part for output in outputs for part in ("-o", output)]
        assert re.fullmatch(message, refused("gate", "llm.yaml", *targets)[-1])
        assert Path("llm.yaml").read_text() == PLAIN
        assert os.listdir() == ["llm.yaml"]

    def test_one_file_that_cannot_be_written_keeps_all_as_they_were(self):
        put("llm.yaml", OLD_FLAG)
        put("a.json", "before")
        refused("gate", "llm.yaml", "-o", "json=a.json", "-o", "sarif=gone/a.sarif")
        assert Path("a.json").read_text() == "before"
        assert sorted(os.listdir()) == ["a.json", "llm.yaml"]

    def test_the_same_input_gives_the_same_bytes(self):
        put("llm.yaml", OLD_FLAG)
        put("case.yaml", CASE)
        formats = ("text", "json", "sarif", "junit", "github", "gitlab", "md")
        for folder in ("one", "two"):
            os.mkdir(folder)
            targets = [part for name in formats for part in ("-o", f"{name}={folder}/{name}")]
            cli("gate", "llm.yaml", "case.yaml", "nowhere.yaml", *NOW, *targets)
        for name in formats:
            assert Path("one", name).read_bytes() == Path("two", name).read_bytes(), name


class TestGitHub:
    def test_text_and_annotations_share_a_log(self):
        put("llm.yaml", OLD_FLAG)
        ran = cli("gate", "llm.yaml", "-o", "text=-", "-o", "github=-")
        line = place(OLD_FLAG, RENAMED).split(":")
        assert ran.out.startswith("FAIL ")
        assert f"::error file=llm.yaml,line={line[0]},col={line[1]},title=setting-not-removed::" in ran.out

    def test_the_summary_is_added_to_that_of_the_step(self, monkeypatch):
        monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(put("summary.md", "before\n").resolve()))
        cli("gate", put("llm.yaml", OLD_FLAG), "-o", "github=-")
        assert Path("summary.md").read_text().startswith("before\n## Failed\n")
        before = Path("summary.md").read_text()
        cli("gate", "llm.yaml", "-o", "json=-")
        assert Path("summary.md").read_text() == before

    def test_paths_start_at_the_root_of_the_repository(self, monkeypatch):
        os.mkdir(".git")
        put("services/llm/llm.yaml", OLD_FLAG)
        monkeypatch.chdir("services/llm")
        assert "file=services/llm/llm.yaml," in cli("gate", "llm.yaml", "-o", "github=-").out
        assert json.loads(cli("gate", "llm.yaml", "-o", "json=-").out)["subjects"][0]["path"] == "llm.yaml"


class TestTerminal:
    def on_terminal(self, **environment: str) -> str:
        """What the gate prints where stdout is a terminal."""
        ours, theirs = pty.openpty()
        command = [sys.executable, "-m", "specrules", "gate", "llm.yaml"]
        with subprocess.Popen(command, stdout=theirs, env=child_environment(TERM="xterm", **environment)) as child:
            os.close(theirs)
            found = b""
            while True:
                try:
                    part = os.read(ours, 4096)
                except OSError:
                    break
                if not part:
                    break
                found += part
            child.wait(60)
        os.close(ours)
        return found.decode()

    def test_colours_only_where_they_are_wanted(self):
        put("llm.yaml", OLD_FLAG)
        assert "\x1b[31;1mFAIL" in self.on_terminal()
        assert "\x1b" not in self.on_terminal(NO_COLOR="1")
        assert "\x1b" not in cli("gate", "llm.yaml").out


def test_an_interrupted_run_leaves_everything_as_it_was():
    put("gate.sarif", "before")
    command = [sys.executable, "-m", "specrules", "gate", "-", "-o", "sarif=gate.sarif"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=child_environment()
    ) as child:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not _waits_for_input(child.pid):
            time.sleep(0.05)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=60)
    assert (child.returncode, out) == (130, b""), err
    assert err.decode().splitlines()[-1] == "interrupted"
    assert Path("gate.sarif").read_text() == "before"
    assert os.listdir() == ["gate.sarif"]


def _waits_for_input(pid: int) -> bool:
    """Whether a process sleeps and has nothing left to load."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        first = Path(f"/proc/{pid}/syscall").read_text().split()[:2]
    except OSError:
        return False
    return state == "S" and first[:1] == ["0"] and first[1:] == ["0x0"]


def test_rendered_charts_come_through_a_pipe():
    ran = subprocess.run(
        [sys.executable, "-m", "specrules", "gate", "-"],
        input=OLD_FLAG,
        capture_output=True,
        text=True,
        env=child_environment(),
        timeout=120,
        check=False,
    )
    assert ran.returncode == 1
    assert f"<stdin>:{place(OLD_FLAG, RENAMED)}" in ran.stdout


def test_a_manifest_needs_no_arithmetic_and_no_network():
    put("llm.yaml", OLD_FLAG)
    ran = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "specrules", "gate", "llm.yaml"],
        capture_output=True,
        text=True,
        env=child_environment(),
        timeout=120,
        check=False,
    )
    found = {line.rpartition("|")[2].strip() for line in ran.stderr.splitlines() if line.startswith("import time:")}
    assert "specrules.pipeline.gate" in found
    assert not found & {"numpy", "httpx", "gguf", "re2", "prometheus_client", "specrules.pipeline.triage"}


def test_the_overview_stays_light():
    assert "specrules.pipeline.gate" not in imported("--help")
