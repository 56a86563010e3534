"""The public surface: what `import specrules` offers, and what it does not load."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

import specrules
from specrules import errors

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"


def run(script: str) -> str:
    """Run a script in an interpreter of its own."""
    ran = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        timeout=120,
        check=True,
    )
    return ran.stdout


def test_importing_specrules_loads_nothing_heavy():
    loaded = set(json.loads(run("import json, sys, specrules; print(json.dumps(sorted(sys.modules)))")))
    assert {name for name in loaded if name.split(".")[0] == "specrules"} == {
        "specrules", "specrules.errors", "specrules.version",
    }  # fmt: skip
    assert {name.partition(".")[0] for name in loaded} & {
        "numpy", "pydantic", "jinja2", "yaml", "httpx", "gguf", "re2", "prometheus_client", "click",
    } == set()  # fmt: skip


def test_errors_can_be_caught_without_loading_anything_more():
    loaded = run("import sys; from specrules import UserError, SpecrulesError; print('pydantic' in sys.modules)")
    assert loaded == "False\n"


@pytest.mark.parametrize("name", specrules.__all__)
def test_every_public_name_loads_and_is_documented(name):
    value = getattr(specrules, name)
    if name == "__version__":
        assert value.split(".")[0].isdigit()
    else:
        assert inspect.getdoc(value)
        assert value.__module__.startswith("specrules.")
        assert value.__name__ == name


def test_dir_and_the_docstring_name_what_is_public():
    assert dir(specrules) == sorted(specrules.__all__)
    assert specrules.__doc__ is not None
    for name in ("triage", "load_case", "Catalog"):
        assert f"specrules.{name}" in specrules.__doc__


def test_a_name_that_is_not_public():
    with pytest.raises(AttributeError, match="module 'specrules' has no attribute 'frobnicate'"):
        _ = specrules.frobnicate


def test_the_signatures_of_public_functions_are_annotated():
    for function in (specrules.triage, specrules.load_case, specrules.Catalog.load):
        signature = inspect.signature(function)
        assert signature.return_annotation is not inspect.Signature.empty
        assert all(item.annotation is not inspect.Parameter.empty for item in signature.parameters.values())
    assert (Path(specrules.__file__).parent / "py.typed").is_file()


def test_triage_of_a_path_a_string_and_a_loaded_case():
    path = EXAMPLES / "dflash2-fleet.yaml"
    catalog = specrules.Catalog.load()
    now = datetime(2026, 11, 29, tzinfo=UTC)
    verdict = specrules.triage(path, now=now)
    assert isinstance(verdict, specrules.Verdict)
    assert verdict.verdict == "deploy"
    for case in (str(path), specrules.load_case(path)):
        assert specrules.triage(case, catalog=catalog, now=now) == verdict


def test_a_user_error_carries_every_problem(tmp_path):
    case = tmp_path / "case.yaml"
    case.write_text("schema: 1\ntarget: {nam: x}\ndrafter: {name: d, class: model}\nengine: llama.cpp\n")
    with pytest.raises(specrules.UserError) as raised:
        specrules.load_case(case)
    places = {str(problem.where) for problem in raised.value.problems}
    assert places == {f"{case}:2:9", f"{case}:2:10"}


def own_errors() -> list[type[BaseException]]:
    return [
        value
        for value in vars(errors).values()
        if inspect.isclass(value) and issubclass(value, BaseException) and value.__module__ == errors.__name__
    ]


def test_every_error_stands_in_the_tree_of_the_docstring_under_its_base():
    found = own_errors()
    assert errors.SpecrulesError in found
    assert errors.__doc__ is not None
    lines = errors.__doc__.splitlines()
    depth = {}
    for error in found:
        (line,) = [line for line in lines if error.__name__ in line.split()]
        depth[error] = line.index(error.__name__)
        assert inspect.getdoc(error)
    for error in found:
        base = error.__base__
        assert base is Exception or (base in depth and depth[base] < depth[error])
    named = {line.split("+-- ")[1].split()[0] for line in lines if "+-- " in line}
    assert named == {error.__name__ for error in found} - {"SpecrulesError"}


def test_every_error_of_specrules_is_defined_there():
    assert all(issubclass(error, errors.SpecrulesError) for error in own_errors())
    assert errors.UserError(errors.Problem("x", errors.Location("f", 1, 2))).args == ("f:1:2: x",)
