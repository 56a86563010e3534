from __future__ import annotations

from dataclasses import replace

import pytest

from specrules.errors import EvidenceError, UsageError
from specrules.evidence.devices import Device, declared
from specrules.evidence.gguf import Header
from specrules.evidence.memory.fit import fit
from specrules.evidence.memory.judge import judge, worst
from specrules.evidence.memory.request import Request
from tests.unit.evidence.memory import shapes
from tests.unit.evidence.memory.gguf_file import F32, Value
from tests.unit.evidence.memory.support import GIB, MIB, fitted, header, of_shape, on, part, rules

LLAMA = of_shape(shapes.llama(32, 4096, 14336, 32))
SMALL = of_shape(shapes.llama(16, 2048, 8192, 32))
QWEN = of_shape(shapes.qwen35(heads_layers=1))
NOVEL: dict[str, Value] = {
    "block_count": 2,
    "embedding_length": 512,
    "attention.head_count": 8,
    "feed_forward_length": 1024,
    "context_length": 4096,
}
TENSORS = [("token_embd.weight", (512, 1000), F32), ("blk.0.ffn_up.weight", (512, 1024), F32)]


@pytest.mark.parametrize(
    ("free", "low", "high", "state"),
    [
        (100, 80, 90, "fits"),
        (100, 80, 91, "unknown"),
        (100, 80, None, "unknown"),
        (100, 90, 101, "unknown"),
        (100, 91, 95, "no-headroom"),
        (100, 100, 300, "no-headroom"),
        (100, 101, None, "does-not-fit"),
    ],
)
def test_the_state_of_a_device_with_a_headroom_of_10(free: int, low: int, high: int | None, state: str) -> None:
    assert judge(free, low, high, 10) == state


def test_the_worst_device_decides() -> None:
    assert worst(["fits", "unknown"]) == "unknown"
    assert worst(["fits", "no-headroom", "unknown"]) == "no-headroom"
    assert worst(["does-not-fit", "no-headroom"]) == "does-not-fit"
    assert worst(["fits"]) == "fits"
    assert worst([]) == "unknown"


def test_a_target_alone_on_the_host() -> None:
    found = fitted(LLAMA, on=["CPU=8"], context=8192)
    assert found.state == "fits"
    assert found.drafter is None
    assert found.taken is None
    assert part(found, "CPU", "target", "weights") == (5172420608, 5172420608)
    assert part(found, "CPU", "target", "cache") == (1024 * MIB, 1024 * MIB)
    assert found.target.bytes_per_token == 131072


def test_loads_is_not_fits() -> None:
    needed = on(fitted(LLAMA, on=["CPU=8"], context=8192), "CPU").needed
    assert needed.high is not None
    tight = needed.high / GIB + 0.4
    found = fitted(LLAMA, on=[f"CPU={tight:.4f}"], context=8192)
    assert found.state in {"no-headroom", "unknown"}
    assert "0.50 GiB have to stay free" in found.reasons[0]
    assert fitted(LLAMA, on=[f"CPU={tight:.4f}"], context=8192, headroom=300 * MIB).state == "fits"


def test_what_the_weights_alone_exceed_does_not_fit() -> None:
    found = fitted(LLAMA, on=["CPU=4"], context=8192)
    assert found.state == "does-not-fit"
    assert found.reasons[0].startswith("CPU: 5.87 GiB to 6.11 GiB are needed of 4.00 GiB free")


def test_on_an_accelerator_the_input_stays_on_the_host() -> None:
    found = fitted(LLAMA, on=["CUDA0=16"], context=8192)
    embedding = 128256 * 4096 // 256 * 144
    assert part(found, "CPU", "target", "weights") == (embedding, embedding)
    assert part(found, "CUDA0", "target", "weights")[0] == 5172420608 - embedding
    assert on(found, "CPU").state is None
    assert found.state == "fits"
    assert "The embedding of the input stays in host memory." in found.notes


def test_tied_embeddings_are_copied_to_the_accelerator() -> None:
    found = fitted(of_shape(shapes.gemma3()), on=["CUDA0=40", "CPU=8"], context=8192)
    embedding = 262144 * 5376 // 256 * 210
    total = 17584421888
    assert part(found, "CUDA0", "target", "weights")[0] == total
    assert part(found, "CPU", "target", "weights")[0] == embedding
    alone = fitted(of_shape(shapes.gemma3()), on=["CPU=40"], context=8192)
    assert part(alone, "CPU", "target", "weights")[0] == total


def test_a_unified_device_holds_the_input_too_and_no_copy() -> None:
    found = fitted(of_shape(shapes.gemma3()), on=["MTL0=40,unified"], context=8192)
    assert part(found, "MTL0", "target", "weights")[0] == 17584421888
    assert [device.name for device in found.devices] == ["MTL0"]


