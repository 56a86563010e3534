"""Every name of rules/inputs.yaml has somebody who gives it a value, and nobody gives one to another name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import product
from typing import Any, get_args

import pytest

from specrules.derive.values import EvidenceState, Values, input_values
from specrules.expressions import Type
from specrules.model.case import Arm, Case

from .build import case, catalog, facts, given

NOW = datetime(2026, 11, 29, tzinfo=UTC)
EVERYTHING: dict[str, Any] = {
    "target": {
        "checkpoint": "c",
        "kind": "dense",
        "device": "CUDA0",
        "step_ms": 40,
        "step_is": "plain",
        "memory_gib": 20,
        "tokenizer": {"family": "f", "pre": "p", "size": 1, "add_bos": True, "bos_id": 1, "add_eos": True, "eos_id": 2},
    },
    "drafter": {
        "step_ms": 2,
        "catch_up_ms": 3,
        "device": "CUDA0",
        "trained_for": "c",
        "memory_gib": 2,
        "coverage": 0.5,
        "tokenizer": {"family": "f", "pre": "p", "size": 1, "add_bos": True, "bos_id": 1, "add_eos": True, "eos_id": 2},
        "tokenizer_pair": {"last_differing_id": -1, "merges_equal": True},
    },
    "engine": {"methods": ["draft-simple"]},
    "workload": {
        "concurrency": 1,
        "new_prompt_tokens": 1,
        "output_tokens": 1,
        "context_tokens": 1,
        "temperature": 0.0,
        "task": "t",
    },
    "incumbent": {
        "drafting": False,
        "rate_tok_s": 25,
        "rate_kind": "decode",
        "method": "m",
        "draft_length": 1,
        "tokens_per_round": 1,
        "round_ms": 1,
        "head_share": 0.1,
    },
    "measurements": {
        "off": {"rate_tok_s": 20, "rate_kind": "decode"},
        "candidate": {
            "draft_length": 3,
            "rate_tok_s": 30,
            "rate_kind": "decode",
            "tokens_per_round": 2,
            "drafting": True,
        },
        "restore_ms": 1,
        "synthetic_zero_tok_s": 10,
    },
}


def values(one: Case) -> Values:
    return input_values(given(one), EvidenceState(), NOW)[0]


@pytest.fixture(scope="module")
def computed() -> set[str]:
    situation = given(case(**EVERYTHING))
    nothing = replace(situation.knowledge, inputs=())
    found = input_values(replace(situation, knowledge=nothing), EvidenceState(), NOW)[0]
    return {name for name in found if not name.startswith("policy.")}


def read_by_engines() -> Iterator[str]:
    for name, arm in product(catalog().engine_ids, get_args(Arm)):
        for reader in catalog().engine(name).model.readers:
            yield from (rule.fact if rule.absolute else f"{arm}.{rule.fact}" for rule in reader.facts)


def test_every_one_is_computed_or_stated_or_read(computed: set[str]) -> None:
    declared = {item.name for item in catalog().inputs.inputs}
    stated = set(facts(case(**EVERYTHING)))
    assert declared - computed - stated - set(read_by_engines()) == set()


def test_what_is_computed_is_declared(computed: set[str]) -> None:
    assert computed <= {item.name for item in catalog().inputs.inputs}


def test_what_only_evidence_can_say_is_read_by_some_engine(computed: set[str]) -> None:
    declared = {item.name for item in catalog().inputs.inputs}
    only_read = declared - computed - set(facts(case(**EVERYTHING)))
    assert only_read == {"candidate.refusal", "candidate.load_error"}
    assert only_read <= set(read_by_engines())


def test_every_value_is_of_its_declared_type() -> None:
    kinds = {Type.NUMBER: float, Type.BOOL: bool, Type.STRING: str, Type.NUMBERS: tuple, Type.STRINGS: tuple}
    for found in (values(case(**EVERYTHING)), values(case())):
        for name, value in found.items():
            assert value is None or type(value) is kinds[catalog().symbols[name]], name


def test_a_case_that_says_nothing_leaves_everything_open_that_it_could_say() -> None:
    known = {name for name, value in values(case()).items() if value is not None and not name.startswith("policy.")}
    assert known == {
        "drafter.kind",
        "drafter.target_specific",
        "drafter.needs_tokenizer_match",
        "drafter.needs_weights",
        "drafter.covers_every_round",
        "engine.id",
        "engine.version_number",
        "engine.method",
        "engine.attaches",
        "engine.attach_note",
        "engine.method_in_version",
        "engine.routes_drafter",
        "engine.routing_note",
        "engine.backends_coexist",
        "engine.backends_note",
        "engine.combination_loads",
        "engine.combination_note",
        "engine.flags_note",
        "engine.ignores_drafter_device",
        "engine.drafts_despite_mismatch",
        "engine.checks_tokenizer",
        "engine.tokenizer_note",
        "engine.restores_hybrid",
        "engine.lossless",
        "engine.lossless_note",
        "engine.matching_issues",
        "engine.fatal_issues",
        "engine.methods",
        "candidate.measured",
        "candidate.died_at_load",
        "candidate.step_comparable",
        "evidence.disagreements",
        "evidence.contradictions",
        "evidence.unread_lines",
        # Whether something is stated or counted at all is never unknown.
        "incumbent.step_comparable",
        "incumbent.commit_counted",
        "incumbent.untrusted",
        "candidate.untrusted",
        "candidate.pass_comparable",
        "curve.step_comparable",
        "acceptance.prompts_stated",
        "evidence.rounds_counted",
        "evidence.round_timed",
        "evidence.mixed_runs",
        "scope.concurrency_stated",
        "scope.context_stated",
        "scope.temperature_stated",
        "scope.unstated",
    }
