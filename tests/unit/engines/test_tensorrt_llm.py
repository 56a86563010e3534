"""TensorRT-LLM: iterations as rounds, the gate that ends drafting, counters by position, and a zero that means off."""

from __future__ import annotations

import json
from functools import cache

import pytest

from specrules.catalog.catalogue import Catalog
from specrules.derive.conditions import holds, tokenizer_gate
from specrules.evidence.readers.reading import Reading, read_text
from specrules.evidence.source import Source
from specrules.model.engine import Engine, Method


@cache
def _catalog() -> Catalog:
    return Catalog.load(environ={})


def _engine() -> Engine:
    return _catalog().engine("tensorrt-llm").model


def _method(name: str) -> Method:
    return next(method for method in _engine().methods if method.id == name)


def _read(*lines: str) -> Reading:
    return read_text(Source("log", "\n".join(lines) + "\n"), _engine())


def _values(reading: Reading) -> dict[str, object]:
    return {name: fact.value for name, fact in reading.facts.items()}


def _iteration(rows: int, host_ms: float, requests: int = 2, context: int = 0) -> str:
    return (
        "[08/04/2026-19:08:13] [TRT-LLM] [I] [_torch][RANK 0] iter = 12, global_rank = 0, rank = 0, "
        f"num_scheduled_requests = {requests}, kv_cache_util = 0.125, currank_total_requests = 1/8, "
        f"host_step_time = {host_ms}ms, prev_device_step_time = N/A, timestamp = 2026-08-04 19:08:13, "
        f"states = {{'num_ctx_requests': {context}, 'num_ctx_tokens': 0, 'num_generation_tokens': {rows}}}"
    )


def _finished(request: int, decoded: float) -> str:
    return f"[TRT-LLM] [I] [SpeculationGate] Request {request} completed: avg_decoded={decoded}, accepted_len=1.000"


DISABLED = (
    "[TRT-LLM] [I] [SpeculationGate] Speculative decoding disabled: rolling acceptance avg 0.412 < threshold 0.8 "
    "over last 20 requests"
)


def test_iterations_without_prompts_are_rounds_and_the_gate_counts_tokens_per_round() -> None:
    reading = _read(
        _iteration(0, 400, context=2),
        _iteration(8, 20),
        _iteration(8, 30),
        _iteration(4, 500, context=1),
        _finished(1, 2.0),
        _finished(2, 3.0),
    )
    values = _values(reading)
    assert values["drafting"] is True
    assert values["round_ms"] == 25
    assert values["verify_rows"] == 4
    assert values["tokens_per_round"] == 2.5
    assert reading.facts["tokens_per_round"].samples == (2.0, 3.0)
    assert values["rate_tok_s"] == pytest.approx(100)
    assert not reading.contradictions


def test_plain_iterations_give_the_step_of_a_server_that_does_not_draft() -> None:
    assert _values(_read(_iteration(2, 8), _iteration(2, 12))) == {
        "drafting": False,
        "rate_tok_s": 100,
        "rate_kind": "decode",
    }


def test_the_gate_ends_drafting_for_good() -> None:
    values = _values(_read(_iteration(8, 20), _finished(1, 1.4), DISABLED, _iteration(2, 10)))
    assert values["drafting"] is False
    assert values["refusal"] == DISABLED.rsplit("] ", maxsplit=1)[-1]
    assert {"tokens_per_round", "round_ms", "rate_tok_s"}.isdisjoint(values)


def test_more_tokens_than_rows_is_a_contradiction() -> None:
    (problem,) = _read(_iteration(8, 20), _finished(1, 4.5)).contradictions
    assert problem.message == "4.5 tokens per iteration do not fit into the 4 rows of a request"


def test_a_line_of_the_gate_in_an_unknown_shape_is_shown() -> None:
    reading = _read(_iteration(8, 20), "[TRT-LLM] [I] [SpeculationGate] Speculative decoding paused for 5 iterations")
    assert reading.unread_lines == 1


def test_a_configuration_that_is_refused_is_read_with_its_reason() -> None:
    values = _values(_read("ValueError: speculative_model must be specified for DraftTarget"))
    assert values == {"died_at_load": True, "load_error": "speculative_model must be specified for DraftTarget"}
    texts = {refusal.text for refusal in _engine().start_refusals}
    assert values["load_error"] in texts
    served = _values(_read("INFO:     Application startup complete."))
    assert served == {"died_at_load": False}


def _stats(*records: dict[str, object]) -> dict[str, object]:
    return _values(read_text(Source("metrics.json", json.dumps(records)), _engine()))


def _record(latency: float, context: int, generation: int, spec: dict[str, float] | None) -> dict[str, object]:
    batch = {"numContextRequests": context, "numGenRequests": generation}
    return {"iterLatencyMS": latency, "inflightBatchingStats": batch, "specDecodingStats": spec}


