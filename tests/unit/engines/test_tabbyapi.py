"""ExLlamaV3 with TabbyAPI: no tokenizer check, a routable drafter, and passes from counts."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest

from specrules.catalog.catalogue import Catalog
from specrules.evidence.readers.reading import Reading, read_text
from specrules.evidence.source import source_from_bytes
from specrules.model.engine import Engine


@cache
def _engine() -> Engine:
    return Catalog.load(environ={}).engine("tabbyapi").model


def _read(text: str, name: str = "server.log") -> Reading:
    return read_text(source_from_bytes(name, text.encode()), _engine())


def _line(tokens: int, rate: float, draft: str = "") -> str:
    return (
        f"2026-09-10 15:01:39.976 INFO:     Metrics (ID: 0a): {tokens} tokens generated in 9.9 seconds (Queue: 0.0 s, "
        f"Process: 0 cached tokens and 50 new tokens at 250.0 T/s, Generate: {rate} T/s, Context: 50 tokens{draft})\n"
    )


def test_methods_and_where_they_sit() -> None:
    methods = {method.id: method for method in _engine().methods}
    assert {name: method.drafter_class for name, method in methods.items()} == {
        "model": "model",
        "dflash": "block",
        "mtp": "mtp-head",
        "ngram": "ngram",
    }
    assert methods["model"].draft_device == "routable"
    assert _engine().devices.draft_routing.flag == "draft_gpu_split"
    assert all(method.lossless for method in methods.values())
    assert not any(method.round.restores_hybrid for method in methods.values())
    mode = next(flag for flag in _engine().flags if flag.name == "draft_mode")
    assert (mode.values, mode.default) == (("model", "disabled", "mtp", "ngram"), "model")
    assert _engine().tokenizer_gates == ()
    assert {combination.status for combination in _engine().combinations} == {"refused"}


def test_refusals_that_a_user_sees() -> None:
    refusals = {refusal.id: (refusal.effect, refusal.text) for refusal in _engine().start_refusals}
    assert refusals["draft-mode-unknown"] == ("exits", "Unknown exllamav3 draft mode: {mode}")
    assert refusals["ngram-match-min"] == (
        "exits",
        "ngram_match_min must be greater than 0 for n-gram drafting",
    )
    assert refusals["no-draft-model-name"][0] == "drafting-off"
    facts = _read("WARNING:  Draft model is disabled because a model name wasn't provided\n").facts
    assert facts.value("drafting") is False
    assert facts.value("refusal") == "Draft model is disabled because a model name wasn't provided"


def test_every_token_costs_its_share_of_a_pass() -> None:
    """300 tokens of which 200 were drafted come from 100 passes; two drafts lie beyond the end of the answer."""
    facts = _read(_line(300, 60.0, ", Draft: 200 / 398 tokens accepted (50.25%)")).facts
    assert facts.number("target_passes") == facts.number("rounds") == 100
    assert facts.number("tokens_per_round") == 3
    assert facts.number("draft_length") == 4
    assert facts.number("round_ms") == pytest.approx(50)
    assert facts.number("rate_tok_s") == pytest.approx(60)


@pytest.mark.parametrize(
    "drafted",
    [
        pytest.param(350, id="no whole number per pass: dynamic or n-gram drafts"),
        pytest.param(401, id="more than four per pass"),
        pytest.param(395, id="more missing than one answer can lose"),
    ],
)
def test_rounds_stay_unknown_where_not_all_passes_drafted(drafted: int) -> None:
    facts = _read(_line(300, 60.0, f", Draft: 200 / {drafted} tokens accepted (50.00%)")).facts
    assert facts.value("drafting") is True
    assert facts.number("target_passes") == 100
    assert not {"rounds", "tokens_per_round", "round_ms", "draft_length"} & set(facts)


def test_a_line_without_draft_counts_says_nothing_about_drafting() -> None:
    facts = _read(_line(200, 20.0)).facts
    assert "drafting" not in facts
    assert "target_passes" not in facts
    assert facts.number("decode_ms") == pytest.approx(10_000)


def test_a_drafter_that_drafted_nothing_is_seen() -> None:
    assert _read(_line(200, 20.0, ", Draft: 0 / 0 tokens accepted (0.00%)")).facts.value("drafting") is False


def test_a_line_wrapped_elsewhere_is_shown_as_unread() -> None:
    whole = _line(300, 60.0, ", Draft: 200 / 398 tokens accepted (50.25%)")
    broken = whole.replace("Process: 0", "Process:\n0") + _line(200, 20.0)
    reading = _read(broken)
    assert reading.unread_lines == 2
    assert reading.facts.number("tokens") == 200


def _answer(**details: int) -> dict[str, Any]:
    usage: dict[str, Any] = {"completion_tokens": 300, "completion_tokens_per_sec": 60.0, "prompt_tokens": 50}
    if details:
        usage["completion_tokens_details"] = details
    return {"usage": usage}


def test_an_answer_counts_accepted_and_rejected() -> None:
    answer = _answer(accepted_prediction_tokens=200, rejected_prediction_tokens=198)
    facts = _read(json.dumps(answer), "answer.json").facts
    assert (facts.number("drafted"), facts.number("accepted"), facts.number("tokens_per_round")) == (398, 200, 3)
    assert facts.number("round_ms") == pytest.approx(50)


def test_answers_with_and_without_counts_do_not_mix() -> None:
    answers = [_answer(accepted_prediction_tokens=200, rejected_prediction_tokens=198), _answer()]
    facts = _read(json.dumps(answers), "answers.json").facts
    assert facts.number("tokens") == 600
    assert not {"accepted", "target_passes", "tokens_per_round"} & set(facts)
