from __future__ import annotations

import pytest

from specrules.derive.mixture import mixed_drafters
from specrules.derive.steps import step_times
from specrules.model.fact import Facts

from .build import case, facts, thresholds


def known(**values: object) -> Facts:
    return facts(case(), **values)


@pytest.mark.parametrize("method", ["mtp+pld", "mtp + pld", "mtp, pld", "mtp and pld", "mtp with pld"])
def test_a_method_that_names_two_is_two(method: str) -> None:
    assert mixed_drafters(known(incumbent__method=method)) == (1.0, "the incumbent drafts with mtp and pld")


@pytest.mark.parametrize("method", ["mtp", "draft-mtp", "ngram-map-k4v", "standard", "handmade"])
def test_a_method_alone_is_one(method: str) -> None:
    assert mixed_drafters(known(incumbent__method=method, incumbent__drafting=True)) == (0.0, None)


def test_a_log_that_counts_rounds_of_another_drafter() -> None:
    count, note = mixed_drafters(known(incumbent__method="mtp", incumbent__mixed_drafters=True))
    assert count == 1.0
    assert note is not None
    assert mixed_drafters(known()) == (None, None)


def test_the_round_of_a_mixture_bounds_no_pass() -> None:
    stated = {"drafting": True, "rate_tok_s": 25.0, "tokens_per_round": 1.67, "draft_length": 1}
    alone, mixed = (case(incumbent={**stated, "method": method}) for method in ("mtp", "mtp+pld"))
    floors = [step_times(one, facts(one), thresholds()).round_floor(3) for one in (alone, mixed)]
    assert floors == [pytest.approx(66.8 / 1.15), 0.0]
    assert step_times(mixed, facts(mixed), thresholds()).plain_range() is None
