"""vLLM's lines and metrics of other versions than the recorded one: V0, 2025, several engines, cut logs."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from specrules.catalog.catalogue import Catalog
from specrules.evidence.readers.reading import Reading, read_text
from specrules.evidence.source import source_from_bytes
from specrules.model.engine import Engine

PREFIX = "(APIServer pid=7) INFO 11-29 17:05:{second:02} "
CONFIGURED = (
    "(EngineCore pid=9) INFO 11-29 17:04:41 [core.py:133] Initializing a V1 LLM engine (v0.33.0) with config: "
    "model='m', speculative_config=SpeculativeConfig(method='{method}', model='d', num_spec_tokens={length}), "
    "tokenizer='m', max_seq_len=8192, download_dir=None\n"
)


@cache
def _engine() -> Engine:
    return Catalog.load(environ={}).engine("vllm").model


def _read(text: str) -> Reading:
    return read_text(source_from_bytes("file", text.encode()), _engine())


def _values(reading: Reading) -> dict[str, Any]:
    return {name: fact.value for name, fact in reading.facts.items()}


def _interval(second: int, accepted: int, drafted: int, *rates: float, depth: str = "") -> str:
    """A line of today: acceptance of one interval of ten seconds."""
    positions = ", ".join(f"{rate:.3f}" for rate in rates)
    return (
        f"{PREFIX.format(second=second)}[metrics.py:120] SpecDecoding metrics: Mean acceptance length: "
        f"{1 + sum(rates):.2f}, {depth}Accepted throughput: {accepted / 10:.2f} tokens/s, Drafted "
        f"throughput: {drafted / 10:.2f} tokens/s, Accepted: {accepted} tokens, Drafted: {drafted} tokens, "
        f"Per-position acceptance rate: {positions}, Avg Draft acceptance rate: {100 * accepted / drafted:.1f}%\n"
    )


def _rates(second: int, generated: float, running: int = 1, prompt: float = 0.0, engine: int = 0) -> str:
    return (
        f"{PREFIX.format(second=second)}[loggers.py:335] Engine {engine:03}: Avg prompt throughput: {prompt} tokens/s, "
        f"Avg generation throughput: {generated} tokens/s, Running: {running} reqs, Waiting: 0 reqs, "
        "GPU KV cache usage: 1.4%, Prefix cache hit rate: 0.0%\n"
    )


def _v0(efficiency: float, length: int, accepted: int, drafted: int, emitted: int) -> str:
    return (
        f"INFO 10-16 19:05:47 metrics.py:367] Speculative metrics: Draft acceptance rate: {accepted / drafted:.3f}, "
        f"System efficiency: {efficiency}, Number of speculative tokens: {length}, Number of accepted tokens: "
        f"{accepted}, Number of draft tokens: {drafted}, Number of emitted tokens: {emitted}.\n"
    )


def test_intervals_are_summed() -> None:
    """Neither the mean of the lines' lengths nor the last line: 1 + 14 accepted in 8 drafts, not 2.6 and not 3.8."""
    text = CONFIGURED.format(method="eagle3", length=3)
    found = _values(_read(text + _interval(1, 2, 12, 0.5, 0, 0) + _interval(11, 12, 12, 1, 1, 1)))
    assert (found["rounds"], found["accepted"], found["drafted"]) == (8, 14, 24)
    assert found["tokens_per_round"] == pytest.approx(2.75)
    assert found["position_acceptance"] == pytest.approx((0.75, 0.5, 0.5))
    assert (found["method"], found["draft_length"], found["engine.context_tokens"]) == ("eagle3", 3, 8192)


def test_a_line_without_accepted_tokens_counts_its_rounds() -> None:
    text = CONFIGURED.format(method="mtp", length=2) + _interval(1, 0, 80, 0, 0) + _interval(11, 40, 40, 1, 1)
    found = _values(_read(text))
    assert (found["rounds"], found["tokens_per_round"]) == (60, pytest.approx(1 + 40 / 60))
    assert found["position_acceptance"] == pytest.approx((1 / 3, 1 / 3))


