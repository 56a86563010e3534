from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from specrules.errors import CatalogError
from specrules.report import FORMATS, render
from specrules.report.context import context
from specrules.report.templates import find, markdown_environment, render_markdown

from .golden import TEMPLATES
from .verdicts import blocked, deploy

Layer = Callable[[str, str], Path]


@pytest.fixture
def layer(tmp_path: Path) -> Layer:
    """Write one template into a folder of its own and return the folder."""

    def write(name: str, text: str) -> Path:
        file = tmp_path / "layer" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return tmp_path / "layer"

    return write


def problem(layers: list[Path], format_name: str = "summary") -> str:
    with pytest.raises(CatalogError) as caught:
        render([blocked()], format_name, layers)
    return str(caught.value)


def test_a_layer_replaces_single_files(layer: Layer) -> None:
    folder = layer("parts/footer.md.j2", "made by {{ verdict.engine }} for {{ verdict.case }}")
    text = render([blocked()], "md", [folder, TEMPLATES])
    assert text.endswith("\n\nmade by halogen-flash-server for examples/second-card-drafter.yaml\n")
    assert "## (e) The one measurement" in text
    assert "made by" not in render([blocked()], "md", [TEMPLATES, folder])


def test_the_first_of_several_layers_wins(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "summary.md.j2").write_text(name, encoding="utf-8")
    layers = [tmp_path / "none", tmp_path / "first", tmp_path / "second", TEMPLATES]
    assert render([blocked()], "summary", layers) == "first\n"


def test_templates_of_a_zip_file_are_the_same(tmp_path: Path) -> None:
    path = tmp_path / "data.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for file in TEMPLATES.rglob("*.j2"):
            archive.write(file, f"data/{file.relative_to(TEMPLATES).as_posix()}")
    with zipfile.ZipFile(path) as archive:
        packed = zipfile.Path(archive, "data/")
        assert render([blocked(), deploy()], "md", [packed]) == render([blocked(), deploy()], "md", [TEMPLATES])


@pytest.mark.parametrize("name", ["../secret.j2", "a/../../secret.j2", "/etc/hostname", "", "a//b", "c:x", "a\\b", "."])
def test_names_cannot_leave_their_layer(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret.j2").write_text("secret", encoding="utf-8")
    (tmp_path / "layer" / "a").mkdir(parents=True)
    assert find([tmp_path / "layer"], name) is None


def test_values_that_a_user_template_prints_are_escaped(layer: Layer) -> None:
    folder = layer("summary.md.j2", '{{ verdict.sentence }} {{ "**bold**" | safe }} {{ "a|b" | e }} {{ none }} **x**')
    verdict = blocked().model_copy(update={"sentence": "*x* |"})
    assert render([verdict], "summary", [folder]) == r"\*x\* \| \*\*bold\*\* a\|b ? **x**" + "\n"


def test_a_missing_template_is_named(tmp_path: Path, layer: Layer) -> None:
    assert problem([tmp_path]) == "there is no template 'summary.md.j2' in any template folder"
    folder = layer("summary.md.j2", '{% include "parts/vredict.md.j2" %}')
    assert problem([folder]) == "there is no template 'parts/vredict.md.j2' in any template folder"


def test_a_template_that_does_not_parse_is_placed(layer: Layer) -> None:
    folder = layer("summary.md.j2", "a\n\n{% if x %}")
    assert problem([folder]).startswith(f"{folder / 'summary.md.j2'}:3: Unexpected end of template")
    folder = layer("summary.md.j2", "a\n{{ 1 | bold }}")
    assert problem([folder]) == f"{folder / 'summary.md.j2'}:2: No filter named 'bold'."


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{{ verdict.sentense }}", "has no attribute 'sentense'"),
        ("{{ sentence }}", "'sentence' is undefined"),
        ("{{ 1 / 0 }}", "division by zero"),
        ("{{ verdict | num }}", ""),
        ("{{ ().__class__.__mro__ }}", "is unsafe"),
        ("{{ verdict.model_copy.__globals__ }}", "is unsafe"),
        ('{{ "x" | mark }}', "'x'"),
        ("{% for x in range(10000000) %}{% endfor %}", "Range too big"),
    ],
)
def test_a_template_that_fails_is_placed_at_its_line(layer: Layer, text: str, message: str) -> None:
    folder = layer("parts/verdict.md.j2", f"a\n\n{text}")
    shown = problem([folder, TEMPLATES])
    assert shown.startswith(f"{folder / 'parts' / 'verdict.md.j2'}:3: the template fails: ")
    assert message in shown


def test_a_template_that_includes_itself_ends(layer: Layer) -> None:
    folder = layer("summary.md.j2", '{% include "summary.md.j2" %}')
    assert "recursion" in problem([folder])


def test_a_template_that_is_no_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "summary.md.j2").write_bytes(b"\xff\xfe")
    assert problem([tmp_path]).startswith(f"{tmp_path / 'summary.md.j2'}: cannot be read as a template: 'utf-8'")


def test_templates_cannot_change_the_verdict() -> None:
    made = markdown_environment([TEMPLATES])
    values = context(blocked())
    first = render_markdown(made, "report.md.j2", values)
    assert render_markdown(made, "report.md.j2", values) == first
    assert set(FORMATS) == {"md", "json", "summary"}
