"""`datadir` in every layout it is installed in. Each layout is built on disk and asked from a process of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from specrules.catalog import datadir

PACKAGE = Path(datadir.__file__).parents[1]
PYPROJECT = PACKAGE.parent / "pyproject.toml"
MODULES = ("__init__.py", "errors.py", "catalog/__init__.py", "catalog/datadir.py")


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def install(root: Path) -> None:
    for name in MODULES:
        target = root / "specrules" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("") if name == "__init__.py" else shutil.copy(PACKAGE / name, target)


def ask(*paths: Path, kind: str = "engines") -> str:
    """The content of the built-in `a.yaml`, or the error, of a process that has `paths` on its path."""
    code = (
        "from specrules.catalog.datadir import builtin\nfrom specrules.errors import CatalogError\n"
        f"try: print(builtin({kind!r}).joinpath('a.yaml').read_bytes().decode())\n"
        "except CatalogError as error: print('CatalogError', error)\n"
    )
    environ = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths)), "PYTHONSAFEPATH": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environ, capture_output=True, text=True, cwd="/", check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_checkout_reads_its_root_folders(tmp_path: Path) -> None:
    install(tmp_path)
    shutil.copy(PYPROJECT, tmp_path)
    write(tmp_path, {"engines/a.yaml": "live"})
    assert ask(tmp_path) == "live"


def test_an_editable_install_is_not_fooled_by_its_snapshot(tmp_path: Path) -> None:
    checkout, site = tmp_path / "checkout", tmp_path / "site-packages"
    install(checkout)
    shutil.copy(PYPROJECT, checkout)
    write(checkout, {"engines/a.yaml": "live", "specrules/_data/engines/a.yaml": "stale"})
    write(site, {"specrules/_data/engines/a.yaml": "stale"})
    assert ask(site, checkout) == "live"


def test_an_installed_wheel_reads_its_package(tmp_path: Path) -> None:
    install(tmp_path)
    write(tmp_path, {"specrules/_data/engines/a.yaml": "packaged"})
    assert ask(tmp_path) == "packaged"


def test_a_package_below_another_project_does_not_read_that_projects_folders(tmp_path: Path) -> None:
    install(tmp_path)
    write(
        tmp_path,
        {
            "pyproject.toml": '[project]\nname = "other"\n',
            "engines/a.yaml": "foreign",
            "specrules/_data/engines/a.yaml": "packaged",
        },
    )
    assert ask(tmp_path) == "packaged"


def test_a_wheel_on_the_path_is_read_from_inside_the_zip(tmp_path: Path) -> None:
    install(tmp_path / "w")
    write(tmp_path / "w", {"specrules/_data/engines/a.yaml": "zipped"})
    wheel = tmp_path / "specrules.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path in sorted((tmp_path / "w").rglob("*.*")):
            archive.write(path, path.relative_to(tmp_path / "w"))
    assert ask(wheel) == "zipped"
    assert ask(wheel, kind="rules").startswith("CatalogError the built-in rules are missing")


@pytest.mark.parametrize("files", [{}, {"specrules/_data/engines/.gitkeep": ""}])
def test_missing_or_empty_is_an_error_not_nothing(tmp_path: Path, files: dict[str, str]) -> None:
    install(tmp_path)
    write(tmp_path, files)
    assert ask(tmp_path).startswith("CatalogError the built-in engines are missing")


def test_a_checkout_without_a_folder_does_not_fall_back_to_a_snapshot(tmp_path: Path) -> None:
    install(tmp_path)
    shutil.copy(PYPROJECT, tmp_path)
    write(tmp_path, {"specrules/_data/engines/a.yaml": "stale"})
    assert ask(tmp_path).startswith("CatalogError the built-in engines are missing")


def test_the_tests_themselves_run_from_the_checkout_or_the_package() -> None:
    root = datadir.builtin_root()
    expected = PACKAGE.parent if PYPROJECT.is_file() else PACKAGE / "_data"
    assert Path(str(root)) == expected
