from __future__ import annotations

import math

import numpy as np
import pytest

from specrules.economics.samples import accepted_variance, rounds_to_settle

PUBLISHED = {0.4: 6, 0.5: 12, 0.6: 34, 0.65: 75, 0.7: 275, 0.72: 708, 0.74: 4910, 0.77: 2018, 0.8: 263}


@pytest.mark.parametrize(("p", "rounds"), PUBLISHED.items())
def test_rounds_of_the_worked_example(p: float, rounds: int) -> None:
    """The published figures are whole rounds, rounded up; 7.85 is itself rounded, which shows from a thousand on."""
    assert math.ceil(rounds_to_settle(p, 3.0, 2.7425)) == pytest.approx(rounds, rel=0.003, abs=0)


def test_variance_agrees_with_played_rounds() -> None:
    random = np.random.default_rng(7)
    accepted = (random.random((200_000, 5)) < 0.7).cumprod(axis=1).sum(axis=1)
    assert accepted_variance(0.7, 5.0) == pytest.approx(accepted.var(), rel=0.01)


def test_at_break_even_no_number_of_rounds_settles_it() -> None:
    assert rounds_to_settle(0.5, 1.0, 1.5) == np.inf
