"""SGLang: what `accept rate` means, which lines have a time, what each release compares, and how N follows from K."""

from __future__ import annotations

from functools import cache

import pytest

from specrules.catalog.catalogue import Catalog
from specrules.derive.conditions import holds, tokenizer_gate
from specrules.evidence.readers.reading import Reading, read_text
from specrules.evidence.source import Source
from specrules.model.engine import Engine, Method
from specrules.model.version import in_range

ARGS = (
    "[2026-11-20 08:00:01] server_args=ServerArgs(model_path='m', speculative_algorithm='{algorithm}', "
    "speculative_draft_model_path='{draft}', speculative_num_steps={steps}, speculative_eagle_topk={topk}, "
    "speculative_num_draft_tokens={rows}, speculative_adaptive={adaptive})"
)


@cache
def _catalog() -> Catalog:
    return Catalog.load(environ={})


def _engine() -> Engine:
    return _catalog().engine("sglang").model


def _method(name: str) -> Method:
    return next(method for method in _engine().methods if method.id == name)


def _read(*lines: str, version: str | None = None) -> Reading:
    return read_text(Source("log", "\n".join(lines) + "\n"), _engine(), version=version)


def _values(reading: Reading) -> dict[str, object]:
    return {name: fact.value for name, fact in reading.facts.items()}


def _args(rows: int, **given: object) -> str:
    words = {"algorithm": "EAGLE3", "draft": "d", "steps": rows - 1, "topk": 1, "adaptive": False}
    return ARGS.format(rows=rows, **{**words, **given})


def _decode(accept: str, rate: str | None, speed: float, running: int = 1, rank: str = "TP0") -> str:
    rated = f"accept rate: {rate}, " if rate is not None else ""
    return (
        f"[2026-11-20 08:01:00 {rank}] Decode batch, #running-req: {running}, #token: 186, token usage: 0.00, "
        f"accept len: {accept}, {rated}cuda graph: True, gen throughput (token/s): {speed:.2f}, #queue-req: 0"
    )


def _prefill(rank: str = "TP0") -> str:
    return (
        f"[2026-11-20 08:00:59 {rank}] Prefill batch, #new-seq: 1, #new-token: 896, #cached-token: 0, #running-req: 0"
    )


@pytest.mark.parametrize(
    ("accept", "rate", "ratio", "meaning"),
    [
        ("1.95", "0.49", 0.95 / 3, "accept len / N"),
        ("2.64", "0.66", 1.64 / 3, "accept len / N"),
        ("2.20", "0.73", 0.6, "accept len / N"),
        ("2.83", "0.61", 0.61, "(accept len - 1) / (N - 1)"),
        ("1.57", "0.19", 0.19, "(accept len - 1) / (N - 1)"),
        ("2.73", "0.43", 0.43, "(accept len - 1) / (N - 1)"),
        ("4.62", "0.91", 0.91, "(accept len - 1) / (N - 1)"),
        ("1.00", "0.00", 0.0, "(accept len - 1) / (N - 1)"),
        ("1.00", "0.25", 0.0, "accept len / N"),
    ],
)
def test_printed_lines_tell_what_their_rate_means(accept: str, rate: str, ratio: float, meaning: str) -> None:
    """Pairs from public logs of 2025 and 2026, without the server_args line."""
    reading = _read(_decode(accept, rate, 100))
    values = _values(reading)
    assert values["accepted_ratio"] == pytest.approx(ratio, abs=1e-9)
    assert values["accept_rate_meaning"] == meaning
    assert values["tokens_per_round"] == float(accept)
    assert not reading.contradictions


def test_a_pair_that_fits_both_meanings_gives_no_ratio_and_says_why() -> None:
    """1.52 and 0.51 were printed at N = 3 by the old meaning; N = 2 under the new one fits them as well."""
    undecided = _read(_decode("1.52", "0.51", 100))
    assert {"accepted_ratio", "accept_rate_meaning"}.isdisjoint(undecided.facts)
    assert _values(undecided)["tokens_per_round"] == 1.52
    assert "no ratio can be given: accept rate 0.51 at accept len 1.52" in undecided.warnings[0].message
    assert not undecided.contradictions
    decided = _read(_args(3), _decode("1.52", "0.51", 100))
    assert _values(decided)["accepted_ratio"] == pytest.approx(0.26)
    assert _values(decided)["accept_rate_meaning"] == "accept len / N"
    assert not decided.contradictions
    more = _read(_decode("1.52", "0.51", 100), _decode("1.80", "0.60", 100))
    assert _values(more)["accepted_ratio"] == pytest.approx(0.33)
    assert not more.contradictions


