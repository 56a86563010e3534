"""The entry point: exit codes, streams, help, and what is not imported."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest

from specrules.cli import main
from specrules.cli.main import COMMANDS, run
from specrules.version import __version__

from .running import BARE, EXAMPLES, RULES, child_environment, cli, imported, process, put, refused

HEAVY = {"numpy", "pydantic", "jinja2", "yaml", "httpx", "gguf", "re2", "prometheus_client"}


def commands() -> list[list[str]]:
    """Every command and subcommand."""
    found = [[]]
    for name in COMMANDS:
        found.append([name])
        command = main.cli.get_command(click.Context(main.cli), name)
        if isinstance(command, click.Group):
            found += [[name, inner] for inner in command.commands]
    return found


def in_terminal(*words: str, **environment: str) -> str:
    """What a command shows on a terminal of its own."""
    shown, terminal = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "specrules", *words],
        stdout=terminal,
        stderr=terminal,
        env=child_environment(**environment),
    ):
        os.close(terminal)
        output = b""
        # A terminal that everybody has closed reads as an error on Linux.
        with contextlib.suppress(OSError):
            while part := os.read(shown, 65536):
                output += part
    os.close(shown)
    return output.decode()


class TestHelp:
    """Help goes to stdout, shows an example, and loads nothing."""

    @pytest.mark.parametrize("words", commands(), ids=" ".join)
    def test_every_command_shows_an_example_line_by_line(self, words):
        ran = cli(*words, "--help")
        assert (ran.code, ran.err) == (0, "")
        lines = ran.out.splitlines()
        start = next(index for index, line in enumerate(lines) if line.strip() in {"Example:", "Examples:"})
        assert lines[start + 1].strip().startswith(("specrules ", "curl ", "eval "))
        assert "\\b" not in ran.out

    def test_the_overview_lists_every_command(self):
        ran = cli("--help")
        for name, (_, summary) in COMMANDS.items():
            assert f"  {name} " in ran.out
            assert summary in ran.out

    def test_the_summaries_of_the_overview_are_those_of_the_commands_modules(self):
        for name, (module, _) in COMMANDS.items():
            assert __import__(module, fromlist=["command"]).command.name == name

    def test_help_and_version_import_nothing_heavy(self):
        for argument in ("--help", "--version"):
            found = imported(argument)
            assert "specrules.cli.main" in found
            assert {name.partition(".")[0] for name in found} & HEAVY == set()
            assert {name for name in found if name.startswith("specrules.")} == {
                "specrules.errors", "specrules.version", "specrules.cli", "specrules.cli.main", "specrules.cli.options",
            }  # fmt: skip

    def test_reading_a_file_does_not_load_the_arithmetic(self):
        found = imported("read", str(EXAMPLES / "smollm2-self-draft" / "self4.log"))
        assert "re2" in found
        assert found & {"numpy", "jinja2", "httpx", "gguf", "specrules.derive"} == set()

    def test_the_help_of_a_command_loads_no_model(self):
        assert imported("triage", "--help") & HEAVY == set()

    def test_version(self):
        ran = cli("--version")
        assert (ran.code, ran.out, ran.err) == (0, f"specrules {__version__}\n", "")


class TestUsage:
    """Misuse is exit code 2 with a message on stderr."""

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (["tirage"], "Error: no command 'tirage' (did you mean 'triage'?)"),
            (["--frobnicate"], "Error: No such option '--frobnicate'."),
            (["engines", "lst"], "Error: no command 'lst' (did you mean 'list'?)"),
            (["rules", "tset"], "Error: no command 'tset' (did you mean 'test'?)"),
            (["triage", "--formt", "md"], "Error: No such option '--formt'."),
            (["triage", "case.yaml", "--set"], "Error: Option '--set' requires an argument."),
            (["read"], "name a file to read, or a server with --prometheus URL"),
            (["export", "prometheus-rules"], "Error: Missing argument 'CASE'."),
            (["read", "a", "b"], "Error: Got unexpected extra argument (b)"),
        ],
    )
    def test_messages(self, words, message):
        assert refused(*words)[-1].startswith(message)

    @pytest.mark.parametrize("words", [[], ["engines"], ["rules"]], ids=["nothing", "engines", "rules"])
    def test_a_command_that_is_missing_shows_the_help_on_stderr(self, words):
        ran = cli(*words)
        assert (ran.code, ran.out) == (2, "")
        assert "Commands:" in ran.err


class TestProcess:
    """What only a process of its own shows."""

    def test_python_dash_m(self, folder):
        ran = process("--version", cwd=folder)
        assert (ran.returncode, ran.stdout, ran.stderr) == (0, f"specrules {__version__}\n", "")

    def test_the_exit_code_and_the_streams_of_an_error(self, folder):
        ran = process("triage", "gone.yaml", cwd=folder)
        assert (ran.returncode, ran.stdout) == (2, "")
        assert ran.stderr == "gone.yaml: cannot be read: No such file or directory\n"

    @pytest.mark.parametrize(
        ("words", "code"),
        [
            (["--help"], 0),
            (["triage", "case.yaml", "--format", "summary"], 0),
            (["rules", "test", "--rules", "rules"], 1),
        ],
        ids=["help", "triage", "rules test"],
    )
    def test_a_reader_that_has_gone_changes_no_exit_code(self, words, code):
        put("case.yaml", BARE)
        put("rules/ours.yaml", RULES)
        reading, writing = os.pipe()
        os.close(reading)
        try:
            ran = subprocess.run(
                [sys.executable, "-m", "specrules", *words],
                stdout=writing,
                stderr=subprocess.PIPE,
                text=True,
                env=child_environment(),
                timeout=120,
                check=False,
            )
        finally:
            os.close(writing)
        assert ran.returncode == code
        assert all("has no case" in line for line in ran.stderr.splitlines())

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
    def test_a_full_disk_is_no_bug_of_specrules(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            ran = subprocess.run(
                [sys.executable, "-m", "specrules", "rules", "list"],
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                env=child_environment(),
                timeout=120,
                check=False,
            )
        assert (ran.returncode, ran.stderr) == (2, "<stdout>: cannot be written: No space left on device\n")

    def test_pipes_get_utf_8_whatever_the_encoding_of_the_terminal(self):
        put("case.yaml", BARE.replace("name: big", "name: größer"))
        ran = process("triage", "case.yaml", "--format", "json", PYTHONIOENCODING="latin-1")
        assert (ran.returncode, ran.stderr) == (0, "")
        assert json.loads(ran.stdout)["target"] == "größer"

    def test_a_terminal_without_the_characters_of_a_name(self):
        put("case.yaml", BARE.replace("name: big", "name: 大"))
        shown = in_terminal("triage", "case.yaml", PYTHONIOENCODING="latin-1")
        assert "target `\\u5927`" in shown

    def test_interrupting_it(self):
        os.mkfifo("endless.log")
        running = subprocess.Popen(
            [sys.executable, "-m", "specrules", "read", "endless.log"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=child_environment(),
        )
        # Opening the pipe for writing returns when the command has opened it for reading.
        with running, open("endless.log", "w", encoding="utf-8"):
            time.sleep(0.1)
            running.send_signal(signal.SIGINT)
            out, err = running.communicate(timeout=60)
        assert (running.returncode, out, err.strip()) == (130, "", "interrupted")


class TestBugs:
    """Errors that are nobody's mistake but ours."""

    @pytest.fixture(autouse=True)
    def broken(self, monkeypatch):
        @click.command()
        def command() -> None:
            raise KeyError("lost")

        module = type(sys)("broken_command")
        module.command = command
        monkeypatch.setitem(sys.modules, "broken_command", module)
        monkeypatch.setattr(main, "COMMANDS", {"broken": ("broken_command", "Fails.")})

    def test_are_said_to_be_bugs(self):
        ran = cli("broken")
        assert (ran.code, ran.out) == (2, "")
        assert ran.err.splitlines() == [
            "internal error: KeyError: 'lost'",
            "This is a bug in specrules. Run again with SPECRULES_DEBUG=1 for a traceback to report.",
        ]

    def test_show_a_traceback_on_request(self, monkeypatch):
        monkeypatch.setenv("SPECRULES_DEBUG", "1")
        with pytest.raises(KeyError, match="lost"):
            run(["broken"])
