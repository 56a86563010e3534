from __future__ import annotations

import pytest

from specrules.report.context import context
from specrules.report.ranking import ranking
from specrules.report.templates import markdown_environment, render_markdown

from .golden import FOLDER, GOLDEN, TEMPLATES
from .parsed import PARSER, blocks
from .verdicts import blocked, deploy

REPORTS = [name for name in GOLDEN if name.endswith(".md")]


@pytest.mark.parametrize("name", GOLDEN)
def test_rendered_as_recorded(name: str) -> None:
    assert GOLDEN[name]() == (FOLDER / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", REPORTS)
def test_every_row_is_part_of_a_table_and_has_all_its_cells(name: str) -> None:
    text = (FOLDER / name).read_text(encoding="utf-8")
    outside_code = "".join(text.split("```")[::2])
    tables = [block.strip().split("\n") for block in outside_code.split("\n\n") if block.startswith("|")]
    assert [len(table) - 1 for table in tables] == _rows_per_table(blocks(text))
    for table in tables:
        assert len({row.replace(r"\|", "").count("|") for row in table}) == 1


def _rows_per_table(found: list[str]) -> list[int]:
    starts = [at for at, block in enumerate(found) if block == "table_open"]
    return [found[at : found.index("table_close", at)].count("tr_open") for at in starts]


@pytest.mark.parametrize("name", REPORTS)
def test_reports_hold_nothing_but_ascii_from_templates(name: str) -> None:
    assert (FOLDER / name).read_text(encoding="utf-8").isascii()


def test_parts_come_in_order() -> None:
    text = (FOLDER / "report-blocked.md").read_text(encoding="utf-8")
    tokens = PARSER.parse(text)
    heads = [tokens[at + 1].content for at, token in enumerate(tokens) if token.type == "heading_open"]
    assert heads[0].startswith("VERDICT: do not attach")
    assert [head.split(")")[0] for head in heads[1:6]] == ["(a", "(b", "(c", "(d", "(e"]
    assert heads[6:] == [
        "Where the verdict flips",
        "What moves the speedup",
        "Facts",
        "Not checked",
        "Known issues",
        "Notices",
    ]


def test_every_template_is_rendered_for_some_golden_file() -> None:
    made = markdown_environment([TEMPLATES])
    for verdict in (blocked(), deploy()):
        for name in ("report.md.j2", "summary.md.j2"):
            render_markdown(made, name, context(verdict))
    render_markdown(made, "ranking.md.j2", {"rows": ranking([blocked()])})
    used = {template.name for template in made.cache.values()} if made.cache else set()
    reports = {path.relative_to(TEMPLATES).as_posix() for path in TEMPLATES.rglob("*.j2")}
    # The skeleton of an engine file, the rules for Prometheus and the reports on memory and on a gate run have tests of
    # their own.
    assert used == {
        name for name in reports if not name.startswith(("scaffold/", "fit.", "gate.", "prometheus-rules."))
    }
