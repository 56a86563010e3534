"""When enough was measured."""

from __future__ import annotations

import pytest

from specrules.economics.interval import Interval
from specrules.evidence.samples.facts import units_of
from specrules.evidence.samples.request import Request
from specrules.live.stopping import Rule, is_narrow, look, side_of


def requests(rates, **more):
    return units_of(
        Request(f"p{index}", tokens=101.0, decode_ms=100_000 / rate, first_ms=5.0, **more)
        for index, rate in enumerate(rates)
    )


STEADY = [10.0, 10.1, 9.9, 10.05, 9.95, 10.0, 10.1, 9.9]


@pytest.mark.parametrize(
    ("low", "high", "side"),
    [
        (1.06, 1.2, "above"),
        (1.05, 1.2, "open"),
        (0.8, 0.999, "below"),
        (0.91, 1.09, "even"),
        (0.89, 1.09, "open"),
        (0.91, 1.11, "open"),
        (0.95, 1.0, "even"),
    ],
)
def test_the_sides_of_the_verdict(low, high, side):
    assert side_of(Interval(low, (low + high) / 2, high), 0.05) == side


def test_without_an_interval_nothing_is_settled():
    assert side_of(None, 0.05) == "open"


def test_two_arms_over_the_same_prompts():
    slow_prompts = [5.0, 20.0] * 4
    found = look(
        {"incumbent": requests(slow_prompts), "candidate": requests([1.3 * rate for rate in slow_prompts])},
        Rule(0.05, 3),
    )
    (standing,) = found.standings
    assert standing.arm == "candidate"
    assert standing.ratio.mid == pytest.approx(1.3)
    assert standing.side == "above"
    assert found.is_enough


def test_seven_prompts_are_not_enough():
    found = look({"incumbent": requests(STEADY[:7]), "candidate": requests(STEADY[:7])}, Rule(0.05, 1))
    assert found.standings[0].ratio is None
    assert not found.is_enough


def test_prompts_that_only_one_arm_answered_do_not_count():
    found = look({"incumbent": requests(STEADY), "candidate": requests(STEADY[:5])}, Rule(0.05, 1))
    assert found.prompts == 5
    assert not found.is_enough


def test_one_arm_is_enough_once_its_rate_is_narrow():
    assert look({"incumbent": requests(STEADY)}, Rule(0.05, 1)).is_enough
    assert not look({"incumbent": requests([5.0, 20.0] * 4)}, Rule(0.05, 1)).is_enough


def test_one_arm_that_drafts_needs_its_tokens_per_round_too():
    even = look({"candidate": requests(STEADY, accepted=30.0, rounds=20.0)}, Rule(0.05, 1))
    assert even.tokens_per_round["candidate"].mid == pytest.approx(2.5)
    assert even.is_enough
    units = units_of(
        Request(f"p{index}", 101.0, 10_000.0, 5.0, accepted=accepted, rounds=20.0)
        for index, accepted in enumerate([2.0, 58.0] * 4)
    )
    uneven = look({"candidate": units}, Rule(0.05, 1))
    assert uneven.tokens_per_round["candidate"] is not None
    assert not uneven.is_enough


def test_one_arm_against_a_rate_that_is_known():
    found = look({"candidate": requests(STEADY)}, Rule(0.05, 1, Interval(14.0, 15.0, 16.0)))
    assert found.standings[0].side == "below"
    assert found.standings[0].ratio.mid == pytest.approx(10 / 15, rel=1e-3)


def test_more_looks_ask_for_more():
    one, five = Rule(0.05, 1).confidence, Rule(0.05, 5).confidence
    assert one < five


def test_repeats_of_a_prompt_are_one_unit():
    twice = [Request(f"p{index % 4}", 101.0, 10_000.0, 5.0) for index in range(8)]
    assert len(units_of(twice)) == 4
    assert look({"incumbent": units_of(twice)}, Rule(0.05, 1)).rates["incumbent"] is None


def test_narrow():
    assert is_narrow(Interval(9.5, 10.0, 10.5), 0.05)
    assert not is_narrow(Interval(9.4, 10.0, 10.6), 0.05)
    assert not is_narrow(None, 0.05)