def test_a_rate_that_fits_no_meaning_at_the_stated_width_is_a_contradiction() -> None:
    reading = _read(_args(8), _decode("2.83", "0.61", 100))
    assert "accepted_ratio" not in reading.facts
    (problem,) = reading.contradictions
    assert "neither accept len / N nor (accept len - 1) / (N - 1) for the N = 8 of server_args" in problem.message


def test_adaptive_steps_have_no_ratio_and_no_depth() -> None:
    reading = _read(_args(4, adaptive=True), _decode("2.10", "0.91", 100))
    assert {"accepted_ratio", "draft_length", "mean_draft_length"}.isdisjoint(reading.facts)
    assert not reading.contradictions


def test_times_leave_out_the_line_that_follows_a_prefill() -> None:
    reading = _read(
        _args(4),
        _prefill(),
        _decode("2.20", "0.40", 40),
        _decode("2.50", "0.50", 100),
        _decode("3.00", "0.67", 120),
        _prefill(),
        _decode("2.00", "0.33", 10),
        _decode("2.00", "0.33", 80),
    )
    values = _values(reading)
    assert values["round_ms"] == pytest.approx(25)
    assert values["rate_tok_s"] == pytest.approx(100)
    assert values["rate_kind"] == "decode"
    assert values["tokens_per_round"] == pytest.approx((2.2 + 2.5 + 3 + 2 + 2) / 5)
    assert values["draft_length"] == values["mean_draft_length"] == 3
    assert not reading.contradictions


def test_throughput_is_shared_by_the_running_requests_and_not_added_over_ranks() -> None:
    reading = _read(
        _args(4),
        _prefill("DP0 TP0"),
        _prefill("DP1 TP0"),
        _decode("2.50", "0.50", 30, 4, "DP0 TP0"),
        _decode("2.50", "0.50", 31, 2, "DP1 TP0"),
        _decode("2.50", "0.50", 400, 4, "DP0 TP0"),
        _decode("2.50", "0.50", 200, 2, "DP1 TP0"),
    )
    values = _values(reading)
    assert values["round_ms"] == pytest.approx(25)
    assert values["rate_tok_s"] == pytest.approx(100)
    assert not reading.contradictions


def test_a_line_alone_or_a_changing_batch_has_no_rate() -> None:
    for lines in ([_prefill(), _decode("2.50", "0.50", 100)], [_decode("2.50", "0.50", 100, n) for n in (3, 2, 1)]):
        values = _values(_read(_args(4), *lines))
        assert values["tokens_per_round"] == pytest.approx(2.5)
        assert {"rate_tok_s", "rate_kind", "round_ms"}.isdisjoint(values)


def test_undrafted_lines_give_the_plain_step() -> None:
    plain = (
        "[2026-11-20 08:01:00] Decode batch, #running-req: 2, #token: 186, token usage: 0.00, cuda graph: True, "
        "gen throughput (token/s): {speed:.2f}, #queue-req: 0"
    )
    values = _values(_read(_prefill(), plain.format(speed=3), plain.format(speed=80), plain.format(speed=80)))
    assert values["drafting"] is False
    assert values["rate_tok_s"] == pytest.approx(40)
    mixed = _read(plain.format(speed=80), _decode("2.50", "0.50", 100))
    assert "cut it to one server" in mixed.contradictions[0].message


@pytest.mark.parametrize(
    ("given", "method", "draft_length"),
    [
        ({"rows": 4, "algorithm": "EAGLE", "draft": "m"}, "NEXTN", 3.0),
        ({"rows": 4, "algorithm": "EAGLE", "draft": "d"}, None, 3.0),
        ({"rows": 8, "algorithm": "EAGLE3", "steps": 5, "topk": 4}, "EAGLE3", 5.0),
        ({"rows": 16, "algorithm": "DFLASH", "steps": 1}, "DFLASH", 15.0),
        ({"rows": 12, "algorithm": "NGRAM", "steps": 1, "topk": 10}, "NGRAM", 11.0),
    ],
)
def test_method_and_depth_of_the_server_args(given: dict[str, object], method: str | None, draft_length: float) -> None:
    """EAGLE stands for NEXTN too; steps are the depth of trees only, and 1 without meaning for block drafters."""
    values = _values(_read(_args(**given)))  # type: ignore[arg-type]
    assert values.get("method") == method
    assert values["draft_length"] == draft_length


