"""The verify pass as it follows from experts, bytes and flops, held against published passes."""

from __future__ import annotations

from typing import Any

import pytest

from specrules.derive.predicted_verify import predicted_verify
from specrules.derive.spans import Span
from specrules.economics import experts, roofline
from specrules.model.case import Case

from .build import case, table


def ends(one: Case, width: int, plain: float | None = None) -> tuple[float, float, float]:
    found = predicted_verify(one, width, None if plain is None else Span.exact(plain))
    assert found is not None
    return (found.factor.low, found.factor.mid, found.factor.high)


def mixture(count: int, active: int, share: Any, concurrency: int | None = None, **target: Any) -> Case:
    stated = {"count": count, "active": active, "step_share": share}
    return case(target={"kind": "moe", "experts": stated, **target}, workload={"concurrency": concurrency})


DENSE = {"kind": "dense", "active_parameters_billion": 27.0, "device": "card"}
CARD = {"devices": [{"name": "card", "tflops": 209.5, "bandwidth_gb_s": 1792.0}]}


def test_a_mixture_reads_between_the_measured_and_the_independent_union() -> None:
    low, mid, high = ends(mixture(128, 8, 0.3), 4)
    independent = 128 * (1 - (1 - 8 / 128) ** 4) / 8
    assert high == pytest.approx(1 + 0.3 * (independent - 1))
    assert low == pytest.approx(1 + 0.3 * (independent / 1.8 - 1))
    assert mid == pytest.approx(1 + 0.3 * (independent / (1.3 * 1.8) ** 0.5 - 1))


def test_the_width_counts_the_row_that_the_draft_continues() -> None:
    assert ends(mixture(128, 8, 0.5), 1) == (1.0, 1.0, 1.0)
    # One drafted token is a pass over two rows: 15.5 experts of which each row routes to 8.
    assert ends(mixture(128, 8, 1.0), 2)[2] == pytest.approx(15.5 / 8)


def test_an_interval_of_the_share_widens_both_ends() -> None:
    low, _, high = ends(mixture(128, 8, {"low": 0.3, "high": 0.9}), 4)
    assert low == ends(mixture(128, 8, 0.3), 4)[0]
    assert high == ends(mixture(128, 8, 0.9), 4)[2]


def test_at_a_batch_the_plain_step_reads_more_experts_too() -> None:
    alone, many = ends(mixture(128, 8, 1.0), 4), ends(mixture(128, 8, 1.0, 32), 4)
    # 32 sequences read nearly every expert already with one row each.
    assert many[1] < alone[1]
    assert many[1] == pytest.approx(
        experts.distinct_experts(128, 128, 8) / experts.distinct_experts(32, 128, 8), rel=1e-9
    )
    assert ends(mixture(128, 8, 1.0, None), 4) == alone


def test_published_unions_lie_in_the_interval_that_a_step_of_experts_alone_would_have() -> None:
    for row in table("t10b"):
        low, _, high = ends(mixture(int(row["E"]), int(row["k"]), 1.0), int(row["T"]))
        assert low <= max(1.0, row["unique"] / row["k"]) <= high


def test_published_passes_of_mixtures_and_the_two_that_no_union_explains() -> None:
    # Mixtral 8/2, f = .90, seven rows (arXiv:2506.20675): 2.3 to 3.0 measured.
    low, _, high = ends(mixture(8, 2, 0.90), 7)
    assert low < 2.3
    assert high > 3.0
    # Cohere 128/8, f = .30, four rows: 1.25 measured, 4 % below the low end. The share is the source's estimate.
    low, _, _ = ends(mixture(128, 8, 0.30), 4)
    assert low / 1.25 == pytest.approx(1.045, abs=0.001)
    # Laguna 256/10, f = .313, five rows: 2.999 plain steps printed, launches and not experts.
    _, _, high = ends(mixture(256, 10, 0.313), 5)
    assert high == pytest.approx(2.13, abs=0.01)
    assert high < 2.999


def test_a_kernel_that_changes_with_the_width_is_beyond_any_model_of_bytes() -> None:
    # ik_llama.cpp#1630: two rows of a mixture take 3.05 plain steps, more than two passes of one row.
    steps = {row["width"]: row["width"] / row["tok_s"] for row in table("t12c")}
    assert steps[2] / steps[1] == pytest.approx(3.05, abs=0.006)
    assert ends(mixture(160, 8, 1.0), 2)[2] < 2


def test_the_bytes_of_a_published_model_grow_as_the_independent_union_does() -> None:
    rows = table("t10c")
    plain = rows[0]["GB_per_pass"]
    routed = (rows[-1]["GB_per_pass"] - plain) / (rows[-1]["experts"] / rows[0]["experts"] - 1) / plain
    assert routed == pytest.approx(0.596, abs=0.003)
    for row in rows:
        high = ends(mixture(128, 8, routed), int(row["tokens"]))[2]
        assert high == pytest.approx(row["GB_per_pass"] / plain, abs=0.005)  # bytes are printed to .01 of about 5