def test_what_two_devices_share_is_free_only_once() -> None:
    free = ["MTL0=7,unified", "CPU=7"]
    placed = {"target_devices": ("MTL0",), "drafter_devices": ("CPU",)}
    found = fitted(LLAMA, LLAMA, on=free, context=8192, **placed)
    assert found.state == "does-not-fit"
    assert on(found, "MTL0").state == "does-not-fit"
    assert "is free only once" in found.notes[-1]
    apart = fitted(
        LLAMA, LLAMA, on=["CUDA0=7.6", "CPU=7.6"], context=8192, target_devices=("CUDA0",), drafter_devices=("CPU",)
    )
    assert apart.state == "fits"


def test_layers_are_split_by_free_memory() -> None:
    found = fitted(LLAMA, on=["CUDA0=8", "CUDA1=24"], context=8192)
    shares = [part(found, name, "target", "cache")[0] for name in ("CUDA0", "CUDA1")]
    assert sum(shares) == 1024 * MIB
    # 33 places: a quarter of them are 9, and 24 with the output are left for the second device.
    assert shares[0] == 9 * 32 * MIB


def test_layers_are_split_evenly_where_one_device_does_not_say_what_is_free() -> None:
    devices = [Device("CUDA0", None, None, "somewhere"), Device("CUDA1", 24 * GIB, None, "somewhere")]
    found = fit(LLAMA, None, rules=rules(), request=Request(8192), devices=devices)
    # 33 places: half of them are 17 layers, and 15 with the output.
    assert part(found, "CUDA0", "target", "cache")[0] == 17 * 32 * MIB
    assert found.state == "fits"


def test_a_drafter_of_its_own_device_is_counted_there() -> None:
    found = fitted(
        LLAMA, SMALL, on=["CUDA0=12", "CUDA1=1"], context=8192, target_devices=("CUDA0",), drafter_devices=("CUDA1",)
    )
    assert part(found, "CUDA0", "drafter", "weights") == (0, 0)
    assert part(found, "CUDA1", "drafter", "cache")[0] == 256 * MIB
    assert on(found, "CUDA1").state == "does-not-fit"
    assert found.state == "does-not-fit"
    assert found.taken is not None
    assert found.taken.tokens is not None
    assert found.taken.tokens <= 16
    assert any("Nothing but this report counts it" in note for note in found.notes)


def test_a_drafter_follows_the_target_unless_told_otherwise() -> None:
    found = fitted(LLAMA, SMALL, on=["CUDA0=12", "CPU=64"], context=8192)
    assert found.drafter is not None
    assert found.drafter.devices == ("CUDA0",)
    assert found.drafter.drafter_class == "model"
    assert not any("Nothing but this report counts it" in note for note in found.notes)


def test_a_drafter_holds_as_many_cells_as_the_target_was_given() -> None:
    found = fitted(LLAMA, SMALL, on=["CPU=64"], context=65536, slots=3)
    assert found.settings.context == 3 * 22016
    assert part(found, "CPU", "drafter", "cache")[0] == 3 * 22016 * 32768


def test_the_draft_length_counts_in_output_rows_and_in_snapshots() -> None:
    short, long = (fitted(QWEN, on=["CPU=64"], context=8192, heads=True, draft_length=length) for length in (1, 5))
    rows = 4 * 151936 * 4
    assert part(long, "CPU", "target", "compute")[0] - part(short, "CPU", "target", "compute")[0] == rows
    assert part(long, "CPU", "drafter", "snapshots")[0] == 5 * part(short, "CPU", "drafter", "snapshots")[0]
    assert long.settings.draft_length == 5
    assert long.settings.draft_length_source == "stated"


def test_without_a_draft_length_the_engines_default_counts() -> None:
    found = fitted(QWEN, on=["CPU=64"], context=8192, heads=True)
    assert found.settings.draft_length == 3
    assert found.settings.draft_length_source == "the engine's default (source-b11434)"


def test_a_draft_model_gives_one_output_row_per_slot_and_a_block_drafter_all_of_a_block() -> None:
    keys: dict[str, Value] = {"block_count": 1, "embedding_length": 512, "attention.head_count": 8}
    block = header("dflash", keys, TENSORS)
    model = header("llama", keys, TENSORS)

    def buffers(drafter: Header, slots: int, length: int) -> int:
        found = fitted(LLAMA, drafter, on=["CPU=64"], context=8192 * slots, slots=slots, draft_length=length)
        return part(found, "CPU", "drafter", "compute")[0]

    row = 1000 * 4
    # 512 rows that see 8192 cells through a mask of 16 bits, and the declared one float per row and width.
    assert buffers(model, 1, 3) == 512 * 8192 * 2 + row + 512 * 512 * 4
    assert buffers(model, 2, 3) - buffers(model, 1, 3) == row
    assert buffers(block, 1, 3) - buffers(model, 1, 3) == 3 * row
    assert buffers(block, 2, 7) - buffers(block, 1, 7) == 8 * row


