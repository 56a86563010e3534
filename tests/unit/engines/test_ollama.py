"""Ollama: heads only, switched on by a parameter, counted in the log of two runners and nowhere in the API."""

from __future__ import annotations

from functools import cache

import pytest

from specrules.catalog.catalogue import Catalog
from specrules.evidence.readers.reading import Reading, read_text
from specrules.evidence.source import source_from_bytes
from specrules.model.engine import Engine

LAUNCH = (
    'level=INFO source=llama_server.go:436 msg="starting llama-server" cmd="/o/llama-server --model /o/blob -c 8192'
)
MLX = 'level=INFO source=speculate_stats.go:62 msg="speculative decode stats" iterations={} drafted={} accepted={} x=1'


@cache
def _engine() -> Engine:
    return Catalog.load(environ={}).engine("ollama").model


def _read(*lines: str) -> Reading:
    return read_text(source_from_bytes("ollama.log", "".join(f"{line}\n" for line in lines).encode()), _engine())


def _request(task: int, tokens: int, milliseconds: float, drafts: str = "") -> list[str]:
    head = f"slot print_timing: id  0 | task {task} | "
    lines = [
        f"{head}prompt eval time =      50.37 ms /     5 tokens (   10.07 ms per token,    99.27 tokens per second)",
        f"{head}       eval time = {milliseconds:10.2f} ms / {tokens:5d} tokens (   17.01 ms per token)",
    ]
    return [*lines, f"{head}draft acceptance = {drafts}"] if drafts else lines


def test_only_heads_can_be_attached() -> None:
    methods = {method.id: method.drafter_class for method in _engine().methods}
    assert methods == {"draft-mtp": "mtp-head", "draft-dflash": "block", "mlx-mtp": "mtp-head"}
    assert not _engine().devices.draft_routing.possible
    assert _engine().tokenizer_gates == ()
    refusals = {refusal.id: refusal for refusal in _engine().start_refusals}
    assert (refusals["plain-model-as-draft"].effect, refusals["plain-model-as-draft"].text) == (
        "exits",
        "failed to create MTP context",
    )
    assert (refusals["own-layers-not-switched-on"].effect, refusals["own-layers-not-switched-on"].text) == (
        "drafting-off",
        "",
    )
    flags = {flag.name: flag.default for flag in _engine().flags}
    assert flags["draft_num_predict"] == "4"
    assert flags["OLLAMA_MLX_MTP_MAX_DRAFT_TOKENS"] == "16"


def test_drafted_requests_of_llama_server() -> None:
    reading = _read(
        f'{LAUNCH} --spec-type draft-mtp --spec-draft-n-max 2 --flash-attn auto"',
        *_request(0, 199, 1980.0, "0.97059 (  132 accepted /   136 generated), mean len =  2.94"),
        *_request(1, 101, 1000.0, "0.80000 (   40 accepted /    50 generated), mean len =  2.60"),
    )
    facts = {name: fact.value for name, fact in reading.facts.items()}
    assert facts == {
        "drafting": True,
        "method": "draft-mtp",
        "draft_length": 2.0,
        "requests": 2.0,
        "prompt_tokens": 10.0,
        "prompt_ms": 100.74,
        "tokens": 300.0,
        "decode_ms": 2980.0,
        "rate_tok_s": 298 * 1000 / 2980,
        "rate_kind": "decode",
        "drafted": 186.0,
        "accepted": 172.0,
        "accepted_ratio": 172 / 186,
        "rounds": 93.0,
        "tokens_per_round": 1 + 172 / 93,
        "target_passes": 126.0,
    }
    assert list(reading.facts["tokens_per_round"].samples) == pytest.approx([1 + 132 / 68, 1 + 40 / 25])
    assert (reading.contradictions, reading.unread_lines) == ((), 0)


def test_a_server_started_without_a_method_drafts_nothing() -> None:
    facts = _read(f'{LAUNCH} --flash-attn auto"').facts
    assert {name: fact.value for name, fact in facts.items()} == {"drafting": False}
    undrafted = _read(*_request(0, 64, 640.0)).facts
    assert (undrafted["drafting"].value, undrafted["drafted"].value) == (False, 0.0)
    short = _read(*_request(0, 2, 20.0)).facts
    assert "drafting" not in short
    assert "drafted" not in short


def test_passes_of_mlx_are_all_passes() -> None:
    reading = _read(MLX.format(133, 502, 424), MLX.format(117, 115, 84))
    facts = {name: fact.value for name, fact in reading.facts.items()}
    assert facts == {
        "drafting": True,
        "method": "mlx-mtp",
        "drafted": 617.0,
        "accepted": 508.0,
        "accepted_ratio": 508 / 617,
        "tokens_per_round": 1 + 508 / 250,
        "target_passes": 250.0,
    }
    assert "rounds" not in facts
    assert list(reading.facts["tokens_per_round"].samples) == pytest.approx([1 + 424 / 133, 1 + 84 / 117])


def test_the_first_shape_of_mlx_gives_no_tokens_per_round() -> None:
    line = 'msg="MTP decode stats" generated=200 drafted=260 accepted=134 acceptance=0.5153846153846153 iterations=65'
    facts = {name: fact.value for name, fact in _read(line).facts.items()}
    assert facts == {
        "drafting": True,
        "method": "mlx-mtp",
        "tokens": 200.0,
        "drafted": 260.0,
        "accepted": 134.0,
        "accepted_ratio": 134 / 260,
    }


def test_logs_of_both_runners_or_of_several_starts_are_not_mixed() -> None:
    drafted = _request(0, 199, 1980.0, "0.97059 (  132 accepted /   136 generated), mean len =  2.94")
    start = f'{LAUNCH} --flash-attn auto"'
    problems = [problem.message for problem in _read(start, start, *drafted, MLX.format(133, 502, 424)).contradictions]
    assert problems == [
        "the log mixes models of both runners: 136 tokens drafted by llama-server, 502 on MLX",
        "llama-server was started 2 times: cut the log to one model and one start",
    ]


def test_a_drafter_that_ends_the_runner() -> None:
    line = 'level=ERROR msg="llama-server terminated" error="failed to create MTP context" exit=1'
    facts = {name: fact.value for name, fact in _read(line).facts.items()}
    assert facts == {"died_at_load": True, "load_error": "failed to create MTP context"}