def test_a_dense_target_by_its_operations() -> None:
    one = case(target=DENSE, host=CARD)
    row = 2 * 27e9 / 209.5e12 * 1000
    low, mid, high = ends(one, 4, 14.9)
    assert low == 1.0
    assert high == pytest.approx(1 + 3 * row / (0.1 * 14.9))
    assert mid == pytest.approx(1 + 3 * row / (0.1**0.5 * 14.9))
    # llama.cpp#28196: whole rounds of this size, the head included, so that the pass alone lies below them.
    for width, printed in ((2, 1.26), (3, 1.38), (4, 1.47), (7, 2.11)):
        low, _, high = ends(one, width, 14.9)
        assert low < printed
        assert high <= printed * 1.04


def test_a_tree_on_a_large_accelerator_lies_inside() -> None:
    # Sequoia on an A100 (312 Tflop/s): 128 nodes of a 7B take 1.03 to 1.11 plain steps of 24.2 ms.
    large = {"devices": [{"name": "A100", "tflops": 312.0}]}
    one = case(target={"kind": "dense", "active_parameters_billion": 6.74}, host=large)
    low, _, high = ends(one, 129, 24.2)
    assert low <= 1.03
    assert high > 1.11
    assert ends(one, 8, 24.2)[2] == pytest.approx(1.125, abs=0.001)


def test_rows_that_take_longer_than_reading_raise_the_low_end() -> None:
    row = roofline.compute_time(27e9, 1, 1, 209.5e12)
    low, _, high = ends(case(target=DENSE, host=CARD, workload={"concurrency": 32}), 4, 14.9)
    assert low == pytest.approx(32 * 4 * row / 14.9)
    assert low > 2
    assert high == 4.0


def test_the_time_to_read_the_weights_stands_in_for_the_plain_step() -> None:
    one = case(target={**DENSE, "weights_gib": 15.0, "kv_gib": 0.5}, host=CARD, workload={"concurrency": 2})
    step = 1000 * (15 + 2 * 0.5) * 2**30 / 1792e9
    assert ends(one, 4) == ends(one, 4, step)
    assert ends(one, 4) != ends(one, 4, 14.9)
    uncached = case(target={**DENSE, "weights_gib": 16.0}, host=CARD, workload={"concurrency": 2})
    assert ends(uncached, 4) == pytest.approx(ends(one, 4))


def test_errors_of_the_plain_step_widen_the_interval() -> None:
    found = predicted_verify(case(target=DENSE, host=CARD), 4, Span(12.0, 14.0, 16.0))
    assert found is not None
    one = case(target=DENSE, host=CARD)
    assert (found.factor.low, found.factor.mid, found.factor.high) == (
        ends(one, 4, 16.0)[0],
        ends(one, 4, 14.0)[1],
        ends(one, 4, 12.0)[2],
    )


def test_a_mixture_that_also_states_its_operations_adds_them() -> None:
    one = mixture(128, 8, 0.5)
    both = case(
        target={
            "kind": "moe",
            "experts": {"count": 128, "active": 8, "step_share": 0.5},
            "active_parameters_billion": 3.0,
        },
        host={"devices": [{"name": "card", "tflops": 60.0}]},
    )
    read, together = ends(one, 8), ends(both, 8, 10.0)
    row = 2 * 3e9 / 60e12 * 1000
    assert together[2] == pytest.approx(read[2] + 7 * row / (0.1 * 10.0))
    assert together[0] == read[0]
    assert ends(both, 8) == read
    found = predicted_verify(both, 8, Span.exact(10.0))
    assert found is not None
    assert "experts" in found.basis
    assert "compute" in found.basis


@pytest.mark.parametrize(
    "one",
    [
        case(target={"kind": "dense"}),
        case(target={"kind": "moe"}),
        case(target=DENSE),
        case(target=DENSE, host={"devices": [{"name": "card"}]}),
        case(target=DENSE, host={"devices": [{"name": "other", "tflops": 100.0}]}),
        case(target={**DENSE, "device": None}, host={"devices": [*CARD["devices"], {"name": "b", "tflops": 1.0}]}),
        case(target={**DENSE, "kind": "moe"}, host=CARD),
        case(target={"kind": "moe", "experts": {"count": 128, "active": 8}}),
        mixture(8, 16, 0.5),
        # 5 ms are too short for the operations of this many parameters at this batch.
        case(target=DENSE, host=CARD, workload={"concurrency": 32}),
    ],
)
def test_too_little_or_what_cannot_be_predicts_nothing(one: Case) -> None:
    assert predicted_verify(one, 4, Span.exact(5.0)) is None


def test_without_a_plain_step_or_what_stands_in_for_it_nothing_is_predicted() -> None:
    assert predicted_verify(case(target=DENSE, host=CARD), 4) is None
    assert predicted_verify(case(target={**DENSE, "weights_gib": 15.0}, host=CARD), 4) is not None


def test_a_device_is_chosen_by_the_name_that_the_target_states() -> None:
    two = {"devices": [{"name": "small", "tflops": 10.0}, {"name": "card", "tflops": 209.5}]}
    assert ends(case(target=DENSE, host=two), 4, 14.9) == ends(case(target=DENSE, host=CARD), 4, 14.9)
