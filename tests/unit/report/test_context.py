from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from specrules.model.fact import Fact
from specrules.model.quantity import Provenance
from specrules.model.verdict import Alternative, BreakEven, Gate, IncumbentSummary, Projection
from specrules.report import context as ctx

from .verdicts import bare, blocked, deploy, fact, unknown

NOW = datetime(2026, 3, 10, 12, 0, tzinfo=UTC)


def gate(name: str, **more: Any) -> Gate:
    return Gate(**{"id": name, "part": "a", "severity": "block", "outcome": "fail", "title": "", "message": ""} | more)


def test_arms_come_in_their_order_with_their_own_source() -> None:
    verdict = blocked()
    shuffled = verdict.model_copy(update={"alternatives": verdict.alternatives[::-1]})
    arms = ctx.context(shuffled)["arms"]
    assert [arm.name for arm in arms] == ["incumbent", "off", "candidate"]
    assert [arm.rate_tok_s for arm in arms] == [25.0, 26.5, 17.09]
    assert [arm.tokens_per_round for arm in arms] == [1.67, 1.0, 1.875]
    assert [arm.rate_kind for arm in arms] == ["client", "", ""]
    assert [arm.drafts for arm in arms] == [True, False, True]
    assert [arm.notes for arm in arms] == [(), ("best", "derived from the step with drafting off"), ()]
    incumbent, off, candidate = (arm.source for arm in arms)
    assert incumbent == ctx.Source("measured", "operator", "3 d", stale=False)
    assert off == ctx.Source("derived", "1000 / target.step_ms = 1000 / 37.7", "", stale=False)
    assert candidate is None


def test_arms_that_nobody_stated_are_unknown() -> None:
    arms = ctx.context(bare())["arms"]
    assert [(arm.name, arm.drafts, arm.rate_tok_s, arm.draft_length) for arm in arms] == [
        ("incumbent", None, None, None),
        ("off", False, None, None),
        ("candidate", True, None, None),
    ]
    only_summary = bare().model_copy(update={"incumbent": IncumbentSummary(rate_tok_s=30.0, drafting=False)})
    assert ctx.context(only_summary)["incumbent_arm"].rate_tok_s == 30.0


def test_a_candidate_at_several_draft_lengths_is_several_rows() -> None:
    more = (*deploy().alternatives, Alternative(name="candidate", draft_length=5, rate_tok_s=120.0))
    verdict = deploy().model_copy(
        update={
            "alternatives": more,
            "projection": (*deploy().projection, Projection(draft_length=5, tokens_per_round=2.9)),
        }
    )
    arms = [arm for arm in ctx.context(verdict)["arms"] if arm.name == "candidate"]
    assert [(arm.draft_length, arm.tokens_per_round) for arm in arms] == [(3, 2.41), (5, 2.9)]


@pytest.mark.parametrize(
    ("drafting", "off", "incumbent", "expected"),
    [
        (True, 26.5, 25.0, ctx.OffFirst(26.5, 25.0)),
        (True, 25.0, 25.0, None),
        (True, 20.0, 25.0, None),
        (False, 26.5, 25.0, None),
        (None, 26.5, 25.0, None),
        (True, None, 25.0, None),
        (True, 26.5, None, None),
    ],
)
def test_off_comes_first_only_where_it_beats_an_incumbent_that_drafts(
    drafting: bool | None, off: float | None, incumbent: float | None, expected: ctx.OffFirst | None
) -> None:
    verdict = bare().model_copy(
        update={
            "incumbent": IncumbentSummary(drafting=drafting),
            "alternatives": (
                Alternative(name="incumbent", rate_tok_s=incumbent),
                Alternative(name="off", rate_tok_s=off),
            ),
        }
    )
    assert ctx.off_first(verdict) == expected


GATES = (
    gate("warning", severity="warn"),
    gate("evidence", part="e"),
    gate("waits-late", part="d", outcome="unknown"),
    gate("waits", part="b", outcome="unknown"),
    gate("late", part="d"),
    gate("early", part="b"),
    gate("also-early", part="b"),
    gate("fine", outcome="pass"),
    gate("absent", outcome="not-applicable"),
)


