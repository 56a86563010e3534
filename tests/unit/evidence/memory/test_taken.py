from __future__ import annotations

import pytest

from specrules.model.fit import FitTaken
from tests.unit.evidence.memory import shapes
from tests.unit.evidence.memory.gguf_file import F32, Value
from tests.unit.evidence.memory.support import GIB, MIB, fitted, header, of_shape, part

LLAMA = of_shape(shapes.llama(32, 4096, 14336, 32))
SMALL = of_shape(shapes.llama(16, 2048, 8192, 32))
QWEN = of_shape(shapes.qwen35(heads_layers=1))


def taken(*args: object, **kwargs: object) -> FitTaken:
    found = fitted(*args, **kwargs).taken  # type: ignore[arg-type]
    assert found is not None
    return found


def test_what_a_draft_model_takes_is_what_it_holds_and_the_output_rows() -> None:
    found = fitted(LLAMA, SMALL, on=["CPU=64"], context=32768, slots=4, draft_length=5)
    cost = found.taken
    assert cost is not None
    own = [part(found, "CPU", "drafter", kind)[0] for kind in ("weights", "cache", "compute")]
    # Five more output rows for each of four slots, of 128256 32-bit floats.
    assert cost.size.low == sum(own) + 4 * 5 * 128256 * 4


def test_tokens_and_requests_are_those_of_the_targets_own_rows() -> None:
    cost = taken(LLAMA, SMALL, on=["CPU=64"], context=32768, slots=4)
    assert cost.size.high is not None
    # 32 layers, 2 * 1024 elements, 2 bytes: 131072 bytes per token, 1 GiB for a request of 8192 tokens.
    assert cost.tokens == -(-cost.size.high // 131072)
    assert cost.requests == round(cost.size.high / GIB, 2)


def test_a_request_of_a_recurrent_target_holds_a_state() -> None:
    cost = taken(QWEN, on=["CPU=64"], context=32768, slots=4, heads=True)
    assert cost.size.high is not None
    state = 48 * 817152 * 4
    assert cost.requests == round(cost.size.high / (8192 * 65536 + state), 2)


def test_windows_cost_nothing_more_per_token() -> None:
    found = fitted(of_shape(shapes.gemma3()), on=["CPU=64"], context=32768)
    # Ten of 62 layers see everything: 2 * 2048 elements of 2 bytes each.
    assert found.target.bytes_per_token == 10 * 2 * 2048 * 2
    full = fitted(of_shape(shapes.gemma3()), on=["CPU=64"], context=32768, full_window=True)
    assert full.target.bytes_per_token == 62 * 2 * 2048 * 2


@pytest.mark.parametrize("slots", [1, 4])
def test_the_longest_context_is_the_last_that_fits(slots: int) -> None:
    placed = {"on": ["CPU=12"], "slots": slots}
    cost = taken(LLAMA, SMALL, context=8192, **placed)
    for context, drafter in ((cost.context_without, None), (cost.context_with, SMALL)):
        assert context is not None
        assert context % (256 * slots) == 0
        assert fitted(LLAMA, drafter, context=context, **placed).state == "fits"
        assert fitted(LLAMA, drafter, context=context + 256 * slots, **placed).state != "fits"
    assert cost.context_with is not None
    assert cost.context_without is not None
    assert cost.context_with < cost.context_without


def test_slots_that_share_a_pool_are_searched_in_smaller_steps() -> None:
    cost = taken(LLAMA, SMALL, on=["CPU=12"], context=8192, slots=4, unified=True)
    assert cost.context_with is not None
    more = cost.context_with + 256
    for context, fits in ((cost.context_with, True), (more, False)):
        found = fitted(LLAMA, SMALL, on=["CPU=12"], context=context, slots=4, unified=True)
        assert (found.state == "fits") is fits


def test_the_most_slots_are_the_last_that_fit() -> None:
    cost = taken(LLAMA, SMALL, on=["CPU=12"], context=8192, slots=2)
    for slots, drafter in ((cost.slots_without, None), (cost.slots_with, SMALL)):
        assert slots is not None
        assert fitted(LLAMA, drafter, on=["CPU=12"], context=4096 * slots, slots=slots).state == "fits"
        more = slots + 1
        assert fitted(LLAMA, drafter, on=["CPU=12"], context=4096 * more, slots=more).state != "fits"


def test_nothing_fits_where_the_weights_do_not() -> None:
    cost = taken(LLAMA, SMALL, on=["CPU=4"], context=8192)
    assert (cost.context_without, cost.context_with, cost.slots_with) == (0, 0, 0)


def test_the_search_ends_at_what_the_target_was_trained_for() -> None:
    cost = taken(LLAMA, SMALL, on=["CPU=1000"], context=8192, slots=2)
    assert cost.context_with == 2 * 131072
    assert cost.slots_with == 256
    assert cost.trained_context == 131072


def test_a_drafter_elsewhere_takes_output_rows_only() -> None:
    cost = taken(
        LLAMA, SMALL, on=["CUDA0=12", "CUDA1=4"], context=8192, target_devices=("CUDA0",), drafter_devices=("CUDA1",)
    )
    assert cost.size.high == 3 * 128256 * 4
    assert cost.tokens == 12


def test_what_is_open_above_is_not_searched() -> None:
    keys: dict[str, Value] = {"block_count": 1, "embedding_length": 64, "attention.head_count": 1, "memory.slots": 7}
    novel = header("novel", keys, [("blk.0.ffn_up.weight", (64, 64), F32)])
    cost = taken(LLAMA, novel, on=["CPU=64"], context=8192)
    assert cost.size.high is None
    assert (cost.tokens, cost.requests, cost.context_with, cost.slots_with) == (None, None, None, None)
    assert cost.context_without is not None


def test_more_snapshots_leave_fewer_slots() -> None:
    slots = [
        taken(QWEN, on=["CPU=24"], context=8192, heads=True, draft_length=length).slots_with for length in (1, 3, 7)
    ]
    assert None not in slots
    assert slots == sorted(slots, key=lambda count: -(count or 0))
    assert slots[0] != slots[2]


def test_n_grams_take_output_rows_and_nothing_else() -> None:
    cost = taken(LLAMA, on=["CPU=64"], context=8192, drafter_class="ngram", draft_length=8)
    assert cost.size.low == cost.size.high == 8 * 128256 * 4
    assert cost.size.low < 4 * MIB
