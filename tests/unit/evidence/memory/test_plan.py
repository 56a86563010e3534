from __future__ import annotations

import pytest

from specrules.evidence.memory.keys import CannotSizeError, Keys
from specrules.evidence.memory.plan import Plan, full_rows, plan, unlisted_keys
from tests.unit.evidence.memory import shapes
from tests.unit.evidence.memory.gguf_file import Value
from tests.unit.evidence.memory.support import header, of_shape, rules

PLAIN: dict[str, Value] = {
    "block_count": 12,
    "embedding_length": 512,
    "attention.head_count": 8,
    "attention.head_count_kv": 2,
    "context_length": 4096,
}
SSM: dict[str, Value] = {"ssm.conv_kernel": 4, "ssm.inner_size": 100, "ssm.state_size": 16, "ssm.group_count": 1}


def planned(architecture: str, **changes: Value) -> Plan:
    named = {key.replace("__", "."): value for key, value in changes.items()}
    return plan(header(architecture, PLAIN | named), rules())


def windowed(found: Plan) -> list[int]:
    return [cache.layer for cache in found.trunk if cache.window is not None]


def refused(architecture: str, **changes: Value) -> str:
    with pytest.raises(CannotSizeError) as caught:
        planned(architecture, **changes)
    return str(caught.value)


def test_a_plain_layer_stores_keys_and_values_of_its_kv_heads() -> None:
    found = planned("llama")
    assert {(cache.key_width, cache.value_width) for cache in found.trunk} == {(128, 128)}
    assert len(found.trunk) == 12
    assert found.states == ()


def test_the_head_size_comes_from_its_own_key_where_there_is_one() -> None:
    found = planned("llama", attention__key_length=100, attention__value_length=50)
    assert (found.trunk[0].key_width, found.trunk[0].value_width) == (200, 100)


def test_without_kv_heads_every_head_has_keys() -> None:
    keys = {key: value for key, value in PLAIN.items() if key != "attention.head_count_kv"}
    assert plan(header("llama", keys), rules()).trunk[0].key_width == 512


def test_kv_heads_may_differ_by_layer_and_be_none() -> None:
    found = planned("deci", block_count=3, attention__head_count=[8, 8, 8], attention__head_count_kv=[4, 0, 1])
    assert [(cache.layer, cache.key_width) for cache in found.trunk] == [(0, 256), (2, 64)]


def test_gemma3_sees_everything_in_every_sixth_layer() -> None:
    assert windowed(planned("gemma3", attention__sliding_window=512)) == [0, 1, 2, 3, 4, 6, 7, 8, 9, 10]
    assert windowed(planned("gemma3")) == []


@pytest.mark.parametrize(
    ("architecture", "full"),
    [
        ("gemma2", [1, 3, 5, 7, 9, 11]),
        ("gpt-oss", [1, 3, 5, 7, 9, 11]),
        ("cohere2", [3, 7, 11]),
        ("cohere2moe", [0, 4, 8]),
        ("smallthinker", [0, 4, 8]),
        ("llama4", [3, 7, 11]),
        ("plamo3", [7]),
        ("phi3", list(range(12))),
        ("exaone4", list(range(12))),
    ],
)
def test_the_pattern_that_the_engine_holds_for_an_architecture(architecture: str, full: list[int]) -> None:
    found = windowed(planned(architecture, attention__sliding_window=512))
    assert [layer for layer in range(12) if layer not in found] == full


def test_exaone4_has_windows_at_64_layers_only() -> None:
    assert len(windowed(planned("exaone4", block_count=64))) == 48


def test_the_file_states_the_pattern_as_a_period_or_as_a_list() -> None:
    pattern = "attention__sliding_window_pattern"
    assert windowed(planned("gemma3", attention__sliding_window=512, **{pattern: 3})) == [0, 1, 3, 4, 6, 7, 9, 10]
    listed = planned("gemma3", attention__sliding_window=512, **{pattern: [1, 0, 1]})
    assert windowed(listed) == [0, 2]
    every = planned("gemma3", attention__sliding_window=512, **{pattern: 0})
    assert windowed(every) == list(range(12))


@pytest.mark.parametrize(
    ("architecture", "said", "expected"),
    [("gemma2", None, 4096), ("gemma2", 512, 512), ("smallthinker", 512, 4096), ("llama4", None, 8192)],
)
def test_the_size_of_a_window(architecture: str, said: int | None, expected: int) -> None:
    changes: dict[str, Value] = {} if said is None else {"attention__sliding_window": said}
    found = planned(architecture, **changes)
    assert {cache.window for cache in found.trunk if cache.window is not None} == {expected}


def test_llama4_without_chunks_says_zero() -> None:
    assert windowed(planned("llama4", attention__sliding_window=0)) == []


def test_a_window_without_size_or_pattern_is_not_guessed() -> None:
    assert refused("gpt-oss") == "the header lacks gpt-oss.attention.sliding_window"
    said = refused("mimo2", attention__sliding_window=128)
    assert said == "the header lacks the list mimo2.attention.sliding_window_pattern"


def test_windowed_layers_have_head_sizes_of_their_own() -> None:
    found = plan(of_shape(shapes.gemma4(shared=0)), rules())
    assert {cache.key_width for cache in found.trunk if cache.window is not None} == {4 * 256}
    assert {cache.key_width for cache in found.trunk if cache.window is None} == {2 * 512}


def test_layers_that_share_rows_store_none() -> None:
    assert [cache.layer for cache in plan(of_shape(shapes.gemma4(shared=6)), rules()).trunk] == [0, 1, 2, 3, 4, 5]
    assert "share their rows" in refused(
        "gemma4",
        attention__shared_kv_layers=13,
        attention__sliding_window=8,
        attention__sliding_window_pattern=[1] * 12,
    )


