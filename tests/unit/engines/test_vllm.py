"""vLLM as data: methods, the size-only tokenizer gate, flags, refusals, and what cannot go together."""

from __future__ import annotations

import json
import re
from functools import cache

import pytest

from specrules.catalog.catalogue import Catalog
from specrules.derive.conditions import holds, tokenizer_gate
from specrules.model.engine import Engine, Method
from specrules.model.version import in_range

YIELDS = {
    "off.rate_tok_s",
    "target.step_ms",
    "target.verify_curve",
    "drafter.step_ms",
    "candidate.rate_tok_s",
    "candidate.tokens_per_round",
    "candidate.round_ms",
    "acceptance",
    "candidate.synthetic_zero",
    "tokenizers",
    "incumbent.rate_tok_s",
    "incumbent.tokens_per_round",
}


@cache
def _catalog() -> Catalog:
    return Catalog.load(environ={})


def _engine() -> Engine:
    return _catalog().engine("vllm").model


@cache
def _methods() -> dict[str, Method]:
    return {method.id: method for method in _engine().methods}


def test_methods_and_their_classes() -> None:
    current = {name: method.drafter_class for name, method in _methods().items() if not method.removed}
    assert current == {
        "draft_model": "model",
        "ngram": "ngram",
        "ngram_gpu": "ngram",
        "suffix": "suffix",
        "eagle": "eagle-head",
        "eagle3": "eagle-head",
        "mtp": "mtp-head",
        "dflash": "block",
        "dspark": "block",
    }
    removed = {name: method.until for name, method in _methods().items() if method.removed}
    assert removed == {"medusa": "0.32.0", "mlp_speculator": "0.32.0"}


def test_the_names_that_stand_for_mtp() -> None:
    aliases = _methods()["mtp"].aliases
    assert len(aliases) == len(set(aliases)) == 27
    assert all(name.endswith("_mtp") for name in aliases)
    assert {"deepseek_mtp", "qwen3_next_mtp", "glm4_moe_mtp", "gemma4_mtp"} <= set(aliases)
    assert _methods()["ngram"].aliases == ("[ngram]",)
    (spec_method,) = [flag for flag in _engine().flags if flag.name == "--spec-method"]
    assert len(spec_method.values) == 9 + 2 + 1 + 27


def test_rounds() -> None:
    for name, method in _methods().items():
        assert method.round.catch_up == "none"
        assert method.round.position_zero == "draft"
        assert method.removed or method.lossless is True
        assert method.removed or method.max_draft_length == 128
        overlaps = {"draft_model", "ngram_gpu", "eagle", "eagle3", "mtp", "dflash", "dspark"}
        assert method.round.order == ("cpu-overlap" if name in overlaps else "serial")
        assert method.draft_device == ("none" if method.drafter_class in {"ngram", "suffix"} else "same-device")


@pytest.mark.parametrize("name", [name for name in _methods() if not _methods()[name].removed])
def test_settings_are_a_valid_configuration(name: str) -> None:
    """What stands between the quotes is the JSON that the server takes, with every placeholder filled in."""
    method = _methods()[name]
    (text,) = method.switch_on
    flag, value = text.split(" ", 1)
    assert flag == method.draft_length_flag == "--speculative-config"
    filled = value.strip("'").replace("{drafter}", "org/drafter").replace("{draft_length}", "3")
    config = json.loads(filled)
    assert config["method"] == name
    assert config["num_speculative_tokens"] == 3
    needs_model = name in {"draft_model", "eagle", "eagle3", "dflash", "dspark"}
    assert config.get("model") == ("org/drafter" if needs_model else None)


@pytest.mark.parametrize(
    ("target", "drafter", "differing", "failed"),
    [
        (49152.0, 49152.0, -1.0, []),
        (49152.0, 49280.0, -1.0, [("size", "dies-at-load")]),
        (151936.0, 152064.0, -1.0, [("size", "dies-at-load")]),
        (32000.0, 32000.0, 31999.0, [("texts", "accepted-though-wrong")]),
        (32000.0, 32000.0, 0.0, [("texts", "accepted-though-wrong")]),
    ],
)
def test_only_the_size_refuses(target: float, drafter: float, differing: float, failed: list[tuple[str, str]]) -> None:
    gate = tokenizer_gate(_engine(), _methods()["draft_model"])
    assert gate is not None
    values = {
        "target.tokenizer.size": target,
        "drafter.tokenizer.size": drafter,
        "tokenizers.last_differing_id": differing,
    }
    answers = {check: holds(check.accepts, _catalog().symbols, values) for check in gate.checks}
    assert [(check.id, check.otherwise) for check, accepted in answers.items() if accepted is False] == failed
    assert all(tokenizer_gate(_engine(), _methods()[name]) is None for name in ("eagle3", "mtp", "dspark", "ngram"))