def test_what_is_left_counts_both_ends() -> None:
    device = on(fitted(LLAMA, on=["CPU=8"], context=8192), "CPU")
    assert device.needed.high is not None
    assert device.left_low == 8 * GIB - device.needed.high
    assert device.left_high == 8 * GIB - device.needed.low


def test_a_head_without_ends_of_its_own_is_named() -> None:
    borrowing = fitted(LLAMA, of_shape(shapes.eagle3(own_ends=False)), on=["CPU=64"], context=8192)
    assert borrowing.drafter is not None
    assert borrowing.drafter.drafter_class == "eagle-head"
    assert any("cannot measure a head that borrows" in note for note in borrowing.notes)
    own = fitted(LLAMA, of_shape(shapes.eagle3()), on=["CPU=64"], context=8192)
    assert not any("cannot measure a head that borrows" in note for note in own.notes)


def test_an_eagle_head_multiplies_the_states_of_its_target() -> None:
    found = fitted(QWEN, of_shape(shapes.eagle3()), on=["CPU=64"], context=8192, draft_length=2)
    assert part(found, "CPU", "drafter", "snapshots")[0] == 2 * part(found, "CPU", "target", "states")[0]


def test_a_whole_model_as_a_head_has_rows_in_its_prediction_layers_only() -> None:
    found = fitted(QWEN, QWEN, on=["CPU=64"], context=32768)
    assert found.drafter is not None
    assert found.drafter.drafter_class == "mtp-head"
    assert part(found, "CPU", "drafter", "cache")[0] == 128 * MIB
    assert part(found, "CPU", "drafter", "states") == (0, 0)
    assert part(found, "CPU", "drafter", "weights")[0] // MIB == 15784


def test_a_file_of_prediction_layers_alone_has_rows_in_all_of_them() -> None:
    keys: dict[str, Value] = NOVEL | {"nextn_predict_layers": 2, "attention.head_count_kv": 2}
    tensors = [*TENSORS, ("blk.0.nextn.eh_proj.weight", (64, 64), F32)]
    found = fitted(LLAMA, header("deepseek2", keys, tensors), on=["CPU=64"], context=8192)
    assert found.drafter is not None
    assert found.drafter.drafter_class == "mtp-head"
    assert part(found, "CPU", "drafter", "cache")[0] == 2 * 8192 * 2 * 128 * 2
    assert part(found, "CPU", "drafter", "weights")[0] == (512 * 1000 + 512 * 1024 + 64 * 64) * 4


def test_an_undescribed_architecture_of_plain_keys_lies_between_nothing_and_plain_attention() -> None:
    found = fitted(header("novel", NOVEL, TENSORS), on=["CPU=1"], context=4096)
    assert part(found, "CPU", "target", "cache") == (0, 4096 * 2 * 1024 * 2)
    assert found.target.unknown == "nobody has described what 'novel' models keep in memory"
    assert found.target.bytes_per_token is None
    assert found.state == "unknown"


def test_an_undescribed_architecture_with_unknown_keys_is_open_above() -> None:
    found = fitted(header("novel", NOVEL | {"memory.slots": 7}, TENSORS), on=["CPU=64"], context=4096)
    assert part(found, "CPU", "target", "cache") == (0, None)
    assert found.state == "unknown"
    assert found.reasons[0] == "novel.gguf: nobody has described what 'novel' models keep in memory"


def test_an_undescribed_architecture_can_be_too_large_for_sure() -> None:
    found = fitted(header("novel", NOVEL, TENSORS), on=["CPU=0.001"], context=4096)
    assert found.state == "does-not-fit"


def test_buffers_that_no_interval_covers_are_open() -> None:
    keys = NOVEL | {"attention.indexer.key_length": 128, "attention.key_length": 64, "attention.value_length": 64}
    found = fitted(header("deepseek32", keys, TENSORS), on=["CPU=64"], context=4096)
    assert part(found, "CPU", "target", "cache")[1] is not None
    assert part(found, "CPU", "target", "compute") == (0, None)
    assert found.state == "unknown"


def test_a_device_that_does_not_say_what_is_free_is_not_judged() -> None:
    device = Device("CUDA0", None, None, "somewhere")
    found = fit(LLAMA, None, rules=rules(), request=Request(8192), devices=[device])
    assert found.state == "unknown"
    assert found.reasons[0] == "no device that holds anything says how much memory is free"
    assert on(found, "CUDA0").left_low is None


