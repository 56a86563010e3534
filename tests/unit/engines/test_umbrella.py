"""UMbreLLa: two kinds of tree, and an average that counts the token which the prompt brought."""

from __future__ import annotations

import json
from functools import cache

import pytest

from specrules.catalog.catalogue import Catalog
from specrules.evidence.readers.reading import Reading, read_text
from specrules.evidence.source import source_from_bytes
from specrules.model.engine import Engine

PREFIX = "2025-02-14 10:00:00,123 - sequoia - INFO - "
TREE = PREFIX + "\x1b[35mTree Size 384 | Tree Depth 24 | Tree Width 16\x1b[0m\n"


@cache
def _engine() -> Engine:
    return Catalog.load(environ={}).engine("umbrella").model


def _read(text: str, name: str = "chat.log") -> Reading:
    return read_text(source_from_bytes(name, text.encode()), _engine())


def test_both_engines_draft_trees_on_the_targets_device() -> None:
    methods = {method.id: method for method in _engine().methods}
    assert {name: method.drafter_class for name, method in methods.items()} == {"static": "tree", "dynamic": "tree"}
    assert {method.draft_device for method in methods.values()} == {"same-device"}
    assert {method.switch_off for method in methods.values()} == {("engine=ar",)}
    assert (methods["static"].draft_length_flag, methods["dynamic"].draft_length_flag) == (None, "depth")
    defaults = {flag.name: flag.default for flag in _engine().flags}
    assert (defaults["engine"], defaults["depth"], defaults["width"]) == ("dynamic", "24", "16")
    assert _engine().tokenizer_gates == ()
    assert _engine().probes == ()
    texts = {refusal.id: refusal.text for refusal in _engine().start_refusals}
    assert texts["no-tree"] == "Please specify growmap path for static trees"


def test_the_token_of_the_prompt_is_taken_out_where_tokens_are_printed() -> None:
    """Two answers: 257 tokens in 50 rounds and 101 in 25, so 256 + 100 tokens in 75 rounds."""
    log = (
        TREE
        + PREFIX
        + "Output Tokens 257 | Avg Accept Tokens 5.14 | TPOT 24.00 ms \n"
        + PREFIX
        + "\x1b[35mOutput Tokens 101 | Avg Accept Tokens 4.04 | TPOT 30.00 ms \x1b[0m\n"
    )
    facts = _read(log).facts
    decode_ms = 257 * 24 + 101 * 30
    assert facts.number("rounds") == 75
    assert facts.number("tokens_per_round") == pytest.approx(356 / 75)
    assert facts["tokens_per_round"].samples == pytest.approx((256 / 50, 100 / 25))
    assert facts.number("round_ms") == pytest.approx(decode_ms / 75)
    assert facts.number("rate_tok_s") == pytest.approx(356_000 / decode_ms)
    assert (facts.value("method"), facts.number("draft_length"), facts.number("tree_nodes")) == ("dynamic", 24, 384)
    assert "printed_tokens_per_round" not in facts


def test_without_the_tokens_there_are_no_tokens_per_round() -> None:
    facts = _read(TREE + PREFIX + "Avg Accept Tokens 5.14 | TPOT 24.00 ms \n").facts
    assert "tokens_per_round" not in facts
    assert facts.number("printed_tokens_per_round") == 5.14
    assert facts.number("round_ms") == pytest.approx(5.14 * 24)


def test_the_summary_of_a_benchmark_counts_and_its_categories_do_not() -> None:
    lines = ("Avg Accept Tokens 4.00 | TPOT 40.00 ms ", "writing | Avg Accept Tokens 4.00 | TPOT 40.00 ms ")
    log = "".join(f"{PREFIX}{line}\n" for line in (*lines, "Summary | Avg Accept Tokens 5.00 | TPOT 25.00 ms "))
    reading = _read(log)
    assert reading.facts.number("rate_tok_s") == 40
    assert reading.facts.number("round_ms") == 125
    assert reading.unread_lines == 0


def test_rounds_that_two_decimals_do_not_tell_are_not_stated() -> None:
    facts = _read(TREE + PREFIX + "Output Tokens 4000 | Avg Accept Tokens 1.50 | TPOT 24.00 ms \n").facts
    assert "rounds" not in facts
    assert facts.number("tokens_per_round") == pytest.approx(3999 / 2667)


def test_a_refused_answer_is_no_evidence() -> None:
    answer = {"avg_accept_tokens": 0, "time_per_output_token": 0, "generated_text": ""}
    reading = _read(json.dumps(answer), "answer.json")
    assert {name: fact.value for name, fact in reading.facts.items()} == {"requests": 1.0}
    assert len(reading.contradictions) == 1
