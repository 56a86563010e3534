"""The formulas of rules/formulas.yaml against the functions of specrules.economics, and how they are run."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specrules.derive.arithmetic import compile_arithmetic
from specrules.derive.spans import UNBOUNDED, Span
from specrules.economics import acceptance, break_even, rounds, verify
from specrules.errors import LoadError
from specrules.expressions import Unknown
from specrules.model.rule import FormulaFile

from .build import arithmetic, drafter_class, formulas, thresholds

K = st.integers(1, 16).map(float)
P = st.floats(0.01, 0.99)
MS = st.floats(0.1, 500)
RATE = st.floats(1, 300)
SHARE = st.floats(0.01, 1)
QUICK = settings(max_examples=25, deadline=None)


def environment(basis: str, **values: Any) -> dict[str, Any]:
    """The inputs of one draft length: a drafter that covers every round, nothing paid beside the rounds."""
    plain: dict[str, Any] = {
        "basis": basis,
        "how": "conditional",
        "draft_length": 3.0,
        "drafter.is_tree": False,
        "drafter.covers_every_round": True,
        "drafter.step_ms": 2.0,
        "drafter.catch_up_ms": 0.0,
        "incumbent.rate_tok_s": 25.0,
        "target.step_ms": 40.0,
        "target.declared_ms": 40.0,
        "verify.factor": 1.1,
        "acceptance.conditional": 0.7,
        "acceptance.spread": 1.0,
        "overhead.per_round_ms": 0.0,
        "overhead.per_token_ms": 0.0,
        "restore_ms": 0.0,
        "overlap": 0.0,
    }
    return {**plain, **{name.replace("__", "."): value for name, value in values.items()}}


class TestAgainstEconomics:
    @QUICK
    @given(K, P, RATE, st.tuples(MS, MS, MS, st.floats(0, 50), st.floats(0, 50), st.floats(0, 1)))
    def test_round_from_its_pieces(self, length: float, p: float, rate: float, pieces: tuple[float, ...]) -> None:
        step, catch_up, pass_ms, overhead, restore, overlap = pieces
        found = arithmetic().run(
            environment(
                "curve",
                draft_length=length,
                acceptance__conditional=p,
                drafter__step_ms=step,
                drafter__catch_up_ms=catch_up,
                verify__curve_ms=pass_ms,
                overhead__per_round_ms=overhead,
                restore_ms=restore,
                overlap=overlap,
                incumbent__rate_tok_s=rate,
            )
        )
        round_ms = rounds.round_time(
            overhead,
            rounds.draft_time(rounds.draft_passes("sequential", length), step, catch_up),
            pass_ms,
            rejected_share=rounds.rejected_share(p, length),
            restore_time=restore,
            overlap=overlap,
            guess=rounds.next_round_guess(p, length),
        )
        tokens = acceptance.tokens_per_round(p, length)
        needed = break_even.break_even_tokens(rate, round_ms)
        assert found["round_ms"] == pytest.approx(round_ms, rel=1e-9)
        assert found["tokens_per_round"] == pytest.approx(tokens, rel=1e-12)
        assert found["rate_tok_s"] == pytest.approx(rounds.rate(tokens, round_ms), rel=1e-9)
        assert found["speedup"] == pytest.approx(rounds.speedup(rounds.rate(tokens, round_ms), rate), rel=1e-9)
        assert found["break_even.tokens_per_round"] == pytest.approx(needed, rel=1e-9)
        without_bonus = break_even.seed_memory_bound(round_ms, 1000 / rate, length)
        assert found["break_even.without_bonus"] == pytest.approx(without_bonus, rel=1e-9)
        conditional = break_even.break_even_conditional(needed, length)
        if math.isnan(conditional):
            assert isinstance(found["break_even.conditional_acceptance"], Unknown)
        else:
            assert found["break_even.conditional_acceptance"] == pytest.approx(conditional, abs=1e-9)
        ratio = break_even.break_even_ratio(needed, length)
        assert math.isnan(ratio) or found["break_even.accepted_ratio"] == pytest.approx(ratio, abs=1e-12)

    @QUICK
    @given(K, MS, st.floats(0, 1))
    def test_round_from_a_slope(self, length: float, step: float, slope: float) -> None:
        found = arithmetic().run(
            environment("slope", draft_length=length, target__step_ms=step, slope__round=slope, verify__floor_ms=step)
        )
        assert found["round_ms"] == pytest.approx(verify.round_from_slope(length, step, slope), rel=1e-12)

    @QUICK
    @given(K, K, MS, st.floats(1, 8), st.floats(1, 3))
    def test_round_from_a_run_at_another_depth(
        self, length: float, measured: float, step: float, steps: float, tokens: float
    ) -> None:
        round_ms = step * steps
        run = {
            "run__tokens_per_round": tokens,
            "run__rate_tok_s": 1000 * tokens / round_ms,
            "run__draft_length": measured,
            "run__counts_tokens": True,
        }
        found = {
            share: arithmetic().run(
                environment("run-slope", draft_length=length, target__step_ms=step, run__depth_share=share, **run)
            )["round_ms"]
            for share in (0.0, 0.5, 1.0)
        }
        slope = verify.round_slope(measured, round_ms, step)
        assert found[1.0] == pytest.approx(verify.round_from_slope(length, step, max(slope, 0.0)), rel=1e-9)
        block = verify.block_round_from_run(length, measured, round_ms, step)
        ends = sorted((found[0.0], found[1.0]))
        assert ends == pytest.approx([block.low, block.high], rel=1e-9)
        assert found[0.5] == pytest.approx(block.mid, rel=1e-9)

    @QUICK
    @given(K, P, RATE, st.tuples(SHARE, MS, MS))
    def test_drafters_that_draft_in_a_share_of_the_rounds(
        self, length: float, p: float, rate: float, pieces: tuple[float, ...]
    ) -> None:
        share, step, pass_ms = pieces
        found = arithmetic("ngram").run(
            environment(
                "curve",
                draft_length=length,
                acceptance__conditional=p,
                drafter__covers_every_round=False,
                drafter__coverage=share,
                target__step_ms=step,
                verify__curve_ms=pass_ms,
                incumbent__rate_tok_s=rate,
            )
        )
        tokens = acceptance.tokens_per_round(p, length)
        covered = rounds.covered_rate(share, tokens, pass_ms, step)
        assert found["rate_tok_s"] == pytest.approx(covered, rel=1e-9)
        # At the tokens that break even the rate is the incumbent's.
        needed = found["break_even.tokens_per_round"]
        assert isinstance(needed, float)
        if needed >= 1:
            assert rounds.covered_rate(share, needed, pass_ms, step) == pytest.approx(rate, rel=1e-6)

    @QUICK
    @given(K, P, MS, st.floats(0, 30), st.floats(1, 30))
    def test_at_the_tokens_that_break_even_an_overhead_of_both_sides_leaves_equal_rates(
        self, length: float, p: float, pass_ms: float, overhead: float, rate: float
    ) -> None:
        found = arithmetic().run(
            environment(
                "curve",
                draft_length=length,
                acceptance__conditional=p,
                verify__curve_ms=pass_ms,
                incumbent__rate_tok_s=rate,
                overhead__per_token_ms=overhead,
            )
        )
        round_ms, needed = found["round_ms"], found["break_even.tokens_per_round"]
        assert isinstance(round_ms, float)
        assert isinstance(needed, float)
        assert 1000 / (round_ms / needed + overhead) == pytest.approx(rate, rel=1e-9)
        # It leaves the sign alone: the candidate wins with more tokens than that, and loses with fewer.
        speedup, tokens = found["speedup"], found["tokens_per_round"]
        assert isinstance(speedup, float)
        assert isinstance(tokens, float)
        assert math.isclose(speedup, 1) or (speedup > 1) == (tokens > needed)

    @pytest.mark.parametrize(
        ("kind", "passes"), [("model", 5), ("mtp-head", 5), ("eagle-head", 5), ("block", 1), ("ngram", 0)]
    )
    def test_what_drafting_costs_by_class(self, kind: str, passes: int) -> None:
        found = arithmetic(kind).run(environment("step", draft_length=5.0, drafter__catch_up_ms=0.0))
        assert found["draft_ms"] == passes * 2.0

    def test_a_run_with_nothing_accepted_is_the_round(self) -> None:
        found = arithmetic().run(environment("synthetic", synthetic__rate_tok_s=10.0))
        assert found["round_ms"] == 100
        assert found["break_even.tokens_per_round"] == break_even.break_even_from_synthetic_zero(25, 10) == 2.5

    def test_a_measured_run_is_its_own_rate(self) -> None:
        run = {"run__tokens_per_round": 3.87, "run__rate_tok_s": 43.5, "acceptance__tokens": 3.87}
        found = arithmetic("block").run(environment("measured-run", how="measured", draft_length=7.0, **run))
        assert found["round_ms"] == pytest.approx(rounds.round_from_rate(3.87, 43.5))
        assert found["rate_tok_s"] == 43.5

    def test_carried_tokens_stay_between_one_and_all(self) -> None:
        high = environment("step", acceptance__conditional=1.0, acceptance__spread=1.15)
        low = environment("step", acceptance__conditional=0.0, acceptance__spread=0.85)
        assert arithmetic().run(high)["tokens_per_round"] == 4
        assert arithmetic().run(low)["tokens_per_round"] == 1

    def test_a_tree_inverts_no_acceptance(self) -> None:
        found = arithmetic("tree").run(environment("step", drafter__is_tree=True))
        assert "break_even.conditional_acceptance" not in found
        assert found["break_even.accepted_ratio"] == pytest.approx((1.25 - 1) / 3)


class TestRunning:
    def test_a_formula_without_a_variant_that_counts_is_left_out(self) -> None:
        assert "verify_ms" not in arithmetic().run(environment("slope", slope__round=0.2))

    def test_an_unknown_names_the_inputs_behind_it_and_not_the_formulas_between(self) -> None:
        known = environment("step")
        del known["drafter.step_ms"], known["incumbent.rate_tok_s"]
        found = arithmetic().outcome(known, {})
        assert found.missing("speedup") == ("drafter.step_ms", "incumbent.rate_tok_s")
        assert found.missing("rate_tok_s") == ("drafter.step_ms",)
        assert found.at_mid("rate_tok_s") is None
        assert found.ends("rate_tok_s") == (None, None)

    def test_ends_are_the_extremes_over_all_corners(self) -> None:
        spans = {"verify.factor": Span(0.9, 1.1, 1.5), "acceptance.conditional": Span(0.4, 0.5, 0.6)}
        found = arithmetic().outcome(environment("step"), spans)
        rate = {
            (factor, p): 1000 * acceptance.tokens_per_round(p, 3) / (6 + 40 * factor)
            for factor in (0.9, 1.1, 1.5)
            for p in (0.4, 0.5, 0.6)
        }
        assert found.ends("rate_tok_s") == pytest.approx((rate[1.5, 0.4], rate[0.9, 0.6]))
        assert found.at_mid("rate_tok_s") == pytest.approx(rate[1.1, 0.5])

    def test_a_corner_without_a_value_leaves_no_ends(self) -> None:
        found = arithmetic().outcome(environment("step"), {"incumbent.rate_tok_s": Span(0.0, 25.0, 30.0)})
        assert found.ends("speedup") == (None, None)
        assert found.at_mid("speedup") is not None
        assert found.ends("rate_tok_s") != (None, None)

    def test_spans_that_no_formula_reads_cost_nothing(self) -> None:
        many = {f"unread.{index}": Span(0.0, 1.0, 2.0) for index in range(40)}
        found = arithmetic().outcome(environment("step"), many)
        assert found.ends("rate_tok_s") == (found.at_mid("rate_tok_s"),) * 2

    def test_a_condition_on_a_span_makes_both_variants_possible(self) -> None:
        spans = {"restore_ms": Span(0.0, 0.0, UNBOUNDED)}
        known = environment("step")
        del known["acceptance.conditional"]
        found = arithmetic().outcome({**known, "how": "measured", "acceptance.tokens": 2.0}, spans)
        assert found.at_mid("round_ms") == 50
        # At the other corner the restore costs F Q, and F is not known.
        assert found.ends("round_ms") == (None, None)

    def test_inversions_can_be_left_out(self) -> None:
        found = arithmetic().outcome(environment("step"), {}, needs_acceptance=False)
        assert "break_even.conditional_acceptance" not in found.mid
        assert found.at_mid("break_even.tokens_per_round") == pytest.approx(1.25)

    def test_lines_show_the_variants_that_count(self) -> None:
        lines = {line.name: line for line in arithmetic().lines(environment("step"), {})}
        assert list(lines)[:3] == ["draft_ms", "tokens_per_round", "verify_ms"]
        shown = lines["verify_ms"]
        assert (shown.expression, shown.substituted, shown.result, shown.unit) == (
            "verify.factor * target.declared_ms",
            "1.1 * 40",
            pytest.approx(44),
            "ms",
        )
        assert lines["restore_cost_ms"].symbols == "F Q = 0"
        assert lines["round_ms"].result == pytest.approx(50)

    def test_lines_stop_at_a_condition_that_nobody_can_decide(self) -> None:
        known = environment("step")
        del known["how"]
        assert "tokens_per_round" not in {line.name for line in arithmetic().lines(known, {})}


def test_every_formula_that_is_refused_is_named_at_once() -> None:
    document = {
        "schema": 1,
        "id": "formulas",
        "inputs": [{"name": "draft_length", "type": "number", "doc": "K"}],
        "formulas": [
            {"name": "a", "title": "A", "symbols": "A", "expression": "draft_lenght + 1"},
            {"name": "b", "title": "B", "symbols": "B", "expression": "1", "when": "draft_length"},
        ],
    }
    with pytest.raises(LoadError) as error:
        compile_arithmetic(FormulaFile.model_validate(document), drafter_class("ngram"), thresholds(), "mine.yaml")
    found = [problem.message for problem in error.value.problems]
    assert len(found) == 2
    assert found[0].startswith("mine.yaml: formula 'a'")
    assert "draft_length" in found[0]
    assert found[1].startswith("mine.yaml: formula 'b'")


@pytest.mark.parametrize("kind", ["model", "mtp-head", "eagle-head", "block", "ngram", "suffix", "tree"])
def test_the_shipped_formulas_compile_with_every_class(kind: str) -> None:
    assert compile_arithmetic(formulas(), drafter_class(kind), thresholds()).run(environment("step"))["round_ms"]
