"""The round that the rate of a measured run implies, and what follows for other depths and for break-even."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given as forall
from hypothesis import settings
from hypothesis import strategies as st

from specrules.derive.projection import AtDepth
from specrules.economics import rounds

from .build import arithmetic, case, given
from .test_arithmetic import environment

QUICK = settings(max_examples=30, deadline=None)
RUN = {"draft_length": 4, "rate_tok_s": 40, "tokens_per_round": 3}
OFF = {"drafting": False, "rate_tok_s": 25}


def depth(length: int, **parts: Any) -> AtDepth:
    found = given(case(**parts)).projections.at(length)
    assert found is not None
    return found


def test_what_both_sides_pay_per_token_is_no_part_of_the_round() -> None:
    paid = {"candidate": {**RUN, "draft_length": 3}, "overhead": {"ms": 5, "kind": "per_token"}}
    found = depth(3, incumbent={**OFF, "rate_kind": "client"}, measurements=paid).outcome
    assert found.at_mid("round_ms") == pytest.approx(3 * (25 - 5))
    assert found.at_mid("break_even.tokens_per_round") == pytest.approx(60 / (40 - 5))
    assert found.at_mid("speedup") == pytest.approx(1.6)


def test_nor_is_it_carried_to_another_depth_twice() -> None:
    acceptance = {"kind": "position_vector", "vector": [0.8, 0.7, 0.5]}
    paid = {
        "candidate": {**RUN, "draft_length": 3},
        "overhead": {"ms": 5, "kind": "per_token"},
        "acceptance": acceptance,
    }
    found = depth(1, incumbent={**OFF, "rate_kind": "client"}, measurements=paid).outcome
    assert found.at_mid("round_ms") == pytest.approx(35 + (60 - 35) / 3)
    assert found.at_mid("rate_tok_s") == pytest.approx(1000 / ((35 + 25 / 3) / 1.8 + 5))


@QUICK
@forall(st.floats(0.05, 1), st.floats(1, 9), st.floats(5, 100), st.floats(1, 8))
def test_the_round_of_a_drafter_that_drafts_in_a_share_of_the_rounds(
    share: float, tokens: float, step: float, steps: float
) -> None:
    round_ms = step * steps
    rate = rounds.covered_rate(share, tokens, round_ms, step)
    run = {"run__tokens_per_round": tokens, "run__rate_tok_s": rate, "acceptance__tokens": tokens}
    found = arithmetic("ngram").run(
        environment(
            "measured-run",
            how="measured",
            drafter__covers_every_round=False,
            drafter__coverage=share,
            target__step_ms=step,
            **run,
        )
    )
    assert found["round_ms"] == pytest.approx(round_ms, rel=1e-6)
    needed = found["break_even.tokens_per_round"]
    assert isinstance(needed, float)
    if needed >= 1:
        assert rounds.covered_rate(share, needed, round_ms, step) == pytest.approx(25, rel=1e-6)


def test_the_rate_of_such_a_run_needs_no_share() -> None:
    found = depth(
        4,
        drafter={"class": "ngram"},
        engine={"methods": ["ngram-mod"], "draft_length": 4},
        incumbent=OFF,
        measurements={"candidate": RUN},
    )
    assert found.speedup.mid == pytest.approx(1.6)
    assert found.outcome.at_mid("break_even.tokens_per_round") is None


def test_no_round_at_another_depth_is_shorter_than_a_plain_step() -> None:
    # At the top of its error the rate of this run is above one token per plain step.
    run = {"draft_length": 1, "rate_tok_s": 25.2, "tokens_per_round": 1.01}
    found = depth(16, engine={"draft_length": 16}, incumbent=OFF, measurements={"candidate": run}).outcome
    low, high = found.ends("round_ms")
    assert low == 40
    assert high is not None
    assert high > 40
