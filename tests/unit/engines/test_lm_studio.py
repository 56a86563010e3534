"""LM Studio: two runtimes with two tokenizer checks, draft counts in responses, and no count of rounds."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

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
    return _catalog().engine("lm-studio").model


def _read(document: dict[str, Any]) -> Reading:
    return read_text(source_from_bytes("response.json", json.dumps(document).encode()), _engine())


@pytest.mark.parametrize(
    ("backends", "target", "drafter", "differing", "refused"),
    [
        (("MLX",), 151936.0, 151936.0, -1.0, []),
        (("MLX",), 151936.0, 151937.0, -1.0, ["size-mlx"]),
        (("MLX",), 151936.0, 151936.0, 3.0, ["texts-mlx"]),
        (("CUDA",), 151936.0, 152064.0, -1.0, []),
        (("CUDA",), 151936.0, 152065.0, -1.0, ["size-llama-cpp"]),
        (("CUDA",), 151936.0, 151936.0, 4.0, []),
        (("CUDA",), 151936.0, 151936.0, 5.0, ["texts-llama-cpp"]),
    ],
)
def test_each_runtime_has_its_own_check(
    backends: tuple[str, ...], target: float, drafter: float, differing: float, refused: list[str]
) -> None:
    (gate,) = _engine().tokenizer_gates
    values = {
        "engine.backends": backends,
        "target.tokenizer.size": target,
        "drafter.tokenizer.size": drafter,
        "tokenizers.last_differing_id": differing,
    }
    answers = {check.id: holds(check.accepts, _catalog().symbols, values) for check in gate.checks}
    assert [name for name, accepted in answers.items() if not accepted] == refused
    assert {check.id: check.otherwise for check in gate.checks} == {
        "size-mlx": "refused-loudly",
        "size-llama-cpp": "refused-silently",
        "texts-llama-cpp": "refused-silently",
        "texts-mlx": "accepted-though-wrong",
    }


def test_an_unnamed_runtime_decides_only_where_both_agree() -> None:
    (gate,) = _engine().tokenizer_gates
    same = {
        "target.tokenizer.size": 151936.0,
        "drafter.tokenizer.size": 151936.0,
        "tokenizers.last_differing_id": -1.0,
    }
    assert all(holds(check.accepts, _catalog().symbols, same) for check in gate.checks)
    padded = same | {"drafter.tokenizer.size": 152064.0}
    answers = [holds(check.accepts, _catalog().symbols, padded) for check in gate.checks]
    assert answers == [None, True, True, True]


def test_draft_counts_of_a_response() -> None:
    document = {
        "usage": {"completion_tokens": 101},
        "stats": {
            "generation_time": 2.0,
            "total_draft_tokens_count": 90,
            "accepted_draft_tokens_count": 41,
            "rejected_draft_tokens_count": 39,
            "ignored_draft_tokens_count": 10,
        },
    }
    facts = {name: fact.value for name, fact in _read(document).facts.items()}
    assert facts == {
        "drafting": True,
        "requests": 1.0,
        "tokens": 101.0,
        "drafted": 80.0,
        "accepted": 41.0,
        "accepted_ratio": 41 / 80,
        "decode_ms": 2000.0,
        "rate_tok_s": 50.0,
        "rate_kind": "decode",
    }
    assert _read(document).contradictions == ()


def test_counts_that_do_not_add_up_are_a_contradiction() -> None:
    stats = {"total_draft_tokens_count": 90, "accepted_draft_tokens_count": 41, "rejected_draft_tokens_count": 39}
    (problem,) = _read({"usage": {"completion_tokens": 101}, "stats": stats}).contradictions
    assert problem.message == "90 drafted tokens are not 41 accepted, 39 rejected and 0 ignored"


def test_a_response_of_v1_says_neither_drafting_nor_a_rate() -> None:
    reading = _read({"stats": {"total_output_tokens": 218, "tokens_per_second": 41.1, "input_tokens": 359}})
    assert reading.reader_id == "v1-chat"
    assert {name: fact.value for name, fact in reading.facts.items()} == {"requests": 1.0, "tokens": 218.0}


def test_names_of_the_sdk_mean_the_methods() -> None:
    names = {alias: method.id for method in _engine().methods for alias in method.aliases}
    assert names["draft_model"] == names["draftsimple"] == "draft-simple"
    assert names["draftmtp"] == "draft-mtp"
    texts = {refusal.id: refusal.text for refusal in _engine().start_refusals}
    assert texts["batched-mlx"] == (
        "SpeculativeDecodingNotSupportedError: Speculative decoding is not supported for batched MLX models."
    )
    assert texts["mlx-vocabulary"] == "Draft model is not compatible with main model"
    assert texts["gguf-refused"] == ""


def test_drafting_with_mlx_needs_one_request_at_a_time() -> None:
    fatal = {issue.id: issue.condition or "" for issue in _engine().known_issues if issue.fatal}
    assert set(fatal) == {"batched-mlx", "batched-mlx-without-a-way-out"}
    cases = {("MLX", 2.0): True, ("MLX", 1.0): False, ("CUDA", 2.0): False}
    for (backend, streams), applies in cases.items():
        values = {"engine.backends": (backend,), "workload.concurrency": streams}
        assert holds(fatal["batched-mlx"], _catalog().symbols, values) is applies
