from __future__ import annotations

import json

import pytest

from specrules.errors import UsageError
from specrules.model.verdict import Alternative, IncumbentSummary
from specrules.report import FORMATS, render

from .golden import TEMPLATES
from .verdicts import bare, blocked, deploy, unknown


def lines(text: str) -> list[str]:
    return text.split("\n")


def test_the_verdict_is_the_first_line() -> None:
    first, _, second, *_ = lines(render([deploy()], "md", [TEMPLATES]))
    assert first == "# VERDICT: deploy at K=3: 146.2 tok/s against 81.4 tok/s"
    assert second.startswith("- **deploy**: the low end")


@pytest.mark.parametrize("name", ["md", "summary"])
def test_off_that_beats_a_drafting_incumbent_is_the_first_line(name: str) -> None:
    first, _, second, *_ = lines(render([blocked()], name, [TEMPLATES]))
    assert first.startswith("**Drafting off beats the incumbent that runs today: 26.5 tok/s against 25 tok/s.**")
    assert second.startswith("# VERDICT: ")


def test_economics_is_told_apart_only_where_it_differs() -> None:
    told = "- By the numbers alone: **keep-incumbent**"
    assert told in lines(render([blocked()], "md", [TEMPLATES]))
    same = blocked().model_copy(update={"economics": "blocked"})
    assert "By the numbers alone" not in render([same], "md", [TEMPLATES])


def test_settings_are_shown_on_deploy_alone() -> None:
    shown = render([deploy()], "md", [TEMPLATES])
    assert "On, at K = 3:\n\n```sh\n--speculative-config" in shown
    assert "Off again:\n\n```sh\nremove --speculative-config\n```" in shown
    assert "must-not-appear" not in render([blocked()], "md", [TEMPLATES])


def test_an_incumbent_is_described_as_it_is_known() -> None:
    def about(drafting: bool | None) -> str:
        summary = IncumbentSummary(drafting=drafting, method=None)
        return render([bare().model_copy(update={"incumbent": summary})], "md", [TEMPLATES])

    assert "The incumbent drafts, by ?: ? tokens per round of ? ms." in about(True)
    assert "The incumbent does not draft." in about(False)
    assert "Whether the incumbent drafts is unknown" in about(None)


def test_footnote_stands_only_below_points_that_need_it() -> None:
    note = "(1) Whether it is possible depends on the range of the round"
    assert note in render([blocked()], "md", [TEMPLATES])
    assert note not in render([deploy()], "md", [TEMPLATES])


def test_several_cases_end_with_a_ranking_one_does_not() -> None:
    several = render([unknown(), blocked(), deploy()], "md", [TEMPLATES])
    assert several.count("# VERDICT: ") == 3
    ranking = several[several.index("# Ranking by rate") :]
    order = [line.split("|")[1].strip() + line.split("|")[2].strip() for line in lines(ranking) if "|" in line][2:]
    assert order == ["1`examples/eagle3.yaml`", "2`examples/second-card-drafter.yaml`", "3`-`"]
    assert "Ranking" not in render([blocked()], "md", [TEMPLATES])
    assert "Ranking" in render([blocked(), deploy()], "summary", [TEMPLATES])


def test_the_summary_lists_only_gates_that_did_not_pass() -> None:
    text = render([blocked()], "summary", [TEMPLATES])
    rows = [line.split("|")[4].strip() for line in lines(text) if line.startswith("| ") and "`" in line]
    assert rows == ["`beats-incumbent`", "`tokenizer-matches`", "`attachment`"]
    assert "Every gate that applies has passed." in render([deploy()], "summary", [TEMPLATES])
    assert "No gate was evaluated." in render([bare()], "summary", [TEMPLATES])


def test_every_format_gives_the_same_text_again() -> None:
    for name in FORMATS:
        text = render([blocked(), deploy()], name, [TEMPLATES])
        assert text == render([blocked(), deploy()], name, [TEMPLATES])
        assert text.endswith("\n")
        assert not text.endswith("\n\n")


def test_no_cases_give_no_report() -> None:
    assert render([], "md", [TEMPLATES]) == ""
    assert json.loads(render([], "json", [])) == []


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(UsageError) as caught:
        render([blocked()], "jsn", [TEMPLATES])
    assert str(caught.value) == "unknown format 'jsn': use one of md, json, summary (did you mean 'json'?)"


def test_an_alternative_without_a_fact_has_an_unknown_source() -> None:
    verdict = bare().model_copy(
        update={"alternatives": (Alternative(name="candidate", draft_length=2, rate_tok_s=9.0),)}
    )
    row = next(line for line in lines(render([verdict], "md", [TEMPLATES])) if line.startswith("| candidate"))
    assert [cell.strip() for cell in row.split("|")[1:-1]] == ["candidate", "9", "?", "2", "?", "unknown", ""]
