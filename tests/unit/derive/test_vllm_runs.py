"""Runs of a real vLLM on a processor: from one of them the rates at other depths, within the stated interval."""

from __future__ import annotations

import csv
from itertools import permutations
from pathlib import Path

import pytest

from .build import case, given

TABLE = Path(__file__).parents[2] / "data" / "tables" / "vllm_cpu_runs.csv"
RUNS = list(csv.DictReader(TABLE.read_text(encoding="utf-8").splitlines()))
PAIRS = [
    (known, asked)
    for known, asked in permutations([run for run in RUNS if run["run"] == "near8"], 2)
    if known["prompts"] == asked["prompts"]
]


@pytest.mark.parametrize(
    ("known", "asked"),
    PAIRS,
    ids=[f"{known['prompts']}-{known['draft_length']}-to-{asked['draft_length']}" for known, asked in PAIRS],
)
def test_the_measured_rate_lies_in_the_interval(known: dict[str, str], asked: dict[str, str]) -> None:
    accepted, drafted, rounds = (float(known[name]) for name in ("accepted", "drafted", "rounds"))
    counts = {"kind": "counts", "accepted": accepted, "drafted": drafted, "rounds": rounds}
    run = {"draft_length": int(known["draft_length"]), "rate_tok_s": float(known["tok_s"]), "rate_kind": "decode"}
    one = case(
        engine={"id": "vllm", "version": "0.32.0", "draft_length": int(asked["draft_length"])},
        incumbent={"drafting": False, "rate_tok_s": float(known["base_tok_s"]), "rate_kind": "decode"},
        measurements={
            "acceptance": {**counts, "draft_length": int(known["draft_length"])},
            "candidate": {**run, "tokens_per_round": 1 + accepted / rounds},
        },
    )
    depth = given(one).projections.at(int(asked["draft_length"]))
    assert depth is not None
    assert depth.inputs.basis == "run-slope"
    low, high = depth.uncertain.ends["rate_tok_s"]
    assert low is not None
    assert high is not None
    assert low < float(asked["tok_s"]) < high
    # The interval says something: its ends are less than a factor of 4 apart.
    assert high < 4 * low