def test_a_dead_drafter_commits_one_token_per_round() -> None:
    found = _values(_read(CONFIGURED.format(method="draft_model", length=4) + _interval(1, 0, 80, 0, 0, 0, 0)))
    assert (found["drafting"], found["tokens_per_round"], found["rounds"]) == (True, 1, 20)


def test_a_log_without_its_beginning() -> None:
    """The draft length is told by the lines with accepted tokens; one line without any does not hide the rounds."""
    lines = [_interval(1, 1102, 2310, 0.818, 0.617, 0.420, 0.299, 0.232), _interval(11, 0, 100, 0, 0, 0, 0, 0)]
    found = _values(_read("".join(lines)))
    assert found["rounds"] == 462 + 20
    assert found["tokens_per_round"] == pytest.approx(1 + 1102 / 482)
    assert {"method", "draft_length", "died_at_load", "engine.build"}.isdisjoint(found)


def test_a_changing_depth() -> None:
    line = _interval(1, 58, 70, 0.9, 0.9, 0.8, 0.8, 0.8, 0.8, 0.8, depth="Current speculative depth: 7, ")
    assert _values(_read(line))["rounds"] == 10


def test_drafts_of_different_lengths() -> None:
    text = CONFIGURED.format(method="suffix", length=16)
    text += _interval(1, 10, 60, 0.25, 0.25) + _interval(11, 30, 60, 1, 0.5)
    found = _values(_read(text))
    assert (found["rounds"], found["tokens_per_round"]) == (40, 2)
    assert found["mean_draft_length"] == 3
    hidden = _values(_read(text + _interval(21, 0, 40, 0, 0)))
    assert "rounds" not in hidden
    assert "position_acceptance" not in hidden
    assert hidden["accepted_ratio"] == pytest.approx(40 / 160)


def test_configured_and_never_drafted() -> None:
    text = CONFIGURED.format(method="ngram", length=3) + _rates(1, 11.4)
    assert _values(_read(text))["drafting"] is False
    assert "drafting" not in _values(_read(CONFIGURED.format(method="ngram", length=3) + _rates(1, 0.0, running=0)))


def test_windows_tell_a_round_only_where_one_request_filled_them() -> None:
    start, spec = CONFIGURED.format(method="mtp", length=1), _interval(11, 50, 100, 0.5)
    found = _values(_read(start + spec + _rates(11, 15.0)))
    assert found["steady_round_ms"] == pytest.approx(100)
    for other in (_rates(11, 15.0, prompt=3.1), _rates(11, 15.0, running=2), _rates(12, 15.0)):
        assert "steady_round_ms" not in _values(_read(start + spec + other))
    # Half of the steps drafted nothing: the window is no round.
    assert "steady_round_ms" not in _values(_read(start + spec + _rates(11, 25.0)))


def test_data_parallel_engines_are_summed() -> None:
    text = CONFIGURED.format(method="mtp", length=1) + _interval(1, 30, 100, 0.3) + _interval(1, 90, 100, 0.9)
    found = _values(_read(text + _rates(1, 13.0) + _rates(1, 19.0, engine=1)))
    assert (found["rounds"], found["tokens_per_round"], found["peak_requests"]) == (200, pytest.approx(1.6), 2)


def test_lines_of_2025() -> None:
    line = "INFO 05-30 10:00:00 [metrics.py:73] SpecDecoding metrics: Draft acceptance rate: 38.8%, "
    line += "Mean acceptance length: 2.16, Accepted: 150 tokens, Drafted: 387 tokens, "
    line += "Per-position acceptance rate: 0.543, 0.357, 0.264\n"
    found = _values(_read(line))
    assert (found["rounds"], found["tokens_per_round"]) == (129, pytest.approx(1 + 150 / 129))
    april = "SpecDecoding metrics: Draft acceptance rate: 75.0%, Accepted: 66 tokens, Drafted: 88 tokens\n"
    nothing = "SpecDecoding metrics: Draft acceptance rate: nan%, Accepted: 0 tokens, Drafted: 0 tokens\n"
    found = _values(_read(nothing + april))
    assert (found["drafting"], found["accepted_ratio"]) == (True, 0.75)
    assert {"rounds", "tokens_per_round"}.isdisjoint(found)
    found = _values(_read(CONFIGURED.format(method="eagle", length=2) + april))
    assert (found["rounds"], found["tokens_per_round"]) == (44, 2.5)
    assert "drafting" not in _values(_read(nothing))


