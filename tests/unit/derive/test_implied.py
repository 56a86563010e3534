from __future__ import annotations

from specrules.derive.implied import implied_facts
from specrules.model.fact import Fact, Facts

from .build import case, given


def test_a_drafter_that_was_run_alone_has_a_price() -> None:
    rate = Fact(name="drafter.rate_tok_s", value=80.0, low=75.0, high=100.0)
    found = implied_facts(Facts({rate.name: rate}))["drafter.step_ms"]
    assert (found.value, found.low, found.unit) == (12.5, 10.0, "ms")
    assert found.high == 1000 / 75
    assert found.substituted == "1000 / 80"


def test_without_a_run_of_the_drafter_nothing_is_implied() -> None:
    assert implied_facts(Facts()) == {}


def test_the_price_enters_the_round_and_a_stated_one_goes_first() -> None:
    read = {"drafter.rate_tok_s": 80.0}
    assert given(case(), read).facts.number("drafter.step_ms") == 12.5
    assert given(case(drafter={"step_ms": 12}), read).facts.number("drafter.step_ms") == 12
