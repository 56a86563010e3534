"""ik_llama.cpp: translates where llama.cpp refuses, one option for all methods, the log of an older llama.cpp."""

from __future__ import annotations

import json
from functools import cache

import pytest

from specrules.catalog.catalogue import Catalog
from specrules.derive.conditions import holds
from specrules.evidence.readers.detect import detect
from specrules.evidence.readers.reading import Reading, read_text
from specrules.evidence.source import source_from_bytes
from specrules.model.engine import Engine
from specrules.model.version import in_range

REQUEST = (
    "prompt eval time =    4063.52 ms /    96 tokens (   42.33 ms per token,    23.62 tokens per second)\n"
    "       eval time =   10000.00 ms /   101 tokens (   99.01 ms per token,    10.10 tokens per second)\n"
    "      total time =   14063.52 ms /   197 tokens\n"
)
SAME = {
    "engine.method": "draft",
    "target.tokenizer.size": 151936.0,
    "drafter.tokenizer.size": 151936.0,
    "tokenizers.last_differing_id": -1.0,
    "target.tokenizer.add_bos": False,
    "drafter.tokenizer.add_bos": False,
    "target.tokenizer.add_eos": False,
    "drafter.tokenizer.add_eos": False,
    "target.tokenizer.bos_id": 1.0,
    "drafter.tokenizer.bos_id": 1.0,
    "target.tokenizer.eos_id": 2.0,
    "drafter.tokenizer.eos_id": 2.0,
}


@cache
def _catalog() -> Catalog:
    return Catalog.load(environ={})


def _engine() -> Engine:
    return _catalog().engine("ik-llama.cpp").model


def _read(text: str, name: str = "server.log") -> Reading:
    return read_text(source_from_bytes(name, text.encode()), _engine())


@pytest.mark.parametrize(
    ("change", "translated"),
    [
        ({}, False),
        ({"drafter.tokenizer.size": 152064.0}, False),
        ({"drafter.tokenizer.size": 152065.0}, True),
        ({"tokenizers.last_differing_id": 4.0}, False),
        ({"tokenizers.last_differing_id": 5.0}, True),
        ({"drafter.tokenizer.add_bos": True}, True),
        ({"drafter.tokenizer.bos_id": 11.0}, True),
        ({"drafter.tokenizer.eos_id": 11.0}, True),
        ({"engine.method": "mtp", "tokenizers.last_differing_id": 5.0}, False),
    ],
)
def test_a_pair_that_differs_is_accepted_and_translated(change: dict[str, object], translated: bool) -> None:
    values = {**SAME, **change}
    issue = next(item for item in _engine().known_issues if item.id == "vocabulary-translated")
    assert issue.condition is not None
    assert holds(issue.condition, _catalog().symbols, values) is translated
    (gate,) = _engine().tokenizer_gates
    assert gate.methods == ("draft",)
    assert all(holds(check.accepts, _catalog().symbols, values) for check in gate.checks)


def test_the_gate_is_unknown_until_the_headers_are_read() -> None:
    ((check,),) = (gate.checks for gate in _engine().tokenizer_gates)
    assert holds(check.accepts, _catalog().symbols, {"target.tokenizer.size": 151936.0}) is None


def test_one_option_carries_all_settings() -> None:
    methods = {method.id: method for method in _engine().methods}
    assert {method.draft_length_flag for name, method in methods.items() if name != "eagle3"} == {"--spec-type"}
    assert methods["draft"].switch_on == ("--spec-type draft:n_max={draft_length}", "-md {drafter}")
    assert methods["mtp"].switch_on == ("--spec-type mtp:n_max={draft_length}",)
    assert methods["eagle3"].known == "unverified"
    assert methods["draft"].draft_device == "routable"
    assert methods["suffix"].drafter_class == "suffix"
    removed = {name for flag in _engine().removed_flags for name in (flag.name, *flag.aliases)}
    assert {"--draft-max", "--draft", "--draft-p-min", "-mtp", "--spec-ngram-size-n"} <= removed
    assert not {"--spec-draft-n-max", "--draft-max"} & {flag.name for flag in _engine().flags}


@pytest.mark.parametrize(("version", "applies"), [("2026.4.30", True), ("2026.5.1", True), ("2026.5.2", False)])
def test_versions_are_days(version: str, applies: bool) -> None:
    issue = next(item for item in _engine().known_issues if item.id == "mtp-stale-states")
    assert in_range(version, issue.since, issue.until, _engine().version.scheme) is applies


def test_passes_and_rounds_of_a_request() -> None:
    log = (
        REQUEST
        + "draft acceptance rate = 0.60000 (   60 accepted /   100 generated)\n"
        + "statistics draft: #calls = 40, #gen drafts = 40, #acc drafts = 30, #gen tokens = 100, #acc tokens = 60, "
        + "dur(b,g,a) = 0.1, 2000.0, 0.1 ms\n"
    )
    facts = _read(log).facts
    assert facts.number("rate_tok_s") == 10
    assert facts.number("target_passes") == facts.number("rounds") == 40
    assert facts.number("tokens_per_round") == 2.5
    assert facts.number("accepted_ratio") == 0.6
    assert (facts.number("round_ms"), facts.number("draft_ms"), facts.number("pass_ms")) == (250, 50, 200)


def test_statistics_of_other_requests_do_not_count_for_the_log() -> None:
    log = (
        REQUEST
        + "draft acceptance rate = 0.60000 (   60 accepted /   100 generated)\n"
        + "statistics draft: #calls = 80, #gen drafts = 80, #acc drafts = 60, #gen tokens = 200, #acc tokens = 120\n"
    )
    facts = _read(log).facts
    assert "tokens_per_round" not in facts
    assert facts.number("target_passes") == 40
    assert facts.value("drafting") is True


def test_no_acceptance_line_means_that_nothing_was_drafted() -> None:
    facts = _read(REQUEST).facts
    assert facts.value("drafting") is False
    assert facts.number("target_passes") == 100


def test_translation_is_stated_and_is_no_refusal() -> None:
    log = "the target and draft vocabs are not compatible - tokens will be translated between the two\n"
    facts = {name: fact.value for name, fact in _read(log).facts.items()}
    assert facts == {"translated": True}


def test_timings_with_n_past_are_the_forks() -> None:
    timings = {"predicted_n": 101, "predicted_ms": 10000.0, "n_past": 196, "draft_n": 100, "draft_n_accepted": 60}
    facts = _read(json.dumps({"timings": timings}), "answer.json").facts
    assert facts.number("rate_tok_s") == 10
    assert facts.number("target_passes") == 40


def test_a_log_that_both_could_have_written_is_llama_cpps() -> None:
    engines = [_catalog().engine(name).model for name in _catalog().engine_ids]
    log = "slot print_timing: id  0 | task 0 | \n" + REQUEST
    assert detect(source_from_bytes("server.log", log.encode()), engines).reader.engine.id == "llama.cpp"
