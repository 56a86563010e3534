"""Published times and rates. Tolerances are what the printed digits allow, or the error of the source itself."""

from __future__ import annotations

import statistics
from collections import defaultdict
from typing import Any, ClassVar

import numpy as np
import pytest

from specrules.economics import acceptance, bounds, break_even, experts, roofline, rounds, verify

from .tables import rows


def test_sequoia_time_between_tokens_and_verify_factor() -> None:
    table = rows("t06")
    assert len(table) == 8
    for row in table:
        assert 1000 / rounds.rate(1, row["base_ms"] / row["speedup"]) == pytest.approx(row["TBT_ms"], abs=0.06)
        round_ms = rounds.round_from_rate(row["G"], 1000 * row["speedup"] / row["base_ms"])
        factor = (round_ms - rounds.draft_time(row["depth"], row["draft_ms"])) / row["base_ms"]
        assert 1.02 < factor < 1.11


def test_magicdec_times_and_signs() -> None:
    table = rows("t07")
    assert len(table) == 89
    agree, residuals = 0, []
    for row in table:
        found = rounds.rate(row["omega"], rounds.round_time(0, row["gammaTD_ms"], row["TV_ms"]))
        residuals.append(1000 / found / row["TSD_ms"] - 1)
        candidate = rounds.speedup(found, 1000 / row["TAR_ms"])
        same = (candidate > 1) == (row["speedup"] > 1)
        agree += same
        # All that disagree lie in a band of 7 % around a tie.
        assert same or abs(candidate - 1) < 0.07
    assert agree == 85
    # Almost always low: a round holds host time that D + V leaves out.
    assert min(residuals) > -0.07
    assert max(residuals) < 0.004
    assert statistics.median(residuals) == pytest.approx(-0.026, abs=5e-4)


def test_moesd_speedups_and_rounds() -> None:
    table = rows("t08")
    assert len(table) == 24
    factors = []
    for row in table:
        found = rounds.speedup(rounds.rate(1, row["TSD_ms"]), rounds.rate(1, row["TAR_ms"]))
        assert found == pytest.approx(row["speedup"], abs=0.006)
        tokens = row["sigma"] * verify.verify_width(row["gamma"])
        assert bounds.within_commit_bound(1000 / row["TSD_ms"], row["TAR_ms"], tokens)
        factors.append(rounds.round_from_rate(tokens, 1000 / row["TSD_ms"]) / row["TAR_ms"])
    assert (min(factors), max(factors)) == pytest.approx((1.32, 2.30), abs=0.006)


def test_expert_union_independent() -> None:
    table = rows("t10")
    assert len(table) == 11
    for row in table:
        found = experts.distinct_experts(row["T"], row["E"], row["k"])
        assert found == pytest.approx(row["unique"], abs=0.0501)


def test_expert_union_measured_lies_in_the_range() -> None:
    table = rows("t10b")
    assert len(table) == 8
    for row in table:
        found = experts.distinct_experts_range(row["T"], row["E"], row["k"])
        # The mean of distinct experts of one row is printed as 9.98 of 10.
        assert found.low - 0.021 <= row["unique"] <= found.high


def test_qwen3_bytes_model() -> None:
    table = rows("t10c")
    plain = table[0]
    bandwidth = plain["GB_per_pass"] * 1e9 * plain["tok_s"]
    rates = {}
    for row in table:
        step = roofline.memory_time(row["GB_per_pass"] * 1e9, 0, 1, bandwidth)
        rates[row["tokens"]] = rounds.rate(row["accept"], step)
        assert rates[row["tokens"]] == pytest.approx(row["tok_s"], rel=1e-3)
        # GB per pass follow from the experts: what two rows of the table say about all of them.
        per_expert = (table[-1]["GB_per_pass"] - plain["GB_per_pass"]) / (35.3 - 8)
        distinct = experts.distinct_experts(row["tokens"], 128, 8)
        assert plain["GB_per_pass"] + per_expert * (distinct - 8) == pytest.approx(row["GB_per_pass"], abs=0.015)
    assert max(rates, key=rates.__getitem__) == 2
    assert rates[5] < plain["tok_s"]


