"""Sequoia: trees on one GPU, printed totals, and a mode whose name says something else."""

from __future__ import annotations

from functools import cache

import pytest

from specrules.catalog.catalogue import Catalog
from specrules.derive.conditions import holds
from specrules.evidence.readers.detect import detect
from specrules.evidence.readers.reading import Reading, read_text
from specrules.evidence.source import source_from_bytes
from specrules.model.engine import Engine

# https://github.com/Infini-AI-Lab/Sequoia/issues/12, C4 on an A100.
BASELINE = "total time :110.10318s, latency :0.02298s, decoding step: 4791\n"
DRAFTED = (
    "total time :144.56247s, latency :0.00813s, decoding step: 17778, large model step: 4605, 3.8605863192182412\n"
)


@cache
def _catalog() -> Catalog:
    return Catalog.load(environ={})


def _engine() -> Engine:
    return _catalog().engine("sequoia").model


def _read(text: str) -> Reading:
    return read_text(source_from_bytes("run.log", text.encode()), _engine())


def test_the_method_is_a_tree_on_the_targets_device() -> None:
    (method,) = _engine().methods
    assert (method.id, method.drafter_class, method.draft_device) == ("tree", "tree", "same-device")
    assert method.round.order == "serial"
    assert method.lossless is None
    assert method.draft_length_flag is None
    assert not _engine().devices.draft_routing.possible
    assert _engine().tokenizer_gates == ()
    mode = next(flag for flag in _engine().flags if flag.name == "--Mode")
    assert mode.values == ("greedy", "baseline", "benchmark")
    assert mode.default == "greedy"


def test_the_two_runs_of_issue_12() -> None:
    drafted, baseline = _read(DRAFTED).facts, _read(BASELINE).facts
    assert (drafted.value("drafting"), baseline.value("drafting")) == (True, False)
    assert drafted.number("tokens_per_round") == pytest.approx(17778 / 4605)
    assert "tokens_per_round" not in baseline
    rates = drafted.number("rate_tok_s"), baseline.number("rate_tok_s")
    assert rates == pytest.approx((17778 / 144.56247, 4791 / 110.10318))
    # The time holds the target's pass over each prompt, so it is no decode rate.
    assert drafted.value("rate_kind") == baseline.value("rate_kind") == "client"
    assert "round_ms" not in drafted


def test_benchmark_times_are_seconds_per_round() -> None:
    text = (
        "total decoding steps: 400 large model steps: 100 avg decoding step: 4.0\n"
        "initialization time:1e-05 speculate time: 0.01 verify time: 0.03\n"
        "large model run: 0.028 accept loop: 0.001 kv select: 0.0005\n"
        "small model run: 0.009 sample time: 0.001\n"
    )
    facts = _read(text).facts
    parts = [facts.number(name) for name in ("draft_ms", "pass_ms", "target_ms", "round_ms", "tokens_per_round")]
    assert parts == pytest.approx([10, 30, 28, 40.01, 4])
    assert facts.number("rate_tok_s") == pytest.approx(4 / 0.04001)


def test_totals_of_several_runs_are_not_added() -> None:
    reading = _read(DRAFTED + BASELINE)
    assert len(reading.facts) == 0
    assert reading.contradictions[0].message == "the file holds 2 runs: cut it to one"


def test_a_printed_number_that_contradicts_the_counts_is_seen() -> None:
    (problem,) = _read(DRAFTED.replace("3.8605863192182412", "4.5")).contradictions
    assert problem.message == "4.5 tokens per round are printed, 17778 tokens in 4605 rounds are counted"


@pytest.mark.parametrize(
    ("target", "drafter", "answer"), [(32000, 32000, False), (32000, 32001, True), (128256, 128256, True)]
)
def test_the_vocabulary_of_llama_2_is_fixed(target: int, drafter: int, answer: bool) -> None:
    issue = next(item for item in _engine().known_issues if item.id == "vocabulary-fixed")
    assert issue.condition is not None
    values = {"target.tokenizer.size": float(target), "drafter.tokenizer.size": float(drafter)}
    assert holds(issue.condition, _catalog().symbols, values) is answer


def test_the_output_is_told_from_that_of_other_engines() -> None:
    engines = [_catalog().engine(name).model for name in _catalog().engine_ids]
    assert detect(source_from_bytes("run.log", DRAFTED.encode()), engines).reader.engine.id == "sequoia"
