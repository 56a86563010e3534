"""Where people run the gate: the pre-commit hooks, the steps of the GitHub action, the GitLab job, the container."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from specrules.cli.main import COMMANDS

from .deployments import OLD_FLAG, PLAIN
from .running import ROOT, child_environment

EXPRESSION = re.compile(r"\$\{\{\s*([\w.-]+)\s*\}\}")


def read(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one deployment that fails and one that passes."""
    folder = tmp_path / "repository"
    (folder / "deploy").mkdir(parents=True)
    (folder / "deploy" / "old.yaml").write_text(OLD_FLAG, encoding="utf-8")
    (folder / "deploy" / "plain.yaml").write_text(PLAIN, encoding="utf-8")
    subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
    monkeypatch.chdir(folder)
    return folder


def program(folder: Path) -> Path:
    """A `specrules` that runs this checkout."""
    folder.mkdir(parents=True)
    file = folder / "specrules"
    file.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m specrules "$@"\n', encoding="utf-8")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return file


def bash(script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a script as GitHub runs a step of the shell bash."""
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    return subprocess.run(
        command, capture_output=True, text=True, env=child_environment(**environment), timeout=300, check=False
    )


class TestPreCommit:
    HOOKS = read(".pre-commit-hooks.yaml")

    def test_hooks_run_commands_that_exist(self) -> None:
        for hook in self.HOOKS:
            name, command = hook["entry"].split()
            assert (name, hook["language"]) == ("specrules", "python")
            assert command in COMMANDS

    @pytest.mark.parametrize(
        ("path", "matches"),
        [("deploy/llm.specrules.yaml", True), ("a.specrules.yml", True), ("deploy/llm.yaml", False)],
    )
    def test_without_files_of_your_own_only_cases_are_judged(self, path: str, matches: bool) -> None:
        assert (re.search(self.HOOKS[0]["files"], path) is not None) is matches

    @pytest.mark.skipif(
        not os.environ.get("SPECRULES_TEST_INDEX") or shutil.which("pre-commit") is None,
        reason="needs pre-commit, and SPECRULES_TEST_INDEX=1 where packages can be installed",
    )
    def test_try_repo(self, repository: Path, tmp_path: Path) -> None:
        (repository / "deploy" / "old.specrules.yaml").write_text("schema: 1\n", encoding="utf-8")
        subprocess.run(["git", "add", "--all"], cwd=repository, check=True)
        command = ["pre-commit", "try-repo", str(ROOT), "specrules-gate", "--files", "deploy/old.specrules.yaml"]
        environment = os.environ | {"PRE_COMMIT_HOME": str(tmp_path / "home")}
        environment.pop("PYTHONPATH", None)
        ran = subprocess.run(
            command, cwd=repository, env=environment, capture_output=True, text=True, timeout=600, check=False
        )
        assert ran.returncode == 1, ran.stdout + ran.stderr
        assert "deploy/old.specrules.yaml:1:1: missing key 'target'" in ran.stdout
        assert "FAIL    deploy/old.yaml: Pod/llm, container server: " in ran.stdout


class TestAction:
    ACTION = read("action.yml")

    def steps(self) -> list[dict[str, Any]]:
        steps: list[dict[str, Any]] = self.ACTION["runs"]["steps"]
        return steps

    def values(self, **inputs: str) -> dict[str, str]:
        declared = {name: given.get("default", "") for name, given in self.ACTION["inputs"].items()}
        assert set(inputs) <= set(declared)
        return {f"inputs.{name}": value for name, value in (declared | inputs).items()} | {
            "github.action_path": str(ROOT)
        }

    def run(self, step: dict[str, Any], temp: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
        """Run one step with the variables that GitHub would give it."""
        values = self.values(**inputs)
        own = {name: EXPRESSION.sub(lambda m: values[m[1]], text) for name, text in step["env"].items()}
        given = {"RUNNER_TEMP": str(temp), "GITHUB_OUTPUT": str(temp / "output")}
        return bash(step["run"], **given, **own, GITHUB_STEP_SUMMARY=str(temp / "summary.md"))

    def judge(self, tmp_path: Path, **inputs: str) -> tuple[subprocess.CompletedProcess[str], dict[str, str]]:
        temp = tmp_path / "temp"
        if not temp.exists():
            program(temp / "specrules" / "bin")
        (temp / "output").unlink(missing_ok=True)
        ran = self.run(self.steps()[1], temp, **inputs)
        lines = (temp / "output").read_text(encoding="utf-8").splitlines()
        return ran, dict(line.split("=", 1) for line in lines)

    def test_inputs_reach_scripts_as_variables_and_never_as_text(self) -> None:
        for step in self.steps():
            assert step["shell"] == "bash"
            assert not EXPRESSION.search(step["run"])
            assert all(EXPRESSION.fullmatch(text) for text in step["env"].values())
        used = {name for step in self.steps() for text in step["env"].values() for name in EXPRESSION.findall(text)}
        assert used == {f"inputs.{name}" for name in self.ACTION["inputs"]} | {"github.action_path"}

    def test_outputs_come_from_the_step(self) -> None:
        for name, output in self.ACTION["outputs"].items():
            assert EXPRESSION.fullmatch(output["value"])[1] == f"steps.gate.outputs.{name}"
        assert self.steps()[1]["id"] == "gate"

    def test_findings_as_annotations_summary_and_sarif(self, tmp_path: Path) -> None:
        ran, outputs = self.judge(tmp_path, files="deploy/*.yaml", junit="gate.xml")
        assert ran.returncode == 1, ran.stderr
        assert outputs == {"exit-code": "1", "sarif": "specrules.sarif"}
        assert "\n::error file=deploy/old.yaml,line=8," in ran.stdout
        assert (tmp_path / "temp" / "summary.md").read_text(encoding="utf-8").startswith("## Failed\n")
        run = json.loads(Path("specrules.sarif").read_text(encoding="utf-8"))["runs"][0]
        assert [item["location"]["uri"] for item in run["artifacts"]] == ["deploy/old.yaml", "deploy/plain.yaml"]
        assert Path("gate.xml").exists()

    def test_inputs_are_obeyed(self, tmp_path: Path) -> None:
        Path("ours.yaml").write_text("schema: 1\nid: ours\nextends: advisory\nrules: {setting-not-removed: warn}\n")
        Path("w.yaml").write_text("schema: 1\nwaivers: []\n")
        ran, outputs = self.judge(
            tmp_path, files="deploy/old.yaml\ndeploy/plain.yaml", policy="ours.yaml", waivers="w.yaml", sarif=""
        )
        assert (ran.returncode, outputs) == (0, {"exit-code": "0", "sarif": ""}), ran.stderr
        assert "WARN    policy ours: 2 files" in ran.stdout
        assert not Path("specrules.sarif").exists()

    def test_no_file_is_no_pass(self, tmp_path: Path) -> None:
        ran, outputs = self.judge(tmp_path, files="charts/**/*.yaml")
        assert (ran.returncode, outputs) == (2, {"exit-code": "2"})
        assert ran.stdout == "::error title=specrules::no file matches the input files\n"
        ran, outputs = self.judge(tmp_path, files="nowhere.yaml")
        assert (ran.returncode, outputs["exit-code"]) == (2, "2")

    def test_nothing_in_an_input_is_run(self, tmp_path: Path) -> None:
        self.judge(tmp_path, files="$(touch${IFS}run) `touch run` ;touch run", policy="$(touch run)")
        assert not Path("run").exists()

    def test_a_file_name_is_no_option(self, tmp_path: Path) -> None:
        Path("--help").write_text(PLAIN, encoding="utf-8")
        ran, _ = self.judge(tmp_path, files="--help")
        assert ran.stdout.startswith("PASS    --help: ")

    def test_the_install_step(self, tmp_path: Path) -> None:
        pytest.importorskip("hatchling", reason="building needs hatchling")
        step, temp = self.steps()[0], tmp_path / "runner"
        temp.mkdir()
        # The packages are those that are here: there may be no index to install from. 0 switches isolation off.
        here = os.pathsep.join(dict.fromkeys(sysconfig.get_paths()[key] for key in ("purelib", "platlib")))
        values = self.values(python=sys.executable)
        own = {name: EXPRESSION.sub(lambda m: values[m[1]], text) for name, text in step["env"].items()}
        pip = {"PIP_NO_INDEX": "1", "PIP_NO_DEPS": "1", "PIP_NO_BUILD_ISOLATION": "0", "PYTHONPATH": here}
        ran = bash(step["run"], RUNNER_TEMP=str(temp), **own, **pip)
        assert ran.returncode == 0, ran.stderr
        installed = [str(temp / "specrules" / "bin" / "specrules"), "gate", "deploy/plain.yaml"]
        judged = subprocess.run(
            installed, env=child_environment(PYTHONPATH=here), capture_output=True, text=True, timeout=120, check=False
        )
        assert judged.returncode == 0, judged.stderr


class TestGitLab:
    JOB = read("integrations/gitlab-ci.yml")["specrules-gate"]

    def test_the_script_writes_the_reports_that_the_job_names(self, tmp_path: Path) -> None:
        folder = program(tmp_path / "bin").parent
        variables = {name: value for name, value in self.JOB["variables"].items() if name != "SPECRULES_IMAGE"}
        path = f"{folder}{os.pathsep}{os.environ['PATH']}"
        ran = subprocess.run(
            ["sh", "-ec", "\n".join(self.JOB["script"])],
            env=child_environment(**variables, PATH=path),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert ran.returncode == 1, ran.stderr
        reports = self.JOB["artifacts"]["reports"]
        (issue, *_) = json.loads(Path(reports["codequality"]).read_text(encoding="utf-8"))
        assert issue["location"]["path"] == "deploy/old.yaml"
        assert Path(reports["junit"]).read_text(encoding="utf-8").startswith("<?xml")
        assert self.JOB["artifacts"]["when"] == "always"
        assert sorted(self.JOB["artifacts"]["paths"]) == sorted(reports.values())


class TestContainer:
    LINES = (ROOT / "Containerfile").read_text(encoding="utf-8").splitlines()

    def test_everything_that_the_build_needs_is_copied(self) -> None:
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
        copied = [word for line in self.LINES if line.startswith("COPY") for word in line.split()[1:-1]]
        assert all((ROOT / name).exists() for name in copied)
        wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
        needed = {
            *wheel["packages"],
            *wheel["force-include"],
            "pyproject.toml",
            project["project"]["readme"],
            "LICENSE",
        }
        assert set(copied) == needed

    def test_it_runs_the_command_without_privileges(self) -> None:
        assert self.LINES.index("USER nobody") < self.LINES.index('ENTRYPOINT ["specrules"]')
