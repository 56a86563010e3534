"""experts and roofline: what a pass reads and computes."""

from __future__ import annotations

from dataclasses import astuple

import numpy as np
import pytest

from specrules.economics import experts, roofline
from specrules.economics.interval import Interval

DENSE = {"weight_bytes": 16e9, "kv_bytes": 0.0, "active_parameters": 8e9, "bandwidth": 1e12, "flops": 1e14}


def test_distinct_experts_at_the_ends() -> None:
    assert experts.distinct_experts(1, 128, 8) == pytest.approx(8, rel=1e-14)
    assert experts.distinct_experts(10_000, 128, 8) == pytest.approx(128)
    assert experts.distinct_experts(5, 8, 8) == 8
    # The trunk of the seed record, 512 experts and 10 of them per row.
    assert experts.distinct_experts(4, 512, 10) == pytest.approx(38.8, abs=0.05)


def test_distinct_experts_against_random_routing() -> None:
    rng = np.random.default_rng(5)
    chosen = rng.random((3000, 6, 32)).argsort(axis=-1)[..., :4].reshape(3000, -1)
    mean = np.mean([np.unique(row).size for row in chosen])
    assert experts.distinct_experts(6, 32, 4) == pytest.approx(mean, abs=0.12)


def test_the_range_never_reads_less_than_one_row_does() -> None:
    assert astuple(experts.distinct_experts_range(1, 128, 8)) == pytest.approx((8.0, 8.0, 8.0))
    found = experts.distinct_experts_range(8, 128, 8)
    assert found.high == experts.distinct_experts(8, 128, 8)
    assert found.low == pytest.approx(found.high / 1.8)
    assert found.high / 1.8 < found.mid < found.high / 1.3


def test_verify_factor_is_amdahls_share() -> None:
    found = experts.expert_verify_factor(4, 128, 8, 0.3)
    assert found.high == pytest.approx(0.3 * experts.distinct_experts(4, 128, 8) / 8 + 0.7)
    assert experts.expert_verify_factor(4, 128, 8, 0.0) == Interval.exact(1.0)
    assert experts.expert_verify_factor(1, 128, 8, 0.9) == Interval.exact(1.0)


def test_verify_factor_reads_the_experts_of_the_whole_batch() -> None:
    alone, batch = (experts.expert_verify_factor(4, 128, 8, 1.0, size) for size in (1, 64))
    # 64 sequences read nearly all experts in a plain step, more rows then add little.
    independent = experts.distinct_experts(256, 128, 8) / experts.distinct_experts(64, 128, 8)
    assert independent == pytest.approx(1.016, abs=1e-3)
    assert batch.low == 1
    assert batch.low <= independent <= batch.high < alone.high
    assert batch.high == pytest.approx(1.8 * independent)
    assert experts.expert_verify_factor(2, 128, 8, 1.0, 8).high <= 2


def test_reading_and_computing() -> None:
    assert roofline.memory_time(16e9, 1e8, 4, 1e12) == pytest.approx(16.4)
    assert roofline.compute_time(8e9, 4, 3, 1e14) == pytest.approx(1.92)


def test_rows_are_free_up_to_the_knee() -> None:
    knee = roofline.knee_width(**DENSE, batch=4)
    assert knee == pytest.approx(25)
    plain = roofline.roofline_time(**DENSE, batch=4, width=1)
    assert roofline.roofline_time(**DENSE, batch=4, width=knee) == pytest.approx(plain)
    assert roofline.roofline_time(**DENSE, batch=4, width=2 * knee) == pytest.approx(2 * plain)


def test_batch_moves_the_knee_and_the_kv_cache_holds_it_up() -> None:
    assert roofline.knee_width(**DENSE, batch=100) == pytest.approx(1)
    assert roofline.knee_width(**DENSE, batch=1000) < 1
    # With a long context every sequence brings its own bytes: the knee no longer falls to 0 with the batch.
    long = DENSE | {"kv_bytes": 2e9}
    assert roofline.knee_width(**long, batch=1000) == pytest.approx(12.6)


def test_beyond_the_knee_a_pass_costs_its_rows_whatever_the_batch() -> None:
    for batch in (200, 400):
        plain = roofline.roofline_time(**DENSE, batch=batch, width=1)
        assert roofline.roofline_time(**DENSE, batch=batch, width=4) == pytest.approx(4 * plain)


def test_verify_factor_of_rows_between_hiding_and_adding() -> None:
    found = roofline.roofline_verify_factor(5, 20.0, 0.2)
    assert astuple(found) == pytest.approx((1.0, 1 + 4 * 0.01 / 0.1**0.5, 1 + 4 * 0.01 / 0.1))
    # Behind the knee nothing hides any more, and w passes are the most that w rows can cost.
    assert astuple(roofline.roofline_verify_factor(10, 20.0, 0.2, 50)) == pytest.approx((5.0, 10.0, 10.0))
    assert astuple(roofline.roofline_verify_factor(1, 20.0, 0.2, 50)) == (1.0, 1.0, 1.0)
    with pytest.raises(ValueError, match="target_step must not be shorter"):
        roofline.roofline_verify_factor(2, 1.0, 0.2, 6)