def test_the_deciding_gate_is_the_one_that_the_verdict_names() -> None:
    made = bare().model_copy(update={"gates": GATES, "deciding": "late"})
    assert ctx.deciding_gate(made) == gate("late", part="d")
    assert ctx.deciding_gate(bare().model_copy(update={"gates": GATES})) is None


def test_open_gates_are_those_that_have_not_passed() -> None:
    verdict = bare().model_copy(update={"gates": (*GATES, gate("broken", outcome="error"))})
    names = [entry.id for entry in ctx.open_gates(verdict)]
    assert names == ["warning", "evidence", "waits-late", "waits", "late", "early", "also-early", "broken"]
    assert ctx.open_gates(deploy()) == ()


def test_break_even_says_impossible_only_where_it_is() -> None:
    rows = ctx.context(blocked())["break_even"]
    assert [row.conditional_acceptance for row in rows] == ["impossible", 0.75194, 0.7486, 0.7817]
    assert [row.accepted_ratio for row in rows] == ["impossible", 0.58083, 0.510625, 0.42036]
    assert rows[0].notes == ("(1)",)
    assert rows[2].notes == ("needs the smallest p",)
    assert rows[3].notes == ("never better than drafting off",)
    assert ctx.context(blocked())["depends_on_round"] is True
    unsure = ctx.break_even_row(BreakEven(draft_length=1))
    assert (unsure.conditional_acceptance, unsure.accepted_ratio, unsure.notes) == (None, None, ())
    assert ctx.context(unknown())["depends_on_round"] is False


def test_where_the_round_comes_from_is_said_once_where_all_rows_share_it() -> None:
    made = ctx.context(blocked())
    assert made["break_even_basis"] == "the stated step time and an assumed factor"
    assert made["projection_basis"] == ""
    assert [row.notes for row in made["projection"]] == [
        ("round: a prior of its slope",),
        ("highest rate", "round: the stated step time and an assumed factor"),
    ]
    assert ctx.context(bare())["projection_basis"] == ""


@pytest.mark.parametrize(
    ("elapsed", "expected"),
    [
        (timedelta(seconds=-1), "after now"),
        (timedelta(0), "0 min"),
        (timedelta(minutes=59, seconds=59), "59 min"),
        (timedelta(hours=1), "1 h"),
        (timedelta(hours=47, minutes=59), "47 h"),
        (timedelta(hours=48), "2 d"),
        (timedelta(days=400), "400 d"),
    ],
)
def test_age_of_a_fact(elapsed: timedelta, expected: str) -> None:
    assert ctx.source(fact("x", 1.0, observed=NOW - elapsed), NOW, {}).age == expected


def test_age_is_unknown_without_a_time_on_either_side() -> None:
    assert ctx.source(fact("x", 1.0), NOW, {}).age == ""
    assert ctx.source(fact("x", 1.0, observed=NOW), None, {}).age == ""
    for text, expected in (("not a time", ""), ("2026-03-10T12:00:00", "2 d"), ("2026-03-10T12:00:00Z", "2 d")):
        footer = bare().footer.model_copy(update={"now": text})
        facts = (fact("x", 1.0, observed=NOW - timedelta(days=2)),)
        verdict = bare().model_copy(update={"footer": footer, "facts": facts})
        assert ctx.context(verdict)["fact_rows"][0].source.age == expected


def test_stale_is_older_than_the_limit_of_its_kind() -> None:
    def stale(days: float, limits: dict[str, float]) -> bool:
        provenance = Provenance(kind="from-file", observed_at=NOW - timedelta(days=days))
        return ctx.source(Fact(name="x", value=1.0, provenance=provenance), NOW, limits).stale

    assert stale(31, {"policy.max_age_days": 30.0})
    assert not stale(30, {"policy.max_age_days": 30.0})
    assert not stale(1000, {})
    assert not stale(31, {"policy.max_age_days": 30.0, "policy.max_age_days_from_file": 90.0})
    assert stale(31, {"policy.max_age_days": 90.0, "policy.max_age_days_from_file": 30.0})
