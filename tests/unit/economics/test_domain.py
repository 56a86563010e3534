"""The lift from numbers to arrays, and that every function refuses what lies outside its domain."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from specrules.economics import acceptance, bounds, break_even, experts, roofline, rounds, sampling_error, verify
from specrules.economics.interval import Interval

# One valid call of every lifted function.
VALID: dict[Callable[..., Any], dict[str, float]] = {
    acceptance.tokens_per_round: {"conditional_acceptance": 0.6, "draft_length": 3},
    acceptance.accepted_ratio: {"conditional_acceptance": 0.6, "draft_length": 3},
    acceptance.conditional_from_ratio: {"ratio": 0.4, "draft_length": 3},
    acceptance.conditional_from_tokens: {"tokens": 2.2, "draft_length": 3},
    acceptance.tokens_from_counts: {"accepted": 10, "rounds": 43},
    acceptance.tokens_from_ratio: {"ratio": 0.4, "draft_length": 3},
    acceptance.ratio_from_tokens: {"tokens": 2.2, "draft_length": 3},
    acceptance.tokens_over_all_steps: {"tokens": 63, "accepted": 29},
    acceptance.conditional_from_outcomes: {"accepted": 30, "rejected_rounds": 10},
    acceptance.extrapolation_half_width: {"measured_length": 3, "draft_length": 7},
    rounds.draft_time: {"passes": 3, "pass_time": 12, "catch_up": 4},
    rounds.rejected_share: {"conditional_acceptance": 0.6, "draft_length": 3},
    rounds.next_round_guess: {"conditional_acceptance": 0.6, "draft_length": 3},
    rounds.overlap_saving: {"draft_time": 36, "verify_time": 73.7, "overlap": 1, "guess": 0.13},
    rounds.round_time: {
        "overhead": 2,
        "draft_time": 36,
        "verify_time": 73.7,
        "rejected_share": 0.8,
        "restore_time": 10,
        "overlap": 0.5,
        "guess": 0.13,
    },
    rounds.round_bounds: {"draft_time": 36, "verify_time": 73.7, "overlap": 0.5, "guess": 0.13},
    rounds.rate: {"tokens_per_round": 2.2, "round_ms": 110},
    rounds.round_from_rate: {"tokens_per_round": 2.2, "rate": 20},
    rounds.covered_rate: {"coverage": 0.3, "tokens_per_round": 2.2, "round_ms": 110, "target_step": 67},
    rounds.request_time: {"ttft": 500, "drafter_prefill": 100, "tokens": 200, "rate": 20},
    rounds.speedup: {"rate": 20, "incumbent_rate": 25},
    verify.verify_width: {"draft_length": 3},
    verify.round_slope: {"draft_length": 3, "round_ms": 110, "target_step": 67},
    verify.verify_slope: {"draft_length": 3, "verify_time": 74, "target_step": 67},
    verify.round_from_slope: {"draft_length": 3, "target_step": 67, "round_slope": 0.2},
    verify.verify_from_slope: {"draft_length": 3, "target_step": 67, "verify_slope": 0.1},
    verify.block_round_from_run: {"draft_length": 3, "measured_length": 7, "round_ms": 110, "target_step": 67},
    verify.round_from_runs: {
        "draft_length": 3,
        "first_length": 1,
        "first_round": 80,
        "second_length": 7,
        "second_round": 140,
    },
    verify.constant_verify_time: {"target_step": 67},
    verify.verify_floor: {"width": 4, "incumbent_round": 66.8, "incumbent_length": 1, "head_share": 0.15},
    verify.target_step_from_round: {"incumbent_round": 66.8, "verify_factor": 1.05, "head_share": 0.15},
    experts.distinct_experts: {"rows": 4, "experts": 128, "top_k": 8},
    experts.distinct_experts_range: {"rows": 4, "experts": 128, "top_k": 8},
    experts.expert_verify_factor: {"width": 4, "experts": 128, "top_k": 8, "expert_share": 0.3, "batch": 2},
    roofline.memory_time: {"weight_bytes": 16e9, "kv_bytes": 1e8, "batch": 4, "bandwidth": 1e12},
    roofline.compute_time: {"active_parameters": 8e9, "batch": 4, "width": 4, "flops": 1e14},
    roofline.roofline_time: {
        "weight_bytes": 16e9,
        "kv_bytes": 1e8,
        "active_parameters": 8e9,
        "batch": 4,
        "width": 4,
        "bandwidth": 1e12,
        "flops": 1e14,
    },
    roofline.knee_width: {
        "weight_bytes": 16e9,
        "kv_bytes": 1e8,
        "active_parameters": 8e9,
        "batch": 4,
        "bandwidth": 1e12,
        "flops": 1e14,
    },
    roofline.roofline_verify_factor: {"width": 4, "target_step": 14.9, "row_time": 0.26, "batch": 2},
    sampling_error.outcome_interval: {"accepted": 30, "rejected_rounds": 10, "confidence": 0.9},
    sampling_error.design_effect: {"conditional_acceptance": 0.6, "draft_length": 3},
    sampling_error.ratio_interval: {"accepted": 30, "drafted": 60, "draft_length": 3, "confidence": 0.9},
    sampling_error.cluster_effect: {"rounds_per_request": 60, "correlation": 0.1},
    break_even.break_even_tokens: {"incumbent_rate": 25, "round_ms": 110},
    break_even.break_even_from_synthetic_zero: {"incumbent_rate": 25, "synthetic_zero_rate": 10},
    break_even.possible: {"tokens_needed": 2.7, "draft_length": 3},
    break_even.break_even_conditional: {"tokens_needed": 2.7, "draft_length": 3},
    break_even.break_even_ratio: {"tokens_needed": 2.7, "draft_length": 3},
    break_even.never_beats_off: {"verify_time": 74, "draft_length": 3, "target_step": 67},
    break_even.seed_memory_bound: {"speculative_time": 110, "base_time": 40, "draft_length": 3},
    break_even.memory_bound_with_bonus: {"speculative_time": 110, "base_time": 40, "draft_length": 3},
    break_even.seed_compute_bound: {"drafter_parameters": 1e9, "target_parameters": 8e9, "batch": 4},
    break_even.compute_bound: {"drafter_parameters": 1e9, "target_parameters": 8e9},
    bounds.least_tokens: {"rate": 25, "target_step": 67},
    bounds.within_commit_bound: {"rate": 25, "target_step": 67, "tokens_per_round": 1.7, "tolerance": 0.03},
    bounds.rate_ceiling: {"tokens_per_round": 2.2, "overhead": 2, "draft_time": 36, "target_step": 67},
}
CALLS = [pytest.param(function, named, id=function.__name__) for function, named in VALID.items()]
EACH_ARGUMENT = [
    pytest.param(function, named, name, id=f"{function.__name__}-{name}")
    for function, named in VALID.items()
    for name in named
]


def parts(result: Any) -> list[Any]:
    return [result.low, result.mid, result.high] if isinstance(result, Interval) else [result]


def test_every_lifted_function_is_listed() -> None:
    modules = (acceptance, rounds, verify, experts, roofline, break_even, bounds, sampling_error)
    lifted = {
        function
        for module in modules
        for function in vars(module).values()
        if inspect.isfunction(function) and function.__module__ == module.__name__ and hasattr(function, "__wrapped__")
    }
    assert lifted == set(VALID)
    assert all(list(inspect.signature(function).parameters) == list(named) for function, named in VALID.items())


@pytest.mark.parametrize(("function", "named"), CALLS)
def test_numbers_give_numbers_and_arrays_the_same_numbers(function: Callable[..., Any], named: Any) -> None:
    alone = parts(function(**named))
    assert {type(part) for part in alone} <= {float, bool}
    stacked = parts(function(**{name: np.full((2, 3), value) for name, value in named.items()}))
    for one, many in zip(alone, stacked, strict=True):
        assert many.shape == (2, 3)
        np.testing.assert_array_equal(many, one)


@pytest.mark.parametrize(("function", "named", "name"), EACH_ARGUMENT)
def test_each_argument_broadcasts_alone(function: Callable[..., Any], named: Any, name: str) -> None:
    values = np.array([named[name], named[name] * 1.01 if name != "overlap" else 0.25])
    together = parts(function(**named | {name: values}))
    apart = [parts(function(**named | {name: float(value)})) for value in values]
    for part, ones in zip(together, zip(*apart, strict=True), strict=True):
        np.testing.assert_allclose(part, ones, rtol=1e-15)


@pytest.mark.parametrize(("function", "named", "name"), EACH_ARGUMENT)
@pytest.mark.parametrize("bad", [math.nan, math.inf, None, "many", -1.0])
def test_each_argument_is_checked(function: Callable[..., Any], named: Any, name: str, bad: Any) -> None:
    if bad == -1.0 and name == "tokens" and function is acceptance.conditional_from_tokens:
        assert math.isnan(function(**named | {name: bad}))
        return
    with pytest.raises(ValueError, match=r"must|-1"):
        function(**named | {name: bad})
    if isinstance(bad, float):
        with pytest.raises(ValueError, match=r"must|-1"):
            function(**named | {name: np.array([named[name], bad])})


@pytest.mark.parametrize(
    ("function", "named", "message"),
    [
        (
            acceptance.tokens_per_round,
            {"conditional_acceptance": 1.01},
            "conditional_acceptance must lie between 0 and 1, got 1.01",
        ),
        (acceptance.tokens_per_round, {"draft_length": 0}, "draft_length must be above 0, got 0"),
        (acceptance.conditional_from_ratio, {"ratio": 41}, "ratio must lie between 0 and 1, got 41"),
        (rounds.rate, {"tokens_per_round": 0.41}, "is this a ratio"),
        (rounds.round_time, {"overlap": 2}, "overlap must lie between 0 and 1"),
        (experts.distinct_experts, {"top_k": 129}, "top_k must not exceed experts"),
        (verify.target_step_from_round, {"verify_factor": 0.9}, "verify_factor must be at least 1, got 0.9"),
        (verify.round_from_runs, {"second_length": 1}, "must differ"),
        (verify.round_from_slope, {"round_slope": -0.1}, "slope must not be negative"),
        (verify.block_round_from_run, {"round_ms": 60}, "slope must not be negative"),
    ],
)
def test_messages_name_the_argument_and_the_value(function: Any, named: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        function(**VALID[function] | named)


def test_shapes_that_do_not_broadcast_are_refused() -> None:
    with pytest.raises(ValueError, match="broadcast"):
        rounds.rate([2.0, 3.0], [1.0, 2.0, 3.0])


def test_arguments_are_not_written_to() -> None:
    given = np.array([0.1, 0.5])
    acceptance.tokens_per_round(given, 3)
    np.testing.assert_array_equal(given, [0.1, 0.5])
