"""The wheel: its content, and that it runs outside the checkout, unpacked and as an archive."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest

from specrules.cli import main

pytest.importorskip("hatchling", reason="building needs hatchling: pip install hatchling")

ROOT = Path(__file__).parents[1]
DATA = ("engines", "benches", "rules", "templates", "schemas", "prompts")
PREFIX = "specrules/_data/"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The wheel and the sdist, built as pip and build do it."""
    folder = tmp_path_factory.mktemp("dist")
    script = "from hatchling import build\nimport sys\n" + "".join(
        f"print(build.{kind}(sys.argv[1]))\n" for kind in ("build_wheel", "build_sdist")
    )
    ran = subprocess.run(
        [sys.executable, "-c", script, str(folder)], cwd=ROOT, capture_output=True, text=True, timeout=300, check=True
    )
    wheel, sdist = ran.stdout.split()[-2:]
    return folder / wheel, folder / sdist


@pytest.fixture(scope="module")
def wheel(built):
    return built[0]


def tracked(*folders: str) -> set[str]:
    """The files of folders that belong to the project: those that git knows or would take."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate", *folders]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        files = (path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file())
        return {path.relative_to(ROOT).as_posix() for path in files if "__pycache__" not in path.parts}
    return {name for name in listed.stdout.splitlines() if (ROOT / name).is_file()}


def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if not name.endswith("/")}


def run(*arguments: str, path: Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the command line from a folder or an archive instead of the checkout, with the dependencies that are here."""
    paths = [str(path), *dict.fromkeys(sysconfig.get_paths()[key] for key in ("purelib", "platlib"))]
    return subprocess.run(
        # -S: no editable install of the checkout comes first.
        [sys.executable, "-S", "-m", "specrules", *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={name: value for name, value in os.environ.items() if not name.startswith("SPECRULES_")}
        | {"PYTHONPATH": os.pathsep.join(paths)},
        timeout=120,
        check=False,
    )


def test_every_data_file_is_inside_and_nothing_else_of_those_folders(wheel):
    inside = {name.removeprefix(PREFIX) for name in names(wheel) if name.startswith(PREFIX)}
    assert inside == tracked(*DATA)
    assert len(inside) > 30


def test_the_content_of_data_files_is_the_same(wheel):
    with zipfile.ZipFile(wheel) as archive:
        for name in tracked(*DATA):
            assert archive.read(PREFIX + name) == (ROOT / name).read_bytes()


def test_the_package_is_inside_and_nothing_but_it(wheel):
    found = names(wheel)
    rest = {name for name in found if not name.startswith(PREFIX)}
    package = {name for name in rest if name.startswith("specrules/")}
    assert package == tracked("specrules")
    assert "specrules/py.typed" in package
    assert {name.split("/")[0].split("-")[0] for name in rest} == {"specrules"}
    assert {name.rpartition("/")[2] for name in rest - package} == {
        "METADATA", "WHEEL", "RECORD", "entry_points.txt", "LICENSE",
    }  # fmt: skip
    assert not any("test" in Path(name).parts for name in found)


def test_the_sdist_holds_what_builds_and_tests_the_same_wheel(built):
    _, sdist = built
    with tarfile.open(sdist) as archive:
        inside = {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}
    folders = ("specrules", "tests", "examples", *DATA)
    assert {name for name in inside if name.startswith(folders)} == tracked(*folders)
    assert {"pyproject.toml", "README.md", "LICENSE"} <= inside


def test_the_installed_wheel_runs_outside_the_checkout(wheel, tmp_path, monkeypatch, capsys):
    pytest.importorskip("pip", reason="installing needs pip")
    target, elsewhere = tmp_path / "site", tmp_path / "elsewhere"
    elsewhere.mkdir()
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-compile"]
    environment = os.environ | {"PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    subprocess.run([*install, "--target", str(target), str(wheel)], env=environment, timeout=300, check=True)
    listed = run("engines", "list", path=target, cwd=elsewhere)
    assert (listed.returncode, listed.stderr) == (0, "")
    assert len(listed.stdout.splitlines()) == len(list((ROOT / "engines").glob("*.yaml")))
    example = str(ROOT / "examples" / "dflash2-fleet.yaml")
    arguments = ["triage", example, "--now", "2026-11-29"]
    ran = run(*arguments, path=target, cwd=elsewhere)
    assert (ran.returncode, ran.stderr) == (0, "")
    monkeypatch.chdir(elsewhere)
    assert main.run(arguments) == 0
    assert ran.stdout == capsys.readouterr().out


def test_the_wheel_runs_as_an_archive(wheel, tmp_path):
    (tmp_path / "case.yaml").write_text(
        "schema: 1\ntarget: {name: big}\ndrafter: {name: small, class: model}\nengine: llama.cpp\n"
    )
    ran = run("triage", "case.yaml", "--format", "summary", path=wheel, cwd=tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "VERDICT" in ran.stdout
    shown = run("engines", "show", "llama.cpp", path=wheel, cwd=tmp_path)
    assert (shown.returncode, shown.stderr) == (0, "")


def test_the_command_is_an_entry_point(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith("entry_points.txt")]
        assert "specrules = specrules.cli.main:main" in archive.read(name).decode()