def _spec(drafted: float, accepted: float, rounds: float, drafter_ms: float = 0) -> dict[str, float]:
    return {
        "numDraftTokens": drafted,
        "numAcceptedTokens": accepted,
        "numRequestsWithDraftTokens": rounds,
        "iterLatencyMS": drafter_ms,
    }


def test_iteration_statistics_split_the_round_and_leave_mixed_iterations_out_of_times() -> None:
    values = _stats(
        _record(90, 1, 1, _spec(4, 0, 1, 12)),
        _record(40, 0, 1, _spec(4, 3, 1, 10)),
        _record(50, 0, 1, _spec(4, 1, 1, 14)),
    )
    assert (values["round_ms"], values["draft_ms"], values["pass_ms"]) == (45, 12, 33)
    assert values["tokens_per_round"] == pytest.approx(1 + 4 / 3)
    assert values["accepted_ratio"] == pytest.approx(4 / 12)
    assert values["mean_draft_length"] == 4
    one_model = _stats(_record(40, 0, 2, _spec(8, 4, 2)))
    assert one_model["round_ms"] == 40
    assert {"draft_ms", "pass_ms"}.isdisjoint(one_model)


def test_a_gauge_of_one_iteration_is_no_evidence() -> None:
    reading = _read(
        'trtllm_request_success_total{finished_reason="stop"} 10.0',
        "trtllm_generation_tokens_total 1010.0",
        "trtllm_spec_decode_acceptance_length 4.0",
        "trtllm_spec_decode_draft_overhead 0.2",
    )
    assert reading.reader_id == "prometheus"
    assert {"tokens_per_round", "drafting", "draft_ms"}.isdisjoint(reading.facts)


@pytest.mark.parametrize(("drafted", "has_rounds"), [((400, 400, 400), True), ((400, 150, 90), False)])
def test_counters_by_position_need_rounds_of_one_length(drafted: tuple[int, ...], *, has_rounds: bool) -> None:
    """With 600 of 1010 tokens accepted there are 400 passes of 3 drafts each; in the second case drafts are shorter."""
    lines = [
        'trtllm_request_success_total{finished_reason="stop"} 10.0',
        "trtllm_generation_tokens_total 1010.0",
        "trtllm_request_decode_time_seconds_sum 8.0",
    ]
    for position, (made, taken) in enumerate(zip(drafted, (300, 200, 100), strict=True)):
        lines.append(f'trtllm_spec_decode_drafted_tokens_total{{token_position="{position}"}} {made}')
        lines.append(f'trtllm_spec_decode_accepted_tokens_total{{token_position="{position}"}} {min(made, taken)}')
    values = _values(_read(*lines))
    assert ("position_acceptance" in values) is has_rounds
    if has_rounds:
        assert values["position_acceptance"] == (0.75, 0.5, 0.25)
        assert values["tokens_per_round"] == 2.5
        assert values["round_ms"] == 20
    else:
        assert {"tokens_per_round", "round_ms", "mean_draft_length"}.isdisjoint(values)


def test_vocabularies_are_not_compared_at_all() -> None:
    for name in ("DraftTarget", "PARD"):
        gate = tokenizer_gate(_engine(), _method(name))
        assert gate is not None
        (check,) = gate.checks
        assert check.otherwise == "accepted-though-wrong"
        assert holds(check.accepts, _catalog().symbols, {"tokenizers.last_differing_id": -1.0}) is True
        assert holds(check.accepts, _catalog().symbols, {"tokenizers.last_differing_id": 0.0}) is False
    assert all(tokenizer_gate(_engine(), _method(name)) is None for name in ("Eagle3", "MTP", "DFlash", "NGram"))


def test_zero_switches_synthetic_acceptance_off() -> None:
    (switch,) = _engine().synthetic_acceptance
    assert "0 means off" in switch.effect
    recipe = next(recipe for recipe in _engine().recipes if "candidate.synthetic_zero" in recipe.yields)
    assert "TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS=0.001 " in recipe.command


def test_methods_settings_and_devices() -> None:
    engine = _engine()
    current = {method.id: method.drafter_class for method in engine.methods if not method.removed}
    assert current == {
        "DraftTarget": "model",
        "Eagle3": "eagle-head",
        "MTP": "mtp-head",
        "PARD": "parallel-model",
        "DFlash": "block",
        "DSpark": "block",
        "NGram": "ngram",
        "SA": "suffix",
        "AUTO": "ngram",
    }
    assert not engine.devices.draft_routing.possible
    assert {method.id for method in engine.methods if method.draft_device == "routable"} == {"draft-target-model"}
    flags = {name: flag for flag in engine.flags for name in (flag.name, *flag.aliases)}
    for method in engine.methods:
        for entry in (*method.switch_on, *method.switch_off):
            name, value = entry.split("=", 1)
            assert not flags[name].values or value in flags[name].values
    features = {feature.feature: feature.status for feature in engine.features}
    assert (features["pipeline-parallel"], features["lora"]) == ("refused", "untested")
