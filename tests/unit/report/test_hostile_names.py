"""Model names, messages and sources are data: whatever they hold, the report keeps its structure."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specrules.report import render
from specrules.report.context import context
from specrules.report.markdown import one_line
from specrules.report.templates import markdown_environment, render_markdown

from .golden import TEMPLATES
from .parsed import PARSER, blocks, inlines
from .test_markdown import HOSTILE, TEXTS
from .verdicts import named

MADE = markdown_environment([TEMPLATES])
ALLOWED = {"text", "code_inline", "strong_open", "strong_close", "softbreak"}


def rendered(template: str, text: str) -> str:
    return render_markdown(MADE, template, context(named(text)))


BENIGN = {template: blocks(rendered(template, "x")) for template in ("report.md.j2", "summary.md.j2")}


def check(template: str, text: str) -> None:
    written = rendered(template, text)
    assert blocks(written) == BENIGN[template]
    assert {token.type for token in inlines(written)} <= ALLOWED
    html = PARSER.render(written)
    assert "<a " not in html
    assert "<img" not in html
    assert "<script" not in html


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("template", BENIGN)
def test_known_attacks_change_nothing(template: str, text: str) -> None:
    check(template, text)


@settings(max_examples=50, deadline=None)
@given(TEXTS.filter(one_line))
def test_arbitrary_text_changes_nothing(text: str) -> None:
    check("report.md.j2", text)


@settings(max_examples=10, deadline=None)
@given(st.lists(TEXTS.filter(one_line), min_size=2, max_size=4))
def test_the_ranking_has_one_row_per_case(texts: list[str]) -> None:
    text = render([named(text) for text in texts], "summary", [TEMPLATES])
    ranking = text[text.rindex("\n# Ranking by rate") :]
    assert blocks(ranking).count("tr_open") == len(texts) + 1
    assert {token.type for token in inlines(ranking)} <= ALLOWED
