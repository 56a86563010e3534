"""Templates that nobody rendered: blanked out without moving anything, and remembered."""

from __future__ import annotations

import pytest

from specrules.evidence.deployments.templates import STAND_IN, blanked


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("a: {{ .x }}", f"a: {STAND_IN * 8}"),
        ("a: {{ .x }}:{{ .y }}", f"a: {STAND_IN * 8}:{STAND_IN * 8}"),
        ("a: {{ .x }}  {{ .y }}", f"a: {STAND_IN * 18}"),
        ("{{- if .x }}\na: 1\n{{- end }}\n", f"{' ' * 12}\na: 1\n{' ' * 10}\n"),
        ("{{/* several\nlines */}}\na: 1", f"{' ' * 12}\n{' ' * 10}\na: 1"),
        ("{% if x %}\na: 1", f"{' ' * 10}\na: 1"),
        ("a: {{ not closed", "a: {{ not closed"),
        ("a: {b: {c: 1}}", "a: {b: {c: 1}}"),
    ],
)
def test_nothing_moves(written: str, text: str) -> None:
    assert blanked(written).text == text
    assert len(blanked(written).text) == len(written)


def test_values_become_holes_and_lines_that_stood_alone_are_told() -> None:
    written = "a: {{ .x }}\n{{- with .env }}\nb: 1\n{{- end }}\n{{/* only a comment */}}\n"
    found = blanked(written)
    assert [written[start:end] for start, end in found.holes] == ["{{ .x }}"]
    assert [written[start:end] for start, end in found.lines] == ["{{- with .env }}", "{{- end }}"]


def test_what_stands_in_a_branch_is_doubtful() -> None:
    written = "a: 1\n{{ if .x }}\nb: {{ if .y }}2{{ end }}\n{{ else }}\nc: 3\n{{ end }}\nd: 4\n{% for e in f %}\ng: 5\n"
    stretches = [written[start:end].split("\n")[1:-1] for start, end in blanked(written).doubtful]
    assert stretches == [["b: {{ if .y }}2{{ end }}", "{{ else }}", "c: 3"], ["g: 5"]]


@pytest.mark.parametrize("written", ["{{" * 20_000, "{{ x }}\n" * 20_000, "{% if x %}\n" * 20_000, "{#" * 20_000])
def test_many_templates_take_one_pass(written: str) -> None:
    assert len(blanked(written).text) == len(written)