@pytest.mark.parametrize(
    ("line", "rounds", "tokens"),
    [
        (_v0(0.598, 3, 8547, 13311, 10616), 4437, 2.3926),
        (_v0(0.649, 4, 1735, 2648, 2149), 662, 3.2462),
        (_v0(0.133, 8, 44, 80, 12), 10, 1.2),
        (_v0(0.250, 3, 0, 483, 161), 161, 1.0),
        (_v0(0.640, 5, 197711, 248165, 190541), 49633, 3.8390),
    ],
)
def test_v0_counts_what_was_emitted(line: str, rounds: float, tokens: float) -> None:
    """Accepted tokens of V0 count those after a rejection, so they are no facts: 1 + 44/10 would be 5.4, not 1.2."""
    reading = _read(line)
    found = _values(reading)
    assert reading.contradictions == ()
    assert (found["rounds"], found["tokens_per_round"]) == (rounds, pytest.approx(tokens, abs=1e-4))
    assert {"accepted", "accepted_ratio", "position_acceptance"}.isdisjoint(found)


def test_v0_lines_count_from_the_start_and_go_with_stage_times() -> None:
    stage = "INFO 09-11 12:41:50 spec_decode_worker.py:790] SpecDecodeWorker stage times: "
    stage += "average_time_per_proposal_tok_ms=4.96 scoring_time_ms=54.92 verification_time_ms=1.20\n"
    found = _values(_read(_v0(0.5, 4, 100, 400, 250) + stage + _v0(0.6, 4, 300, 800, 600)))
    assert (found["drafted"], found["tokens_per_round"]) == (800, 3)
    assert found["draft_ms"] == pytest.approx(19.84)
    assert found["pass_ms"] == pytest.approx(56.12)
    assert found["round_ms"] == pytest.approx(75.96)
    assert _values(_read(stage)).keys() == {"pass_ms"}


def test_v0_with_a_varying_draft_length_contradicts_itself() -> None:
    reading = _read(_v0(0.9, 4, 300, 800, 600))
    assert "tokens_per_round" not in _values(reading)
    assert "the draft length varied" in reading.contradictions[0].message


def test_two_starts_and_two_formats_do_not_mix() -> None:
    boot = "INFO 08-01 01:07:42 [api_server.py:1755] vLLM API server version 0.10.0\n"
    assert "2 server starts" in _read(boot * 2).contradictions[0].message
    mixed = _read(_v0(0.598, 3, 8547, 13311, 10616) + _interval(1, 2, 12, 0.5, 0, 0))
    assert "mixes lines of V0 and V1" in mixed.contradictions[0].message


def test_lines_that_changed_are_shown() -> None:
    reading = _read(_rates(1, 8.0) + "INFO SpecDecoding metrics: Mean acceptance: 2.4 over 10 drafts\n")
    assert reading.unread_lines == 1


@pytest.mark.parametrize(
    "collected",
    [
        "vllm-1  | {}",
        "2026-11-29T17:05:01.123Z {}",
        "[pod/vllm-0/server] {}",
        "Nov 29 17:05:01 host vllm[12]: {}",
        "{}",
    ],
)
def test_collectors_put_something_in_front(collected: str) -> None:
    lines = [
        "(APIServer pid=1) INFO 11-29 17:04:23 [api_utils.py:347]  ▄▄ ▄█ █     █     █ ▀▄▀ █  version 0.32.0",
        "(Worker_TP0 pid=20) ERROR 11-29 17:04:50 [multiproc_executor.py:953] ValueError: no such head",
        "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {'EngineCore': 1}",
    ]
    found = _values(_read("".join(collected.format(line) + "\n" for line in lines)))
    assert (found["died_at_load"], found["load_error"]) == (True, "ValueError: no such head")


