from __future__ import annotations

from pathlib import Path

from markdown_it import MarkdownIt

from specrules.report.gate import Options, render_gate

from .reports import everything, hostile, nothing_found, report

TEMPLATES = Options(templates=(Path(__file__).parents[4] / "templates",))


def html(text: str) -> str:
    return MarkdownIt("gfm-like", {"linkify": False}).render(text)


def test_everything() -> None:
    written = render_gate(everything(), "md", TEMPLATES)
    assert written.startswith("## Could not be judged\n")
    for part in (
        "policy `default` (Blocks what is wrong and what is unknown). 2 files, 8 rules checked: 1 file error,",
        "| `deploy/bad.yaml:3` | not valid YAML (check the indent) |",
        "### `deploy/llm.yaml` Deployment/llm, container vllm",
        "FAIL: eagle3 on vLLM 0.11.0, 3 tokens",
        "**Fix:** Repair removed.",
        "*Waived until 2026-12-10 by infra: card swap*",
        "Checked and clean: `fine`.",
        "Inputs `0123456789ab`.",
        "| expired | `removed` | engine vllm | 2026-11-01 | infra | old |",
        "specrules 0.1.0, `2026-11-29T00:00:00+00:00`, rules `abcdef012345`",
    ):
        assert part in written, part
    rows = [line.split("|")[1:3] for line in written.splitlines() if line.startswith("| ") and "`" in line]
    marks = [(cells[0].strip(), cells[1].strip()) for cells in rows if cells[0].strip().isupper()]
    assert marks == [
        ("FAIL", "`removed`"),
        ("UNKNOWN", "`untold`"),
        ("WARN", "`slow`"),
        ("UNKNOWN", "`unsure`"),
        ("NOTE", "`odd`"),
        ("WAIVED", "`excused`"),
    ]


def test_nothing_found() -> None:
    written = render_gate(nothing_found(), "md", TEMPLATES)
    assert written.startswith("## Passed\n")
    assert "1 file, 2 rules checked: nothing found." in written
    assert "Checked and clean: `fine`, `also-fine`." in written
    assert "|" not in written


def test_no_files_at_all() -> None:
    assert "0 files, 0 rules checked: nothing found." in render_gate(report(outcome="pass"), "md", TEMPLATES)


def test_hostile_text_formats_nothing() -> None:
    page = html(render_gate(hostile(), "md", TEMPLATES))
    assert "<script" not in page
    assert "<a " not in page
    assert page.count("<table>") == 3
    assert page.count("<h2>") == page.count("<h3>") == 1
    assert page.count("<h1>") == 0
