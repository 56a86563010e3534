from __future__ import annotations

import numpy as np
import pytest

from specrules.economics import distributions
from specrules.economics.information import value_of_all, value_of_some

COUNT = 8191
SHARES = np.stack([distributions.even_shares(COUNT, dimension, 1) for dimension in range(4)])


def test_two_even_options_that_are_known_before_choosing() -> None:
    """One option is worth 0, the other -1 or 1: knowing lets one take it where it is 1, half the time."""
    options = np.stack([np.zeros(COUNT), np.where(SHARES[0] < 0.5, -1.0, 1.0)])
    assert value_of_all(options) == pytest.approx(0.5, abs=1e-3)


def test_of_uniform_values_the_mean_of_the_positive_part() -> None:
    """U(-1, 1) against 0: E[max(0, U)] is 1/4, all of it in U and none in what does not matter."""
    options = np.stack([np.zeros(COUNT), 2 * SHARES[0] - 1])
    assert value_of_all(options) == pytest.approx(0.25, abs=1e-3)
    assert value_of_some(options, SHARES[:1]) == pytest.approx(0.25, abs=2e-3)
    assert value_of_some(options, SHARES[1:2]) == pytest.approx(0, abs=5e-3)
    assert value_of_some(options, SHARES[:0]) == pytest.approx(0, abs=1e-3)


def test_a_part_is_worth_what_the_mean_given_it_is_worth() -> None:
    """X + Y against 0, both U(-1, 1): X alone is worth E[max(0, X)] = 1/4, both E[max(0, X + Y)] = 1/3."""
    total = (2 * SHARES[0] - 1) + (2 * SHARES[1] - 1)
    options = np.stack([np.zeros(COUNT), total])
    assert value_of_some(options, SHARES[:1]) == pytest.approx(0.25, abs=5e-3)
    assert value_of_some(options, SHARES[:2]) == pytest.approx(1 / 3, abs=5e-3)
    assert value_of_all(options) == pytest.approx(1 / 3, abs=2e-3)


def test_a_kind_splits_the_samples() -> None:
    kind = (SHARES[2] < 0.5).astype(np.float64)
    options = np.stack([np.zeros(COUNT), np.where(kind == 1, 3.0, -1.0) + SHARES[0]])
    # Known: 3.5 or 0 evenly, 1.75. Unknown: max(0, (3.5 - 0.5) / 2) = 1.5.
    assert value_of_some(options, SHARES[:0], kind) == pytest.approx(0.25, abs=5e-3)


def test_nothing_is_worth_knowing_where_one_option_is_always_best() -> None:
    options = np.stack([np.full(COUNT, 5.0), SHARES[0]])
    assert value_of_all(options) == pytest.approx(0, abs=1e-12)
    assert value_of_some(options, SHARES[:2]) == pytest.approx(0, abs=1e-12)


def test_unknown_samples_are_refused() -> None:
    with pytest.raises(ValueError, match="finite samples"):
        value_of_all(np.array([[1.0, np.nan]]))