def test_an_exception_of_a_running_server_is_no_failed_start() -> None:
    line = "ValueError: a client sent nonsense\n"
    assert "died_at_load" not in _values(_read(_rates(1, 8.0) + line))
    assert "load_error" not in _values(_read(line + "INFO:     Application startup complete.\n"))


def _series(**values: float) -> str:
    return "".join(f'vllm:{name}{{engine="0",model_name="m"}} {value}\n' for name, value in values.items())


def test_metrics_under_the_former_name_of_the_gaps() -> None:
    counters = {"spec_decode_num_drafts_total": 40, "spec_decode_num_draft_tokens_total": 80}
    gaps = {"time_per_output_token_seconds_sum": 4.0, "time_per_output_token_seconds_count": 40}
    text = _series(
        generation_tokens_total=102,
        time_to_first_token_seconds_count=2,
        spec_decode_num_accepted_tokens_total=60,
        **counters,
        **gaps,
    )
    found = _values(_read(text))
    assert (found["rate_tok_s"], found["round_ms"], found["tokens_per_round"]) == (25, 100, 2.5)
    # Where that histogram counted tokens, its mean is no round.
    count = 'vllm:time_per_output_token_seconds_count{engine="0",model_name="m"} '
    assert count + "40" in text
    assert "round_ms" not in _values(_read(text.replace(count + "40", count + "100")))


def test_ranks_are_added_up() -> None:
    drafts = {"spec_decode_num_drafts_total": 40, "spec_decode_num_accepted_tokens_total": 50}
    one = _series(generation_tokens_total=100, **drafts)
    found = _values(_read(one + one.replace('engine="0"', 'engine="1"')))
    assert (found["rounds"], found["accepted"], found["tokens_per_round"]) == (80, 100, 2.25)


def test_counters_that_cannot_be_true() -> None:
    text = _series(
        generation_tokens_total=1000,
        time_to_first_token_seconds_count=1,
        inter_token_latency_seconds_count=100,
        inter_token_latency_seconds_sum=10,
        spec_decode_num_drafts_total=100,
        spec_decode_num_draft_tokens_total=300,
        spec_decode_num_accepted_tokens_total=400,
    )
    messages = [problem.message for problem in _read(text).contradictions]
    assert messages == [
        "400 tokens accepted of 300 drafted",
        "1000 tokens of 1 requests are more than 100 steps and 400 accepted drafts can have made",
    ]


@pytest.mark.parametrize("length", [1, 3, 5, 8])
def test_v0_metrics_tell_the_draft_length(length: int) -> None:
    rounds, emitted = 1000, 1000 * (1 + 0.4 * length)
    text = _series(
        generation_tokens_total=emitted,
        spec_decode_efficiency=emitted / (rounds * (length + 1)),
        spec_decode_num_accepted_tokens_total=900 * length,
        spec_decode_num_draft_tokens_total=rounds * length,
        spec_decode_num_emitted_tokens_total=emitted,
    )
    found = _values(_read(text))
    assert (found["draft_length"], found["rounds"]) == (length, rounds)
    assert found["tokens_per_round"] == pytest.approx(1 + 0.4 * length)
    assert "accepted" not in found


def test_several_benchmark_results_in_one_file_have_no_rate() -> None:
    text = "============ Serving Benchmark Result ============\nMean TPOT (ms):      12.65\n"
    assert _values(_read(text))["rate_tok_s"] == pytest.approx(79.0514, abs=1e-4)
    twice = _read(text * 2)
    assert "rate_tok_s" not in _values(twice)
    assert "2 results" in twice.contradictions[0].message
