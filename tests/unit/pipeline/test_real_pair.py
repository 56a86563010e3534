"""A real pair, measured with the machine to itself: what is said before a drafted run and after one, and what came.

SmolLM2-135M on two processor cores, drafted by itself less one layer, llama-server b11434: nothing is amortised there,
and no acceptance pays. The notes beside the recordings hold the measured rounds.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from specrules import Verdict, triage
from specrules.catalog.catalogue import Catalog

FOLDER = Path(__file__).parents[2] / "data" / "recordings" / "llama.cpp-b11434-pair"
NOW = datetime(2026, 11, 29, tzinfo=UTC)
CASE = """
schema: 1
target: {{name: SmolLM2-135M-Instruct Q4_1, kind: dense, device: CPU}}
drafter: {{name: the same without layer 12, class: model, device: CPU}}
engine: {{id: llama.cpp, version: b11434, methods: [draft-simple], backends: [CPU]}}
workload: {{concurrency: 1}}
incumbent: {{drafting: false}}
evidence:
{evidence}
"""
ROUNDS_MS = {1: 70.4, 3: 118.3, 7: 237.5}
RATES_TOK_S = {1: 26.0, 3: 25.5, 7: 18.3}


def judged(tmp_path: Path, **evidence: str) -> Verdict:
    lines = "\n".join(f"  - {{path: {FOLDER / name}, arm: {arm}}}" for arm, name in evidence.items())
    case = tmp_path / "case.yaml"
    case.write_text(CASE.format(evidence=lines), encoding="utf-8")
    return triage(case, catalog=Catalog.load(environ={}, cwd=tmp_path), now=NOW)


@pytest.fixture(scope="module", name="before")
def _before(tmp_path_factory: pytest.TempPathFactory) -> Verdict:
    return judged(
        tmp_path_factory.mktemp("before"),
        incumbent="target-a.log",
        off="batched-bench-target.jsonl",
        drafter="batched-bench-SmolLM2-drop12.md",
    )


@pytest.fixture(scope="module", name="after")
def _after(tmp_path_factory: pytest.TempPathFactory) -> Verdict:
    return judged(tmp_path_factory.mktemp("after"), incumbent="target-a.log", candidate="pair-k1.log")


def test_both_models_alone_give_the_rounds_within_a_tenth(before: Verdict) -> None:
    found = {point.draft_length: point.round_ms for point in before.projection}
    assert {length: found[length] for length in ROUNDS_MS} == {
        length: pytest.approx(measured, rel=0.1) for length, measured in ROUNDS_MS.items()
    }


def test_and_the_verdict_without_any_drafted_run(before: Verdict) -> None:
    assert before.economics == "keep-incumbent"
    assert before.verdict == "keep-incumbent"
    assert [point.possible for point in before.break_even if point.draft_length in ROUNDS_MS] == [False, False, False]


def test_one_run_gives_the_rates_at_other_depths_within_the_stated_interval(after: Verdict) -> None:
    assert after.economics == "keep-incumbent"
    for point in after.projection:
        low, high = point.rate_range.low, point.rate_range.high
        assert low is not None
        assert high is not None
        assert low < RATES_TOK_S[point.draft_length] < high


def test_the_formula_of_a_pass_that_costs_nothing_gives_less_than_half_of_it(before: Verdict) -> None:
    """K d + 1.1 t, what is usually computed: 29.2, 55.2 and 107.2 ms."""
    step = next(fact.value for fact in before.facts if fact.name == "drafter.step_ms")
    plain = next(fact.value for fact in before.facts if fact.name == "target.step_ms")
    assert isinstance(step, float)
    assert isinstance(plain, float)
    for length, measured in ROUNDS_MS.items():
        assert length * step + 1.1 * plain < measured / 2