def test_a_size_that_is_not_known_is_not_accepted() -> None:
    gate = tokenizer_gate(_engine(), _methods()["draft_model"])
    assert gate is not None
    assert [holds(check.accepts, _catalog().symbols, {}) for check in gate.checks] == [None, None]


def test_the_drafter_has_no_device_of_its_own() -> None:
    routing = _engine().devices.draft_routing
    assert routing.possible is False
    assert routing.flag is None
    (pair,) = _engine().combinations
    assert (pair.methods, pair.status) == (("*", "*"), "refused")


def test_flag_defaults_and_removed_flags() -> None:
    defaults = {flag.name.removeprefix("--speculative-config."): flag.default for flag in _engine().flags}
    assert defaults["rejection_sample_method"] == "standard"
    assert defaults["prompt_lookup_max"] == defaults["prompt_lookup_min"] == "5"
    assert defaults["suffix_decoding_max_tree_depth"] == "24"
    assert defaults["suffix_decoding_max_cached_requests"] == "10000"
    assert defaults["suffix_decoding_max_spec_factor"] == "1.0"
    assert defaults["VLLM_LOG_STATS_INTERVAL"] == "10.0"
    assert defaults["use_heterogeneous_vocab"] == "false"
    removed = {flag.name: flag.replaced_by for flag in _engine().removed_flags}
    assert removed["--speculative-model"] == removed["--num-speculative-tokens"] == ("--speculative-config",)


def test_refusals_with_their_texts() -> None:
    refusals = {item.id: item for item in _engine().start_refusals}
    assert len(refusals) == len(_engine().start_refusals) > 50
    assert refusals["vocabulary-size"].effect == "exits"
    assert refusals["draft-model-unsupported"].methods == ("draft_model",)
    effects = {name: item.effect for name, item in refusals.items() if item.effect != "exits"}
    assert effects == {
        "dotted-keys-replace": "setting-ignored",
        "mtp-same-layer": "warning",
        "mtp-alias": "warning",
        "runner-falls-back": "setting-changed",
        "runner-needs-triton": "setting-changed",
        "async-off": "setting-changed",
        "budget-shrinks": "warning",
        "sequences-shrink": "setting-changed",
        "context-shrinks": "setting-changed",
        "dynamic-k-off": "setting-ignored",
        "min-p-warning": "warning",
        "fly-lossy": "warning",
    }
    (sampling, dead) = _engine().request_refusals
    assert (sampling.status, dead.status) == (400, 500)
    assert "min_p and logit_bias" in sampling.text


def test_features_and_limits() -> None:
    status = {(item.feature, item.methods): item.status for item in _engine().features}
    assert status["async-scheduling", ("ngram", "suffix")] == "silently-off"
    assert status["custom-logits-processors", ()] == "dies-at-load"
    assert status["lora", ()] == status["guided-decoding", ()] == status["tensor-parallel", ()] == "works"
    limited = {"draft-length", "running-requests", "context", "batched-tokens", "graphs", "drafting"}
    assert {item.of for item in _engine().limits} == limited
    assert [item.needs_drafter for item in _engine().synthetic_acceptance] == [True, False]


def test_draft_models_were_gone_for_a_while() -> None:
    (issue,) = [item for item in _engine().known_issues if item.id == "draft-models-missing"]
    told = {version: in_range(version, issue.since, issue.until, "dotted") for version in ("0.9.2", "0.10.0", "0.13.0")}
    assert told == {"0.9.2": False, "0.10.0": True, "0.13.0": True}
    assert in_range("0.33.0", issue.since, issue.until, "dotted") is False


def test_recipes_yield_what_part_e_asks_for() -> None:
    current = {name for name, method in _methods().items() if not method.removed}
    recipes = _engine().recipes
    assert {fact for recipe in recipes for fact in recipe.yields} == YIELDS
    for recipe in recipes:
        assert set(recipe.methods) <= current
        holes = set(re.findall(r"\{(\w+)\}", recipe.command))
        assert holes <= {"target", "drafter", "draft_length", "method", "url"}
        if "{drafter}" in recipe.command:
            assert recipe.needs_drafter or recipe.id == "tokenizer-files"
            assert {"mtp", "ngram", "suffix"}.isdisjoint(recipe.methods)
    covered = {name for recipe in recipes if "acceptance" in recipe.yields for name in recipe.methods}
    assert covered == current
