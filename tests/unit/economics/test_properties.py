"""Properties that hold for all inputs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from specrules.economics import acceptance, break_even, experts, rounds, verify
from specrules.economics.interval import Interval, corners

probabilities = st.floats(0, 1) | st.sampled_from([0.0, 1.0, 1 - 1e-12, 1e-12])
lengths = st.integers(1, 70).map(float) | st.floats(0.1, 70)
times = st.floats(0.1, 1e4)

brief = settings(max_examples=60, deadline=None)


def ordered(low: float, high: float) -> Interval[float]:
    low, high = sorted((low, high))
    return Interval(low, (low + high) / 2 if low < (low + high) / 2 < high else low, high)


@brief
@given(probabilities, lengths)
def test_tokens_are_one_and_the_ratio_times_the_length(p: float, length: float) -> None:
    tokens, ratio = acceptance.tokens_per_round(p, length), acceptance.accepted_ratio(p, length)
    assert tokens == pytest.approx(1 + length * ratio, rel=1e-14)
    assert 1 <= tokens <= (length + 1) * (1 + 1e-14)
    assert acceptance.tokens_from_ratio(min(ratio, 1.0), length) == pytest.approx(tokens, rel=1e-14)
    assert acceptance.ratio_from_tokens(tokens, length) == pytest.approx(ratio, rel=1e-9, abs=1e-14)


@brief
@given(probabilities, probabilities, lengths)
def test_tokens_and_ratio_rise_with_the_acceptance(first: float, second: float, length: float) -> None:
    low, high = sorted((first, second))
    slack = 1 + 1e-13
    assert acceptance.tokens_per_round(low, length) <= acceptance.tokens_per_round(high, length) * slack
    assert acceptance.accepted_ratio(low, length) <= acceptance.accepted_ratio(high, length) * slack


@brief
@given(probabilities, lengths, lengths)
def test_tokens_rise_and_the_ratio_falls_with_the_length(p: float, first: float, second: float) -> None:
    short, long = sorted((first, second))
    assert acceptance.tokens_per_round(p, short) <= acceptance.tokens_per_round(p, long) * (1 + 1e-13)
    assert acceptance.accepted_ratio(p, short) >= acceptance.accepted_ratio(p, long) * (1 - 1e-13)


@brief
@given(probabilities, lengths)
def test_conditional_to_ratio_to_tokens_and_back(p: float, length: float) -> None:
    ratio = min(acceptance.accepted_ratio(p, length), 1.0)
    assert acceptance.conditional_from_ratio(ratio, length) == pytest.approx(p, abs=1e-9)
    tokens = acceptance.tokens_from_ratio(ratio, length)
    assert acceptance.conditional_from_tokens(tokens, length) == pytest.approx(p, abs=1e-9)


@brief
@example(5e-324, 0.5)
@given(probabilities, lengths)
def test_ratio_to_conditional_and_back(ratio: float, length: float) -> None:
    p = acceptance.conditional_from_ratio(ratio, length)
    assert 0 <= p <= 1
    assert acceptance.accepted_ratio(p, length) == pytest.approx(ratio, rel=1e-9, abs=1e-13)


@brief
@given(probabilities, st.integers(1, 60))
def test_whole_lengths_meet_the_closed_form(p: float, length: int) -> None:
    beside = acceptance.tokens_per_round(p, length * (1 + 1e-13) + 1e-13)
    assert acceptance.tokens_per_round(p, length) == pytest.approx(beside, rel=1e-10)


@brief
@given(probabilities, st.integers(1, 40))
def test_a_constant_hazard_is_a_constant_conditional(p: float, length: int) -> None:
    positions = acceptance.positions_from_hazards([p] * length)
    assert acceptance.tokens_from_positions(positions) == pytest.approx(acceptance.tokens_per_round(p, length))
    assert rounds.rejected_share(p, length) == pytest.approx(1 - positions[-1], abs=1e-12)


@brief
@given(st.lists(st.floats(0.01, 1), min_size=1, max_size=16))
def test_hazards_to_positions_and_back(hazards: list[float]) -> None:
    positions = acceptance.positions_from_hazards(hazards)
    np.testing.assert_allclose(acceptance.hazards_from_positions(positions), hazards, rtol=1e-12)


@brief
@given(st.lists(st.integers(0, 10_000), min_size=2, max_size=17).filter(any))
def test_a_histogram_counts_as_its_rounds_do(counts: list[int]) -> None:
    accepted, drafted_rounds = sum(index * count for index, count in enumerate(counts)), sum(counts)
    expected = acceptance.tokens_from_counts(accepted, drafted_rounds)
    assert acceptance.tokens_from_histogram(counts) == pytest.approx(expected, rel=1e-12)
    for depth in range(1, len(counts)):
        cut = sum(min(index, depth) * count for index, count in enumerate(counts)) / drafted_rounds
        assert acceptance.tokens_from_histogram(counts, depth) == pytest.approx(1 + cut, rel=1e-12)


@brief
@given(st.lists(st.tuples(probabilities, lengths), min_size=1, max_size=6))
def test_arrays_give_what_numbers_give(pairs: list[tuple[float, float]]) -> None:
    p, length = np.array(pairs).T
    for function in (acceptance.tokens_per_round, acceptance.accepted_ratio, acceptance.conditional_from_ratio):
        np.testing.assert_array_equal(function(p, length), [function(*pair) for pair in pairs])


@brief
@given(st.floats(0, 80), lengths)
def test_break_even_quantities_agree_with_each_other(needed: float, length: float) -> None:
    p, ratio = break_even.break_even_conditional(needed, length), break_even.break_even_ratio(needed, length)
    assert math.isnan(p) == math.isnan(ratio) == (not break_even.possible(needed, length))
    if not math.isnan(p):
        assert acceptance.tokens_per_round(p, length) == pytest.approx(max(needed, 1), rel=1e-8)
        assert acceptance.accepted_ratio(p, length) == pytest.approx(ratio, abs=1e-8)


@brief
@given(times, times, probabilities, probabilities)
def test_overlap_lands_between_its_bounds(draft: float, verify_time: float, overlap: float, guess: float) -> None:
    found = rounds.round_bounds(draft, verify_time, overlap=overlap, guess=guess)
    assert found.low <= found.mid <= found.high
    assert rounds.round_time(0, draft, verify_time, overlap=overlap, guess=guess) == pytest.approx(found.mid)


@brief
@given(st.tuples(times, times), st.tuples(times, times), st.tuples(probabilities, probabilities), st.data())
def test_corners_hold_every_inner_value(
    draft: tuple[float, float], verifying: tuple[float, float], guess: tuple[float, float], data: st.DataObject
) -> None:
    ranges = {"draft_time": ordered(*draft), "verify_time": ordered(*verifying), "guess": ordered(*guess)}
    hull = corners(rounds.round_time, overhead=1.0, overlap=0.7, **ranges)
    inner = {name: data.draw(st.floats(part.low, part.high), label=name) for name, part in ranges.items()}
    value = rounds.round_time(1.0, inner.pop("draft_time"), inner.pop("verify_time"), overlap=0.7, **inner)
    assert hull.low * (1 - 1e-12) <= value <= hull.high * (1 + 1e-12)


@brief
@given(st.integers(1, 64), st.integers(2, 512), st.floats(0, 1), st.integers(1, 64), st.data())
def test_expert_factors_lie_between_one_and_the_width(
    width: int, count: int, share: float, batch: int, data: st.DataObject
) -> None:
    top_k = data.draw(st.integers(1, count), label="top_k")
    found = experts.expert_verify_factor(width, count, top_k, share, batch)
    assert 1 <= found.low <= found.mid <= found.high <= width * (1 + 1e-12)


@brief
@given(st.dictionaries(st.integers(1, 33), times, min_size=1, max_size=8), st.floats(1, 33))
def test_a_curve_brackets_what_it_knows(curve: dict[int, float], width: float) -> None:
    found = verify.verify_from_curve(width, list(curve), list(curve.values()))
    assert math.isnan(found.high) == (width > max(curve))
    assert math.isnan(found.low) == (width < min(curve))
    if found.known:
        assert {found.low, found.high} <= set(curve.values())