class TestLaguna:
    """A printed gain table that pairs M + 1 tokens with the cost of a pass over M rows."""

    cost: ClassVar = {1: 0.999, 2: 1.499, 5: 2.999, 16: 5.409}
    drafter = 0.357

    def gain(self, alpha: float, length: int, rows_paid: int) -> float:
        round_ms = rounds.round_time(0, self.drafter, self.cost[rows_paid])
        return rounds.rate(acceptance.tokens_per_round(alpha, length), round_ms) / 1000

    def test_the_arithmetic_is_as_printed(self) -> None:
        # Costs are printed to .001 of about 1.4, gains to .001: together that allows .001.
        cells = [(row["alpha"], length, row[f"M{length}"]) for row in rows("t11") for length in self.cost]
        assert len(cells) == 24
        for alpha, length, printed in cells:
            found = self.gain(alpha, length, rows_paid=length)
            assert found == pytest.approx(printed, abs=0.001)
            assert (found > 1) == (printed > 1)

    def test_the_best_depth_and_the_crossings_are_as_printed(self) -> None:
        for row in rows("t11"):
            found = {length: self.gain(row["alpha"], length, rows_paid=length) for length in self.cost}
            assert max(found, key=found.__getitem__) == max(self.cost, key=lambda length: row[f"M{length}"])
        for length, crossing in ((2, 0.819), (5, 0.902)):
            below, above = (
                self.gain(crossing + shift, length, length) - self.gain(crossing + shift, 1, 1)
                for shift in (-0.002, 0.002)
            )
            assert below < 0 < above

    def test_a_width_that_is_one_too_small_flips_the_verdict(self) -> None:
        # One drafted token needs a pass over two rows, which costs 1.499 and not .999.
        width = verify.verify_width(1)
        assert width == 2
        assert self.gain(0.533, 1, rows_paid=1) == pytest.approx(1.130, abs=0.001)
        assert self.gain(0.533, 1, rows_paid=int(width)) == pytest.approx(0.826, abs=0.001)


def test_verify_widths_of_a_hybrid_with_a_free_drafter() -> None:
    table = rows("t12_verify")
    widths, times = ([row[column] for row in table] for column in ("width", "ms"))
    lengths = [1, 2, 4, 7]
    passes = [verify.verify_from_curve(verify.verify_width(length), widths, times) for length in lengths]
    assert [found.mid for found in passes] == [13.49, 15.64, 20.67, 28.13]
    needed = [break_even.break_even_tokens(1000 / times[0], found.mid) for found in passes]
    found = break_even.break_even_conditional(np.array(needed), np.array(lengths))
    np.testing.assert_allclose(found, [0.593, 0.547, 0.631, 0.721], atol=5.1e-4)
    assert break_even.best_draft_length(lengths, needed) == 2


def test_verify_widths_where_no_acceptance_or_hardly_any_beats_off() -> None:
    steps: dict[str, dict[float, float]] = defaultdict(dict)
    for row in rows("t12b"):
        steps[row["setup"].split()[0]][row["width"]] = row["ms"]
    glm, dense, naive = steps["GLM-5.2"], steps["TQ3-27B"], steps["aether"]
    assert break_even.never_beats_off(glm[2], 1, glm[1]) is True
    assert break_even.never_beats_off(dense[2], 1, dense[1]) is False
    assert break_even.break_even_conditional(dense[2] / dense[1], 1) == pytest.approx(0.445, abs=5.1e-4)
    assert break_even.break_even_ratio(naive[4] / naive[1], 3) > 0.9996
    assert break_even.break_even_ratio(naive[8] / naive[1], 7) > 0.99


def test_verify_widths_of_a_mixture_by_prompt_rate() -> None:
    steps = {row["width"]: 1000 * row["width"] / row["tok_s"] for row in rows("t12c")}
    factors = [steps[width] / steps[1] for width in (2, 3, 4, 6, 8)]
    assert factors == pytest.approx([3.05, 3.50, 3.89, 4.60, 5.11], abs=0.006)
    never = [break_even.never_beats_off(steps[width], width - 1, steps[1]) for width in (2, 3, 4)]
    assert never == [True, True, False]


def test_llamacpp_28196_rates_and_slopes() -> None:
    table = [row for row in rows("t13") if row["depth"]]
    assert len(table) == 4
    for row in table:
        found = rounds.rate(row["tok_per_step"], row["step_ms"])
        assert found == pytest.approx(row["tok_s"], rel=0.005)
        assert acceptance.tokens_from_ratio(row["ratio"], row["depth"]) == pytest.approx(row["tok_per_step"], abs=0.03)
    # One run gives the round at the other depths, drafter included, within 8 %.
    by_depth = {row["depth"]: row["step_ms"] for row in table}
    slope = verify.round_slope(2, by_depth[2], 14.9)
    for depth in (1, 3, 6):
        assert verify.round_from_slope(depth, 14.9, slope) == pytest.approx(by_depth[depth], rel=0.08)
    # p from depth 1 overstates the tokens at depth 6 by 17 %: more than its half-width beyond a factor of 4 allows for.
    assert acceptance.tokens_per_round(0.658, 6) / 2.36 == pytest.approx(1.17, abs=0.006)


def test_the_round_is_a_property_of_model_and_depth() -> None:
    groups: dict[Any, list[tuple[float, float]]] = defaultdict(list)
    for row in rows("t14"):
        accepted = row["draft_accepted"]
        tokens = acceptance.tokens_from_counts(accepted, 192 - accepted)
        groups[row["pr"], row["n_max"]].append((rounds.round_from_rate(tokens, row["tok_s"]), tokens))
    assert sum(len(group) for group in groups.values()) == 37

    def spread(values: tuple[float, ...]) -> float:
        return statistics.stdev(values) / statistics.mean(values)

    found = {}
    for key, group in groups.items():
        times, tokens = zip(*group, strict=True)
        found[key] = (statistics.mean(times), 100 * spread(times))
        assert spread(tokens) > 2 * spread(times)
    expected = {
        ("PR22673", 2): (18.49, 1.3),
        ("PR22673", 4): (24.82, 5.6),
        ("PR24340", 3): (25.24, 0.4),
        ("PR23398", 2): (24.06, 1.4),
        ("PR23274", 1): (33.23, 1.4),
    }
    assert set(found) == set(expected)
    for key, (mean, cv) in expected.items():
        assert found[key] == (pytest.approx(mean, abs=0.006), pytest.approx(cv, abs=0.051))


