from __future__ import annotations

import re

import pytest

from specrules.model.deployment import Place
from specrules.report.gate import Options, render_gate

from .reports import everything, finding, hostile, nothing_found, report, subject

WAIVED = "Waiver of infra for removed until 2026-11-01: old"
COMMAND = re.compile(r"::(error|warning|notice) ((?:[a-zA-Z]+=[^,:\r\n]*,?)+)::([^\r\n]*)")


def lines(*findings: object, base: str = "") -> list[str]:
    return render_gate(report(subject(*findings)), "github", Options(base=base)).splitlines()  # type: ignore[arg-type]


def test_everything_the_worst_first() -> None:
    assert render_gate(everything(), "github").splitlines() == [
        "::error file=deploy/bad.yaml,line=3,title=cannot be judged::not valid YAML (check the indent)",
        "::error file=deploy/llm.yaml,line=14,col=13,title=removed::What removed found. Repair removed.",
        "::error file=deploy/llm.yaml,line=12,col=9,title=untold::What untold found. Repair untold.",
        "::warning file=deploy/llm.yaml,line=12,col=9,title=slow::What slow found. Repair slow.",
        "::warning title=unsure::What unsure found. Repair unsure.",
        "::notice file=deploy/llm.yaml,line=12,col=9,title=odd::What odd found. Repair odd.",
        f"::warning file=.specrules/waivers.yaml,line=9,col=3,title=waiver expired::{WAIVED}",
    ]


def test_nothing_found_is_one_notice() -> None:
    assert render_gate(nothing_found(), "github") == (
        "::notice title=specrules::Policy default: 1 file, 2 rules checked: nothing found.\n"
    )


def test_no_line_of_hostile_text_is_a_command_of_its_own() -> None:
    written = render_gate(hostile(), "github").splitlines()
    assert len(written) == 3
    for line in written:
        assert COMMAND.fullmatch(line), line
        assert not set(line) & set("\x00\x1b\r\n\u202e")
    assert "%250A::error::pwned" in written[1]


@pytest.mark.parametrize(
    ("place", "shown"),
    [
        (Place(path="a.yaml"), "file=a.yaml"),
        (Place(path="a.yaml", line=3), "file=a.yaml,line=3"),
        (Place(path="a.yaml", line=3, column=5, end_line=3, end_column=9), "file=a.yaml,line=3,col=5"),
        # GitHub drops annotations with columns that span lines.
        (Place(path="a.yaml", line=3, column=5, end_line=4, end_column=9), "file=a.yaml,line=3,endLine=4"),
        (Place(path="a,b:c%.yaml", line=1), "file=a%2Cb%3Ac%25.yaml,line=1"),
    ],
)
def test_places(place: Place, shown: str) -> None:
    (line,) = lines(finding("x", "fail", "error", place=place))
    assert line.startswith(f"::error {shown},title=x::")


def test_paths_start_at_the_root_of_the_repository() -> None:
    (line,) = lines(finding("x", "fail", "error", place=Place(path="../a.yaml", line=1)), base="services/llm")
    assert line.startswith("::error file=services/a.yaml,line=1,")