def test_a_device_that_gets_nothing_is_listed_and_not_judged() -> None:
    found = fitted(LLAMA, on=["CUDA0=16", "CUDA1=16"], context=8192, target_devices=("CUDA0",))
    assert on(found, "CUDA1").parts == ()
    assert on(found, "CUDA1").state is None


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (Request(8192, cache_types=("q9_0", "f16")), "no cache type 'q9_0'"),
        (Request(8192, target_devices=("CUDA7",)), "no device 'CUDA7'; known are CPU"),
        (Request(256, slots=257), "leaves nothing for each of 257 slots"),
        (Request(8192, heads=True), "has no prediction layers"),
    ],
)
def test_requests_that_make_no_sense(request_: Request, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        fit(LLAMA, None, rules=rules(), request=request_, devices=declared(["CPU=64"]))
    assert message in str(caught.value)


def test_two_drafters_at_once_are_refused() -> None:
    with pytest.raises(UsageError, match="not both"):
        fitted(QWEN, SMALL, on=["CPU=64"], context=8192, heads=True)


def test_a_cache_type_whose_blocks_do_not_fit_the_rows_is_refused() -> None:
    keys = NOVEL | {"attention.head_count_kv": 1, "attention.key_length": 80, "attention.value_length": 80}
    with pytest.raises(UsageError, match="the engine refuses this: llama: rows of 80 elements"):
        fitted(header("llama", keys, TENSORS), on=["CPU=1"], context=4096, cache_types=("q8_0", "f16"))


def test_grok_never_uses_flash_attention() -> None:
    keys = NOVEL | {"attention.key_length": 64, "attention.value_length": 64}
    asked, not_asked = (
        fitted(header("grok", keys, TENSORS), on=["CPU=1"], context=4096, flash_attention=flag)
        for flag in (True, False)
    )
    assert part(asked, "CPU", "target", "compute") == part(not_asked, "CPU", "target", "compute")


def test_embeddings_that_may_be_held_twice_widen_the_weights() -> None:
    found = fitted(of_shape(shapes.gemma4()), on=["CPU=8"], context=8192)
    low, high = part(found, "CPU", "target", "weights")
    assert high is not None
    assert high - low == 262144 * 2048 // 256 * 210


def test_every_size_says_how_it_is_known() -> None:
    found = fitted(QWEN, on=["CPU=64"], context=8192, heads=True)
    known = {(item.owner, item.kind): item.how for item in on(found, "CPU").parts}
    assert known["target", "weights"] == "closed form"
    assert known["drafter", "snapshots"] == "closed form, 3 more of each state"
    assert known["target", "compute"] == "declared interval (run-b11434)"
    assert known["process", "runtime"] == "declared (assumed)"
    assert any(note.startswith("run-b11434: llama-fit-params") for note in found.notes)


def test_a_longer_context_is_never_freer() -> None:
    lefts = []
    for context in (4096, 8192, 32768, 131072):
        left = on(fitted(LLAMA, SMALL, on=["CPU=64"], context=context), "CPU").left_low
        assert left is not None
        lefts.append(left)
    assert lefts == sorted(lefts, reverse=True)


def test_a_request_can_be_changed_without_touching_the_rest() -> None:
    assert replace(Request(8192), slots=2).context == 8192


def test_a_file_without_tensors_is_refused() -> None:
    with pytest.raises(EvidenceError, match=r"llama\.gguf: holds no tensors"):
        fitted(header("llama", NOVEL), on=["CPU=64"], context=4096)


def test_a_head_without_an_output_layer_gives_rows_through_its_targets() -> None:
    own, borrowed = (
        fitted(LLAMA, of_shape(shapes.eagle3(own_ends=flag)), on=["CPU=64"], context=8192) for flag in (True, False)
    )
    assert part(own, "CPU", "drafter", "compute") == part(borrowed, "CPU", "drafter", "compute")


def test_buffers_are_open_where_nobody_says_how_many_ids_there_are() -> None:
    found = fitted(header("llama", NOVEL, [("blk.0.ffn_up.weight", (512, 1024), F32)]), on=["CPU=64"], context=4096)
    assert part(found, "CPU", "target", "compute") == (0, None)
    assert found.state == "unknown"


def test_what_drafts_is_named_even_without_a_file() -> None:
    assert fitted(QWEN, on=["CPU=64"], context=8192, heads=True).drafts_as == "mtp-head"
    assert fitted(QWEN, on=["CPU=64"], context=8192).drafts_as is None
