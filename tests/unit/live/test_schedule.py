"""The order of requests."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specrules.catalog.prompts import Ask
from specrules.live.schedule import look_points, schedule

PROMPTS = [Ask(f"p{index}", "t", f"text {index}") for index in range(6)]


def order(**more):
    settings = {"requests": 4, "warm_up": 0, "repeats": 1, "concurrency": 1} | more
    arms = settings.pop("arms", 2)
    return [
        [(turn.arm, tuple(ask.id for ask, _ in turn.asks)) for turn in step.turns]
        for step in schedule(PROMPTS, arms, **settings)
    ]


def test_every_prompt_goes_to_both_before_the_next_and_the_first_alternates():
    assert order(requests=3) == [
        [(0, ("p0",)), (1, ("p0",))],
        [(1, ("p1",)), (0, ("p1",))],
        [(0, ("p2",)), (1, ("p2",))],
    ]


def test_warm_up_takes_other_prompts_and_is_marked():
    steps = list(schedule(PROMPTS, 2, requests=1, warm_up=2, repeats=1, concurrency=1))
    assert [step.warm_up for step in steps] == [True, True, False]
    assert [step.turns[0].asks[0][0].id for step in steps] == ["p5", "p4", "p0"]


def test_several_at_once_are_whole_batches():
    assert order(requests=6, concurrency=4, arms=1) == [[(0, ("p0", "p1", "p2", "p3"))]]
    assert order(requests=2, concurrency=4, arms=1) == []


def test_repeats_come_once_all_were_sent():
    steps = list(schedule(PROMPTS[:2], 1, requests=5, warm_up=0, repeats=3, concurrency=1))
    assert [(step.turns[0].asks[0][0].id, step.turns[0].asks[0][1]) for step in steps] == [
        ("p0", 0),
        ("p1", 0),
        ("p0", 1),
        ("p1", 1),
        ("p0", 2),
    ]


@given(st.integers(1, 40), st.integers(1, 5), st.integers(1, 4), st.integers(1, 3))
def test_no_arm_gets_more_than_was_said(requests, arms, concurrency, repeats):
    steps = list(schedule(PROMPTS, arms, requests=requests, warm_up=0, repeats=repeats, concurrency=concurrency))
    sent = [sum(len(turn.asks) for step in steps for turn in step.turns if turn.arm == arm) for arm in range(arms)]
    assert len(set(sent)) == 1
    assert sent[0] <= min(requests, len(PROMPTS) * repeats)
    assert sum(step.requests for step in steps) == sum(sent)


@pytest.mark.parametrize(
    ("prompts", "points"), [(24, (8, 12, 16, 20, 24)), (8, (8,)), (5, (5,)), (9, (8, 9)), (10, (8, 9, 10))]
)
def test_when_the_data_is_looked_at(prompts, points):
    assert look_points(prompts, 8) == points