def test_a_hybrid_target_with_eight_drafters() -> None:
    # Tokens per round over all steps, from drafted per generated token and the accepted ratio.
    table = {row["config"]: row for row in rows("t17")}
    base = table.pop("base")["tok_s"]
    assert len(table) == 8
    expected = {  # tokens per round, round, break-even tokens, break-even ratio (NaN: impossible)
        "dflash-n2": (2.413, 16.51, 1.910, 0.465),
        "mtp-n2": (2.523, 17.78, 2.057, 0.544),
        "dflash-n4": (3.169, 22.98, 2.659, 0.422),
        "draft-n8": (2.216, 71.7, 8.30, np.nan),
        "draft-n1": (1.535, 52.6, 6.08, np.nan),
    }
    for name, row in table.items():
        generated = 1e6
        drafted = row["draft_per_gen"] * generated
        tokens = acceptance.tokens_over_all_steps(generated + 1, drafted * row["ratio_pct"] / 100)
        round_ms = rounds.round_from_rate(tokens, row["tok_s"])
        needed = break_even.break_even_tokens(base, round_ms)
        length = drafted / (generated / tokens)
        assert 100 * (rounds.speedup(row["tok_s"], base) - 1) == pytest.approx(row["change_pct"], abs=0.07)
        assert (tokens > needed) == (row["change_pct"] > 0)
        assert bounds.within_commit_bound(row["tok_s"], 1000 / base, tokens, 0)
        if name in expected:
            got = (tokens, round_ms, needed, break_even.break_even_ratio(needed, length))
            np.testing.assert_allclose(got, expected[name], rtol=1e-3, atol=5.1e-4)


def test_a_speedup_over_an_incumbent_that_drafts_may_exceed_the_commit() -> None:
    table = {row["config"]: row["tok_s"] for row in rows("t17")}
    over_incumbent = rounds.speedup(table["dflash-n2"], table["draft-n8"])
    assert over_incumbent > 2.413
    assert bounds.within_commit_bound(table["dflash-n2"], 1000 / table["base"], 2.413)


def test_mlx_dspark_rates_and_break_even() -> None:
    round_ms = rounds.round_time(0, rounds.draft_time(rounds.draft_passes("block", 5), 10.3), 154.1)
    for row in rows("t19"):
        tokens = acceptance.tokens_from_ratio(row["ratio_pct"] / 100, 5)
        assert rounds.rate(tokens, round_ms) == pytest.approx(row["tok_s"], abs=0.01)
    needed = break_even.break_even_tokens(1000 / 101.6, round_ms)
    assert break_even.break_even_ratio(needed, 5) == pytest.approx(0.1236, abs=5e-5)


def test_specexec_rates_and_that_more_tokens_are_not_more_speed() -> None:
    table = rows("t22")
    assert len(table) == 3
    rates = {}
    for row in table:
        round_ms = rounds.round_time(0, 1000 * row["t0_s"], 1000 * row["t1_s"])
        rates[row["budget"]] = rounds.rate(row["gen_rate"], round_ms)
        assert rates[row["budget"]] == pytest.approx(row["gen_speed"], rel=0.009)
    assert max(rates, key=rates.__getitem__) == 256


def test_block_drafter_from_one_and_from_two_runs() -> None:
    # vllm#47277, DFlash: 37.7 ms plain, 98.7 ms at K = 1, 263 ms at K = 7.
    found = verify.block_round_from_run(7, 1, 98.7, 37.7)
    measured = 263.0
    assert found.low < measured < found.high
    assert (found.low, found.high) == (98.7, pytest.approx(37.7 + 7 * 61))
    assert verify.round_from_runs(3, 1, 98.7, 7, measured) == pytest.approx(98.7 + 2 * (measured - 98.7) / 6)


def test_expert_share_in_two_public_models() -> None:
    # Cohere 128/8, f = .30, four rows: 1.79 independent, 1.25 measured, below even the low end. Mixtral 8/2, f = .90,
    # seven rows: 3.22 independent, 2.3 to 3.0 measured.
    cohere = experts.expert_verify_factor(4, 128, 8, 0.30)
    mixtral = experts.expert_verify_factor(7, 8, 2, 0.90)
    assert cohere.high == pytest.approx(1.79, abs=0.005)
    assert 1.25 < cohere.low < cohere.mid < 1.46
    assert mixtral.high == pytest.approx(3.22, abs=0.005)
    assert mixtral.low < 2.3
