"""Published acceptance figures. Tolerances are what the printed digits allow, or the error of the source itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from specrules.economics import acceptance, bounds, break_even, rounds

from .tables import rows


def test_leviathan_table_1_to_two_decimals() -> None:
    table = rows("t01")
    assert len(table) == 6
    for row in table:
        tokens = acceptance.tokens_per_round(row["alpha"], row["gamma"])
        speed = rounds.speedup(rounds.rate(tokens, rounds.round_time(0, 0, 1)), rounds.rate(1, 1))
        assert speed == pytest.approx(row["speed"], abs=0.005)
        assert (row["gamma"] + 1) / tokens == pytest.approx(row["ops"], abs=0.005)


def test_leviathan_table_4_expected_speedups() -> None:
    # alpha is printed to two digits: half a unit in its last place moves the result by up to .07.
    table = rows("t02")
    assert len(table) == 12
    for row in table:
        tokens = acceptance.tokens_per_round(row["alpha"], row["gamma"])
        round_ms = rounds.round_time(0, rounds.draft_time(row["gamma"], row["c"]), 1)
        assert rounds.rate(tokens, round_ms) / 1000 == pytest.approx(row["exp"], abs=0.07)


def test_eagle_hazards_give_the_chains_tau() -> None:
    table = [row for row in rows("t04") if row["tau_chain_T0"] is not None]
    assert len(table) == 6
    for row in table:
        positions = acceptance.positions_from_hazards([row[f"a{index}"] for index in range(5)])
        assert acceptance.tokens_from_positions(positions) == pytest.approx(row["tau_chain_T0"], rel=0.053)
        # One acceptance for all five positions overstates it, by 5.4 to 12.6 %.
        constant = acceptance.tokens_per_round(row["a0"], 5)
        assert 1.05 < constant / row["tau_chain_T0"] < 1.13


@pytest.mark.parametrize(("name", "depth", "before", "after"), [("t05a", 3, 16, 24), ("t05b", 2, 24, 32)])
def test_eagle_stops_paying_with_batch(name: str, depth: int, before: int, after: int) -> None:
    table = rows(name)
    batch, eagle = (np.array([row[column] for row in table]) for column in ("batch", "eagle"))
    pays = rounds.speedup(eagle, 1.0) > 1
    assert (batch[pays].max(), batch[~pays].min()) == (before, after)
    for row in table:
        for column in ("eagle", "eagle3"):
            assert bounds.within_commit_bound(row[column] * 1000, 1, depth + 1, 0)


def test_no_published_speedup_exceeds_its_tokens_per_round() -> None:
    table = rows("t05c")
    assert len(table) == 14
    for row in table:
        assert bounds.within_commit_bound(row["speedup"] * 1000, 1, row["tau"], 0)
        # The other way round it is refused: the test would notice swapped arguments.
        assert not bounds.within_commit_bound(row["tau"] * 1000, 1, row["speedup"], 0)


def test_per_position_vectors() -> None:
    table = rows("t15")
    assert len(table) == 9
    for row in table:
        positions = [float(entry) for entry in row["vector"].split(";")]
        assert len(positions) == row["K"]
        tokens = acceptance.tokens_from_positions(positions)
        assert tokens == pytest.approx(row["MAL"], abs=0.0051)
        if row["ratio"] is not None:
            assert acceptance.ratio_from_tokens(tokens, row["K"]) == pytest.approx(row["ratio"], abs=0.00051)


def test_hazards_rise_for_lookup_and_fall_for_a_chain_of_heads() -> None:
    vectors = {row["source"]: [float(entry) for entry in row["vector"].split(";")] for row in rows("t15")}
    lookup = acceptance.hazards_from_positions(vectors["vllm#19254a"])
    heads = acceptance.hazards_from_positions(vectors["club3090#105a"])
    np.testing.assert_allclose(lookup, [0.54, 0.66, 0.74], atol=0.005)
    np.testing.assert_allclose(heads, [0.92, 0.91, 0.77, 0.83, 0.84, 0.77], atol=0.006)


def test_a_vector_whose_position_0_is_the_anchor() -> None:
    # DFlash, 16 positions: printed tau 5.68, which is the plain sum.
    vector = [1.000, 0.809, 0.681, 0.596, 0.426, 0.404, 0.340, 0.298]
    vector += [0.213, 0.191, 0.191, 0.149, 0.128, 0.106, 0.085, 0.064]
    assert acceptance.tokens_from_positions(vector, anchor=True) == pytest.approx(5.68, abs=0.005)
    assert acceptance.tokens_from_positions(vector, 3, anchor=True) == pytest.approx(1 + 0.809 + 0.681 + 0.596)


def test_the_histogram_of_the_vllm_documentation() -> None:
    tokens = acceptance.tokens_from_histogram([39, 1, 0, 3])
    assert tokens == pytest.approx(1.23256, abs=5e-6)
    assert tokens == acceptance.tokens_from_counts(10, 43)
    assert acceptance.ratio_from_tokens(tokens, 3) == pytest.approx(0.07752, abs=5e-6)


def test_break_even_tokens_of_a_synthetic_run_as_acceptance() -> None:
    expected = {
        "2k": [0.322, 0.297, 0.359, 0.392, 0.434],
        "32k": [0.491, 0.544, 0.709, 0.858, 0.994],
        "131k": [0.822, 0.951, np.nan, np.nan, np.nan],
    }
    for row in rows("t18"):
        needed = np.array([row[f"B{batch}"] for batch in (1, 2, 4, 8, 16)])
        found = break_even.break_even_conditional(needed, 4)
        np.testing.assert_allclose(found, expected[row["ctx"]], rtol=0, atol=5.1e-4)
        np.testing.assert_array_equal(break_even.possible(needed, 4), ~np.isnan(found))


def test_agreement_with_the_target_overstates_tokens_per_round() -> None:
    agreement = {(row["decoding"], row["dataset"]): row["k1"] / 100 for row in rows("t20")}
    excess: dict[Any, list[float]] = {"greedy": [], "stoch": []}
    for row in rows("t21"):
        proxy = acceptance.tokens_per_round(agreement[row["decoding"], row["dataset"]], 8)
        excess[row["decoding"]].append(proxy / row["w1"] - 1)
    assert len(excess["greedy"]) == len(excess["stoch"]) == 5
    assert (min(excess["greedy"]), max(excess["greedy"])) == pytest.approx((0.03, 0.22), abs=0.005)
    assert (min(excess["stoch"]), max(excess["stoch"])) == pytest.approx((0.21, 0.34), abs=0.005)


def test_one_conditional_acceptance_explains_the_ratio_at_every_depth() -> None:
    table = rows("t23")
    assert [row["K"] for row in table] == [1, 2, 4, 8]
    for row in table:
        assert acceptance.conditional_from_ratio(row["ratio"], row["K"]) == pytest.approx(0.722, abs=0.0015)