def test_gemma3n_stores_rows_in_twenty_layers() -> None:
    assert len(planned("gemma3n", block_count=35, attention__sliding_window=512).trunk) == 20


def test_latent_attention_stores_no_values() -> None:
    found = plan(of_shape(shapes.deepseek_v2_lite()), rules())
    assert {(cache.key_width, cache.value_width) for cache in found.trunk} == {(576, 0)}
    plain = planned("deepseek2")
    assert {cache.value_width for cache in plain.trunk} == {128}


def test_recurrent_layers_have_a_state_and_no_rows() -> None:
    found = plan(of_shape(shapes.qwen35()), rules())
    assert [cache.layer for cache in found.trunk] == list(range(3, 64, 4))
    assert len(found.states) == 48
    # (4 - 1) (6144 + 2 * 16 * 128) + 128 * 6144
    assert {state.elements for state in found.states} == {817152}
    assert found.snapshots


def test_the_engine_keeps_no_snapshots_for_qwen3next() -> None:
    found = planned("qwen3next", **{key.replace(".", "__"): value for key, value in SSM.items()})
    assert [state.layer for state in found.states] == [0, 1, 2, 4, 5, 6, 8, 9, 10]
    assert not found.snapshots


def test_prediction_layers_have_no_state() -> None:
    keys = {key.replace(".", "__"): value for key, value in SSM.items()}
    found = planned("falcon-h1", block_count=3, nextn_predict_layers=1, **keys)
    assert [state.layer for state in found.states] == [0, 1]
    assert [cache.layer for cache in found.trunk] == [0, 1]


def test_an_indexer_that_some_layers_share() -> None:
    index: dict[str, Value] = {"attention__indexer__key_length": 128, "block_count": 3}
    every = planned("glm-dsa", **index)
    assert [cache.layer for cache in every.trunk if cache.key_width == 128 and not cache.value_width] == [0, 1, 2]
    some = planned("glm-dsa", attention__indexer__types=[1, 0, 1], **index)
    assert [cache.layer for cache in some.trunk if cache.key_width == 128 and not cache.value_width] == [0, 2]
    assert len(planned("glm-dsa", context_length=1048575, **index).trunk) == 6
    reason = "the header does not say which layers have an indexer of their own"
    assert refused("glm-dsa", context_length=1048576, **index) == reason


def test_layers_without_kv_heads_are_recurrent_in_jamba() -> None:
    keys = {key.replace(".", "__"): value for key, value in SSM.items()}
    found = planned("jamba", block_count=3, attention__head_count_kv=[0, 2, 0], **keys)
    assert [state.layer for state in found.states] == [0, 2]
    assert [cache.layer for cache in found.trunk] == [1]
    # Jamba has no groups: 3 * 100 + 16 * 100, whatever the file says of groups.
    assert {state.elements for state in found.states} == {1900}


def test_a_state_whose_keys_are_missing_names_them() -> None:
    assert refused("mamba", ssm__inner_size=100, ssm__state_size=16) == "the header lacks mamba.ssm.conv_kernel"


def test_prediction_layers_have_rows_only_where_they_draft() -> None:
    found = plan(of_shape(shapes.qwen35(heads_layers=1)), rules())
    assert (found.layers, found.all_layers) == (64, 65)
    assert max(cache.layer for cache in found.trunk) == 63
    assert [(cache.layer, cache.key_width) for cache in found.heads] == [(64, 1024)]


def test_models_that_keep_nothing() -> None:
    assert planned("dream").trunk == ()
    assert planned("gemma4-assistant").uses_target_cache


def test_loops_repeat_the_layers() -> None:
    assert len(planned("nanbeige", num_loops=2, attention__head_count=8).trunk) == 24


def test_an_architecture_that_nobody_described() -> None:
    assert refused("novel") == "nobody has described what 'novel' models keep in memory"


def test_a_key_that_changes_everything() -> None:
    assert "with hyper_connection.count" in refused("dflash", hyper_connection__count=4)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"block_count": 100000}, "no model has 100000 layers"),
        ({"block_count": 0}, "no model has 0 layers"),
        ({"nextn_predict_layers": 13}, "12 layers of which 13 predict ahead"),
        ({"attention.head_count_kv": [1, 2]}, "attention.head_count_kv has 2 entries for 12 layers"),
        ({"attention.key_length": "wide"}, "attention.key_length is no count: 'wide'"),
        ({"attention.key_length": 1.5}, "attention.key_length is no count: 1.5"),
        ({"attention.head_count": [-1] * 12}, "attention.head_count is no count: -1"),
        ({"block_count": []}, "the list block_count is empty"),
    ],
)
def test_a_header_that_makes_no_sense_is_not_sized(changes: dict[str, Value], reason: str) -> None:
    with pytest.raises(CannotSizeError) as caught:
        plan(header("llama", PLAIN | changes), rules())
    assert reason in str(caught.value)


def test_a_header_without_an_architecture() -> None:
    found = header("llama", PLAIN)
    nameless = type(found)(**{**vars(found), "values": {}})
    with pytest.raises(CannotSizeError, match="does not name its architecture"):
        plan(nameless, rules())


def test_plain_attention_bounds_a_model_with_nothing_but_plain_keys() -> None:
    keys = Keys(header("novel", PLAIN))
    assert unlisted_keys(keys, rules()) == ()
    assert sum(cache.key_width + cache.value_width for cache in full_rows(keys)) == 12 * 256


def test_a_key_that_is_not_known_to_be_harmless_is_named() -> None:
    keys = Keys(header("novel", PLAIN | {"ssm.state_size": 16, "rope.freq_base": 10000.0}))
    assert unlisted_keys(keys, rules()) == ("ssm.state_size",)
