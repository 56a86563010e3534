"""Deployment files in the shapes that people use, right and wrong ones, with what is expected of each beside it."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from specrules.catalog.catalogue import Catalog
from specrules.model.deployment import Deployment, Place, Setting
from specrules.pipeline.deployment_files import DeploymentReading, read_deployments
from specrules.pipeline.deployments import deployment_findings

CASES = Path(__file__).parent / "cases" / "deployments"
EXPECTED = ".expect.yaml"
FILES = sorted(path for path in CASES.iterdir() if not path.name.endswith(EXPECTED))
_TOLD = {"fail": ("block", "warn"), "error": ("block", "warn", "info"), "unknown": ("block",)}


@cache
def catalog() -> Catalog:
    return Catalog.load()


@cache
def reading(path: Path) -> DeploymentReading:
    return read_deployments(path, catalog())


def expected(path: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(Path(f"{path}{EXPECTED}").read_text(encoding="utf-8"))
    return loaded


def at(place: Place | None) -> str:
    return "" if place is None else f"{place.line}:{place.column}"


def told(deployment: Deployment) -> dict[str, Any]:
    """What is expected of a deployment, in the shape of the files beside them."""
    findings = deployment_findings(deployment, catalog())
    found: dict[str, Any] = {
        "name": deployment.launch.name,
        "engine": deployment.engine,
        "by": deployment.recognised_by,
        "speculation": findings.speculation,
    }
    if deployment.version is not None:
        found["version"] = {"value": deployment.version, "at": at(deployment.version_place)}
    if deployment.facts:
        values = {
            fact.name: list(fact.value) if isinstance(fact.value, tuple) else fact.value for fact in deployment.facts
        }
        found["facts"] = {fact.name: {"value": values[fact.name], "at": at(fact.place)} for fact in deployment.facts}
    if deployment.launch.gaps:
        found["gaps"] = [{"of": gap.of, "at": at(gap.place), "why": gap.why} for gap in deployment.launch.gaps]
    rows = [
        {"rule": one.rule, "outcome": one.outcome, "at": at(one.place)} | ({"key": one.key} if one.key else {})
        for one in findings.findings
        if one.severity in _TOLD.get(one.outcome, ())
    ]
    if rows:
        found["findings"] = rows
    return found


def test_the_corpus_is_as_large_as_promised() -> None:
    assert len(FILES) >= 30
    assert {path.name for path in CASES.iterdir()} == {
        name for path in FILES for name in (path.name, f"{path.name}{EXPECTED}")
    }


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_file_is_read_and_judged_as_expected(path: Path) -> None:
    read = reading(path)
    problems = [
        {"at": f"{one.where.line}:{one.where.column}" if one.where else "", "message": one.message}
        for one in read.problems
    ]
    found: dict[str, Any] = {"format": read.format, "deployments": [told(item) for item in read.deployments]}
    assert (found | {"problems": problems} if problems else found) == expected(path)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_place_holds_what_stands_there(path: Path) -> None:
    """Names and values are cut out of the file by their places, with nothing of the reader in between."""
    lines = path.read_text(encoding="utf-8").split("\n")
    for deployment in reading(path).deployments:
        for setting in deployment.settings:
            written = _cut(lines, setting.place)
            assert written is not None
            inner = setting.inside or setting.kind == "config"
            name = setting.written.rpartition(".")[2] if inner else setting.written
            assert written in (name, setting.written), setting
            _holds_value(lines, setting)


def _holds_value(lines: list[str], setting: Setting) -> None:
    """A value of one stretch stands at its place, but for quotes, escapes and line breaks inside it."""
    value = setting.value
    if value is None or setting.secret or setting.value_place is None or value.startswith(("{", "[")):
        return
    written = _cut(lines, setting.value_place)
    if written is not None:
        assert re.sub(r"[\\\s]", "", value).endswith(re.sub(r"[\\\s]", "", written)), setting


def _cut(lines: list[str], place: Place) -> str | None:
    """The text of a span on one line."""
    if place.end_line != place.line or place.end_column is None:
        return None
    return lines[place.line - 1][place.column - 1 : place.end_column - 1]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_secret_of_a_file_survives_its_reading(path: Path) -> None:
    shown = reading(path).deployments.__repr__() + "".join(item.model_dump_json() for item in reading(path).deployments)
    secrets = ("hf_QmVzdE5vdEFSZWFsVG9rZW4x", "sk-local-1234567890abcdef", "tok-5f2b7c9d0e1a", "token-abc123")
    for secret in secrets:
        assert secret not in shown
