from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specrules.economics import distributions as d

COUNT = 4093


def quantiles(samples: np.ndarray) -> list[float]:
    return [float(value) for value in np.quantile(samples, [0.05, 0.5, 0.95], method="hazen")]


@given(st.integers(0, 40), st.sampled_from(sorted(d.LATTICES)), st.integers(0, 5))
def test_every_slice_is_met_once(dimension: int, count: int, seed: int) -> None:
    shares = d.even_shares(count, dimension, seed)
    assert np.allclose(np.sort(shares), (np.arange(count) + 0.5) / count)


def test_pairs_of_dimensions_fill_the_square() -> None:
    """Every cell of 8 by 8 holds about its share of the points; of random ones some cell is off by a third."""
    for first, second in ((0, 1), (1, 2), (3, 11), (7, 15), (6, 8)):
        cells, *_ = np.histogram2d(
            d.even_shares(COUNT, first, 1), d.even_shares(COUNT, second, 1), bins=8, range=[[0, 1], [0, 1]]
        )
        assert np.abs(cells / (COUNT / 64) - 1).max() < 0.2


def test_counts_without_a_lattice_are_refused() -> None:
    with pytest.raises(ValueError, match="no lattice of 1000 points"):
        d.even_shares(1000, 0, 1)


def test_normal_quantiles_are_those_of_the_distribution() -> None:
    shares = d.even_shares(1021, 3, 2)
    expected = [NormalDist().inv_cdf(share) for share in shares]
    assert d.standard_normal(shares) == pytest.approx(expected)


@given(st.floats(0.1, 5), st.floats(0.01, 3), st.floats(0.01, 3))
def test_ends_and_middle_are_the_quantiles(low: float, below: float, above: float) -> None:
    mid, high = low + below, low + below + above
    shares = d.even_shares(COUNT, 1, 1)
    for sampler in (d.skewed_normal, d.skewed_lognormal):
        assert quantiles(sampler(low, mid, high, shares)) == pytest.approx([low, mid, high], rel=2e-3)


@given(st.floats(0.01, 0.3), st.floats(0.01, 0.3), st.floats(0.01, 0.3))
def test_shares_stay_between_zero_and_one(low: float, below: float, above: float) -> None:
    samples = d.skewed_logit(low, low + below, low + below + above, d.even_shares(COUNT, 1, 1))
    assert samples.min() > 0
    assert samples.max() < 1
    assert quantiles(samples) == pytest.approx([low, low + below, low + below + above], rel=2e-3)


def test_what_is_certain_is_a_point_and_the_ends_of_a_share_are_allowed() -> None:
    shares = d.even_shares(COUNT, 1, 1)
    assert d.skewed_logit(1.0, 1.0, 1.0, shares) == pytest.approx(np.ones(COUNT))
    assert d.uniform(2.0, 4.0, shares).mean() == pytest.approx(3)


def test_values_outside_their_scale_are_refused() -> None:
    shares = d.even_shares(COUNT, 1, 1)
    with pytest.raises(ValueError, match="low must be above 0, got 0"):
        d.skewed_lognormal(0.0, 1.0, 2.0, shares)
    with pytest.raises(ValueError, match="a share lies between 0 and 1"):
        d.skewed_logit(0.5, 0.9, 1.1, shares)
