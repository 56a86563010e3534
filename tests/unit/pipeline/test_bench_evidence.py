"""Cases whose evidence are the outputs of benches: curves, steps, and which of several runs counts."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from specrules.catalog.case import load_case
from specrules.errors import EvidenceError
from specrules.pipeline.evidence import Gathered, gather
from specrules.pipeline.triage import triage

from .build import NOW, catalog

RECORDINGS = Path(__file__).parents[2] / "data" / "recordings"
PAIR = RECORDINGS / "llama.cpp-b11434-pair"
GUIDELLM = RECORDINGS / "guidellm-0.8.1"
CASE = """
schema: 1
target: {name: SmolLM2-135M-Instruct Q4_1, checkpoint: smollm2, kind: dense, device: CPU}
drafter: {name: SmolLM2 without layer 12, class: model, device: CPU}
engine:
  id: llama.cpp
  version: b11434
  methods: [draft-simple]
  backends: [CPU]
  flags: [--spec-type draft-simple, -md drafter.gguf, --spec-draft-n-max 3]
"""


def case(folder: Path, more: str) -> Path:
    path = folder / "case.yaml"
    path.write_text(CASE + textwrap.dedent(more), encoding="utf-8")
    return path


def gathered(folder: Path, more: str) -> Gathered:
    return gather(load_case(case(folder, more)), catalog())


PAIR_CASE = f"""
    workload: {{concurrency: 1}}
    incumbent: {{drafting: false}}
    measurements:
      acceptance: {{kind: counts, accepted: 586, drafted: 866, rounds: 290, draft_length: 3}}
    evidence:
      - {{path: {PAIR}/target-a.log, arm: incumbent}}
      - {{path: {PAIR}/batched-bench-SmolLM2-135M-Instruct.Q4_1.md, arm: off}}
      - {{path: {PAIR}/batched-bench-SmolLM2-drop12.md, arm: drafter}}
      - {{path: {PAIR}/fit-params-SmolLM2-drop12.txt, arm: drafter}}
"""


def test_the_arm_says_whose_curve_it_is(tmp_path: Path) -> None:
    facts = gathered(tmp_path, PAIR_CASE).facts
    assert facts.value("off.verify_widths") == facts.value("drafter.verify_widths") == (1, 2, 3, 4, 5, 8)
    assert facts.number("off.rate_tok_s") == pytest.approx(48 / 0.630)
    assert facts.number("drafter.memory_gib") == pytest.approx(213 / 1024)


def test_two_benches_predict_the_round_that_was_measured(tmp_path: Path) -> None:
    # K drafter steps, a target pass over K+1 rows and a drafter pass over K+1 rows: all three from the benches. What is
    # left of the measured round is the host's.
    found = {
        point.draft_length: point for point in triage(case(tmp_path, PAIR_CASE), catalog=catalog(), now=NOW).projection
    }
    pieces = {1: 13.125 + 25.65 + 24.48, 3: 3 * 13.125 + 32.75 + 34.10, 7: 7 * 13.125 + 55.02 + 68.08}
    measured = {1: 70.4, 3: 118.3, 7: 237.5}
    for length, sum_of_pieces in pieces.items():
        predicted = found[length].round_ms
        assert predicted == pytest.approx(sum_of_pieces, rel=0.001)
        assert 0.88 < predicted / measured[length] < 1


def test_without_the_drafters_curve_its_batch_is_only_bounded(tmp_path: Path) -> None:
    plain = PAIR_CASE.replace("batched-bench-SmolLM2-drop12.md", "llama-bench-SmolLM2-drop12.json")
    found = triage(case(tmp_path, plain), catalog=catalog(), now=NOW)
    (step,) = [fact for fact in found.facts if fact.name == "drafter.step_ms"]
    assert step.value == pytest.approx(1000 / 69.02857)
    assert step.low == pytest.approx(1000 / 72.23, rel=1e-3)
    (point,) = [point for point in found.projection if point.draft_length == 3]
    assert point.round_ms == pytest.approx(3 * 14.487 + 32.75 + 14.487, rel=0.001)


LOADS = f"""
    evidence:
      - {{path: {GUIDELLM}/spec.json, arm: candidate, engine: ENGINE, where: WHERE}}
"""


def with_runs(workload: str = "{}", where: str = "{}", engine: str = "guidellm") -> str:
    return f"    workload: {workload}" + LOADS.replace("WHERE", where).replace("ENGINE", engine)


@pytest.mark.parametrize(
    "more",
    [
        with_runs(where="{streams: 4}"),
        with_runs(where="{streams: 4}", engine="llama.cpp"),
        with_runs("{concurrency: 4}"),
        with_runs("{concurrency: 1}", "{streams: 4}"),
    ],
)
def test_a_run_is_chosen_by_the_case_or_by_its_load(tmp_path: Path, more: str) -> None:
    facts = gathered(tmp_path, more).facts
    assert facts.number("candidate.concurrency") == 4
    assert facts.number("candidate.rounds") == 235


@pytest.mark.parametrize("more", [with_runs(), with_runs("{concurrency: 2}")])
def test_a_choice_that_nobody_made_is_asked_for(tmp_path: Path, more: str) -> None:
    with pytest.raises(EvidenceError) as raised:
        gathered(tmp_path, more)
    (problem,) = raised.value.problems
    assert problem.message.startswith("the file holds 2 runs: streams=1, ")
    assert problem.hint == "choose one by streams or started, under 'where' of this evidence"


def test_a_bench_that_does_not_exist_has_its_place(tmp_path: Path) -> None:
    with pytest.raises(EvidenceError, match=r"case.yaml:\d+:\d+: no engine 'guidelm'"):
        gathered(tmp_path, with_runs(engine="guidelm"))
