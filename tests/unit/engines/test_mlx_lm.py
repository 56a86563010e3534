"""mlx-lm: sizes only and a warning only, one request at a time, and a server that never says that it drafts."""

from __future__ import annotations

from functools import cache

import pytest

from specrules.catalog.catalogue import Catalog
from specrules.derive.conditions import holds
from specrules.evidence.readers.reading import Reading, read_text
from specrules.evidence.source import source_from_bytes
from specrules.model.engine import Engine


@cache
def _catalog() -> Catalog:
    return Catalog.load(environ={})


def _engine() -> Engine:
    return _catalog().engine("mlx-lm").model


def _read(text: str) -> Reading:
    return read_text(source_from_bytes("log", text.encode()), _engine())


@pytest.mark.parametrize(
    ("target", "drafter", "accepted"), [(151643.0, 151643.0, True), (151643.0, 151642.0, False), (151643.0, None, None)]
)
def test_sizes_alone_are_compared_and_a_mismatch_is_drafted(
    target: float, drafter: float | None, accepted: bool | None
) -> None:
    (gate,) = _engine().tokenizer_gates
    check, texts = gate.checks
    values = {"target.tokenizer.size": target, "tokenizers.last_differing_id": 7.0}
    if drafter is not None:
        values["drafter.tokenizer.size"] = drafter
    assert holds(check.accepts, _catalog().symbols, values) is accepted
    assert holds(texts.accepts, _catalog().symbols, values) is False
    assert {check.otherwise, texts.otherwise} == {"accepted-though-wrong"}
    assert [refusal.effect for refusal in _engine().start_refusals if "vocabulary-size" in refusal.id] == [
        "warning",
        "exits",
    ]


def test_there_is_one_method_on_one_device() -> None:
    (method,) = _engine().methods
    assert (method.drafter_class, method.draft_device, method.round.catch_up) == ("model", "same-device", "none")
    assert not method.round.restores_hybrid
    assert not _engine().devices.draft_routing.possible
    defaults = {flag.name: flag.default for flag in _engine().flags}
    assert defaults["--num-draft-tokens"] == "3"
    assert {limit.id: limit.value for limit in _engine().limits} == {"one-request": 1.0}
    features = {item.feature: item.status for item in _engine().features}
    assert features["batching"] == "silently-off"
    assert features["tensor-parallel"] == features["hybrid-target"] == "refused"


@pytest.mark.parametrize(
    ("issue", "values", "answer"),
    [
        ("hybrid-refused", {"target.is_hybrid": True}, True),
        ("hybrid-refused", {"target.is_hybrid": False}, False),
        ("concurrency", {"workload.concurrency": 1.0}, False),
        ("concurrency", {"workload.concurrency": 2.0}, True),
        ("exact-match-when-sampling", {"workload.temperature": 0.0}, False),
        ("exact-match-when-sampling", {"workload.temperature": 0.6}, True),
        ("tokenizer-texts-unchecked", {"tokenizers.last_differing_id": -1.0}, False),
        ("tokenizer-texts-unchecked", {"tokenizers.last_differing_id": 0.0}, True),
    ],
)
def test_conditions_of_issues(issue: str, values: dict[str, object], answer: bool) -> None:
    condition = next(item.condition for item in _engine().known_issues if item.id == issue)
    assert condition is not None
    assert holds(condition, _catalog().symbols, values) is answer


def test_the_first_token_is_taken_out_of_the_printed_rate() -> None:
    """The drafted run of mlx-examples#1155, twice: nothing in it says that it drafted."""
    run = "Prompt: 36 tokens, 87.853 tokens-per-sec\nGeneration: 256 tokens, 35.738 tokens-per-sec\n"
    reading = _read(run * 2)
    assert reading.facts.number("rate_tok_s") == pytest.approx(35.738 * 255 / 256)
    assert reading.facts.number("tokens") == 512
    assert reading.facts["rate_tok_s"].samples == pytest.approx((35.738 * 255 / 256,) * 2)
    assert "drafting" not in reading.facts


def test_a_batch_gives_no_rate_of_one_sequence() -> None:
    timing = "Timing with prompt_tokens=128, generation_tokens=128, batch_size={}.\n"
    averages = "Averages: prompt_tps=944.421, generation_tps=301.916, peak_memory=46.885\n"
    assert "rate_tok_s" not in _read(timing.format(16) + averages).facts
    single = _read(timing.format(1) + averages).facts
    assert single.number("rate_tok_s") == pytest.approx(301.916 * 127 / 128)
    assert single.value("drafting") is False


def test_a_hybrid_target_is_refused_while_the_server_listens() -> None:
    log = (
        "2026-11-29 10:00:00,123 - INFO - Starting httpd at 127.0.0.1 on port 8080...\n"
        "Traceback (most recent call last):\n"
        "ValueError: Speculative decoding requires a trimmable prompt cache (got {'ArraysCache'})\n"
    )
    facts = _read(log).facts
    assert facts.value("drafting") is False
    assert facts.value("refusal") == "Speculative decoding requires a trimmable prompt cache (got {'ArraysCache'})"
    assert "died_at_load" not in facts


def test_a_warning_about_sizes_is_no_refusal() -> None:
    log = (
        "2026-11-29 10:00:00,123 - WARNING - Draft model tokenizer does not match model tokenizer. "
        "Speculative decoding may not work as expected.\n"
    )
    facts = {name: fact.value for name, fact in _read(log).facts.items()}
    assert facts == {"tokenizer_mismatch": True}
