"""What the writers share: options, counting, text on one line, the table of formats."""

from __future__ import annotations

import json

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specrules.catalog.schemas import json_schema
from specrules.errors import UsageError
from specrules.report.gate import FORMATS, Options, render_gate
from specrules.report.gate.counting import counts, mark, summary
from specrules.report.gate.plain import one_line, place_text, xml_text

from .reports import HOSTILE, USE, everything, finding, hostile, nothing_found, report, subject


class TestFormats:
    @pytest.mark.parametrize("name", FORMATS)
    @pytest.mark.parametrize("made", [everything, nothing_found])
    def test_every_format_writes_and_repeats_itself(self, name: str, made: object) -> None:
        from specrules.catalog.datadir import builtin

        options = Options(templates=(builtin("templates"),))
        first = render_gate(made(), name, options)  # type: ignore[operator]
        assert first.endswith("\n")
        assert first == render_gate(made(), name, options)  # type: ignore[operator]

    def test_unknown_format(self) -> None:
        with pytest.raises(UsageError, match=r"unknown format 'sarfi': .* \(did you mean 'sarif'\?\)"):
            render_gate(everything(), "sarfi")

    @pytest.mark.parametrize("made", [everything, nothing_found, hostile, report])
    def test_json_is_as_published(self, made: object) -> None:
        found = json.loads(render_gate(made(), "json").encode("utf-8", "backslashreplace"))  # type: ignore[operator]
        jsonschema.Draft202012Validator(json_schema("gate")).validate(found)
        assert found["schema"] == 1


class TestCounting:
    def test_counts(self) -> None:
        found = counts(everything())
        assert (found.files, found.subjects, found.rules) == (2, 1, 8)
        assert (found.failed, found.unknown, found.warned, found.noted) == (1, 1, 2, 1)
        assert (found.waived, found.errors) == (1, 1)
        assert not found.is_clean
        assert counts(nothing_found()).is_clean

    def test_a_file_with_several_deployments_is_one_file(self) -> None:
        found = report(subject(finding("a")), subject(finding("a"), name="other"))
        assert summary(found) == "1 file, 2 rules checked: nothing found"

    @pytest.mark.parametrize(
        ("outcome", "level", "expected"),
        [
            ("pass", "none", "PASS"),
            ("not-applicable", "none", "N-A"),
            ("fail", "error", "FAIL"),
            ("fail", "warning", "WARN"),
            ("fail", "note", "NOTE"),
            ("unknown", "error", "UNKNOWN"),
            ("unknown", "warning", "UNKNOWN"),
            ("unknown", "note", "NOTE"),
            ("error", "error", "ERROR"),
        ],
    )
    def test_marks(self, outcome: str, level: str, expected: str) -> None:
        assert mark(finding("x", outcome, level)) == expected

    def test_waived_never_looks_like_a_pass(self) -> None:
        for outcome in ("fail", "unknown"):
            assert mark(finding("x", outcome, "error", waiver=USE)) == "WAIVED"


class TestText:
    @given(st.text())
    def test_one_line_holds_nothing_that_steers(self, text: str) -> None:
        shown = one_line(text)
        assert len(shown.splitlines()) <= 1
        assert not any(ord(char) < 0x20 or 0x7F <= ord(char) < 0xA0 for char in shown)
        assert one_line(shown) == shown

    @given(st.text(alphabet=st.characters(exclude_categories=())))
    def test_xml_text_parses(self, text: str) -> None:
        from xml.etree import ElementTree as ET

        element = ET.Element("a")
        element.text = xml_text(text)
        read = ET.fromstring(ET.tostring(element, encoding="unicode")).text or ""  # noqa: S314
        assert read == xml_text(text).replace("\r\n", "\n").replace("\r", "\n")

    def test_ordinary_text_stays(self) -> None:
        text = "größer als 25 tok/s: a < b, 'x' | \"y\" — λ 模型"
        assert one_line(text) == xml_text(text) == text

    def test_hostile_text(self) -> None:
        assert "\ufffd[31mred\ufffd" in one_line(HOSTILE)

    @pytest.mark.parametrize(("line", "column", "shown"), [(0, 0, "a"), (3, 0, "a:3"), (3, 5, "a:3:5"), (0, 5, "a")])
    def test_places(self, line: int, column: int, shown: str) -> None:
        assert place_text("a", line, column) == shown


class TestOptions:
    @pytest.mark.parametrize(
        ("base", "path", "shown"),
        [
            ("", "a/b.yaml", "a/b.yaml"),
            ("", "./a/../b.yaml", "b.yaml"),
            ("x/y", "b.yaml", "x/y/b.yaml"),
            ("x/y", "../../b.yaml", "b.yaml"),
            ("x", "/abs/b.yaml", "/abs/b.yaml"),
        ],
    )
    def test_paths_from_the_root(self, base: str, path: str, shown: str) -> None:
        assert Options(base=base).repository_path(path) == shown