def test_a_drafter_that_is_refused_at_start_is_read_with_its_reason() -> None:
    message = "Currently standalone speculative decoding does not support dp attention."
    values = _values(
        _read(
            f"ValueError: {message}",
            "[2026-11-20 08:00:05] Received sigquit from a child process. It usually means the child failed.",
        )
    )
    assert values == {"died_at_load": True, "load_error": message}
    assert message in {refusal.text for refusal in _engine().start_refusals}


@pytest.mark.parametrize(
    ("version", "pair", "failed"),
    [
        ("0.5.23", (151936.0, 151936.0, -1.0), []),
        ("0.5.23", (151936.0, 152064.0, -1.0), [("size", "dies-at-load")]),
        ("0.5.23", (151936.0, 151936.0, 7.0), [("ids", "dies-at-load")]),
        ("0.5.15", (151936.0, 151936.0, 0.0), [("ids", "dies-at-load")]),
        ("0.5.14", (151936.0, 151936.0, 7.0), [("uncompared", "accepted-though-wrong")]),
        ("0.5.14", (151936.0, 152064.0, -1.0), [("uncompared", "accepted-though-wrong")]),
    ],
)
def test_vocabularies_are_compared_whole_since_0_5_15(
    version: str, pair: tuple[float, float, float], failed: list[tuple[str, str]]
) -> None:
    gate = tokenizer_gate(_engine(), _method("STANDALONE"))
    assert gate is not None
    names = ("target.tokenizer.size", "drafter.tokenizer.size", "tokenizers.last_differing_id")
    found = [
        (check.id, check.otherwise)
        for check in gate.checks
        if in_range(version, check.since, check.until, "dotted")
        and holds(check.accepts, _catalog().symbols, dict(zip(names, pair, strict=True))) is False
    ]
    assert found == failed
    assert all(tokenizer_gate(_engine(), _method(name)) is None for name in ("EAGLE3", "NEXTN", "DFLASH", "NGRAM"))


def test_autoregressive_drafters_follow_the_target_within_their_k_passes() -> None:
    catch_up = {method.id: method.round.catch_up for method in _engine().methods}
    assert {name for name, kind in catch_up.items() if kind == "batch"} == {"DFLASH", "DSPARK"}
    assert {method.round.order for method in _engine().methods} == {"cpu-overlap"}


def test_the_cap_of_running_requests_is_a_limit_and_is_read() -> None:
    limit = next(limit for limit in _engine().limits if limit.of == "running-requests")
    refusal = next(item for item in _engine().start_refusals if item.id == "running-requests-cap")
    assert (limit.value, refusal.effect) == (48, "setting-changed")
    assert _values(_read(f"[2026-11-20 08:00:02] {refusal.text}"))["max_running_requests"] == 48
    issue = next(item for item in _engine().known_issues if item.id == "running-requests-capped")
    assert holds(issue.condition or "", _catalog().symbols, {"workload.concurrency": 49.0}) is True
    assert holds(issue.condition or "", _catalog().symbols, {"workload.concurrency": 48.0}) is False


def test_widths_are_k_plus_one_except_where_the_flag_names_k() -> None:
    on = {method.id: " ".join(method.switch_on) for method in _engine().methods}
    assert "--speculative-num-draft-tokens {verify_rows}" in on["STANDALONE"]
    assert "--speculative-num-steps {draft_length}" in on["STANDALONE"]
    assert "--speculative-dflash-block-size {verify_rows}" in on["DFLASH"]
    assert "--speculative-dspark-block-size {draft_length}" in on["DSPARK"]
    assert "--speculative-num-draft-tokens {verify_rows}" in on["NGRAM"]
    assert not _engine().devices.draft_routing.possible
    flags = {flag.name for flag in _engine().flags}
    assert {method.draft_length_flag for method in _engine().methods} <= flags
    assert {entry.split()[0] for method in _engine().methods for entry in method.switch_on} <= flags


@pytest.mark.parametrize(
    ("rate", "accept", "ratio"), [("0.4875", "1.95", 0.95 / 3), ("0.55", "1.55", 0.55), ("0.27", "2.9", None)]
)
def test_gauges_without_n_are_read_by_arithmetic(rate: str, accept: str, ratio: float | None) -> None:
    reading = _read(
        'sglang:generation_tokens_total{model_name="m"} 900.0',
        f'sglang:spec_accept_rate{{tp_rank="0"}} {rate}',
        f'sglang:spec_accept_length{{tp_rank="0"}} {accept}',
    )
    assert reading.reader_id == "metrics"
    found = _values(reading).get("accepted_ratio")
    assert found == (None if ratio is None else pytest.approx(ratio))
    assert bool(reading.warnings) is (ratio is None)
    assert not reading.contradictions
