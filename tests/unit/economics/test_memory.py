from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specrules.economics.memory import (
    BlockType,
    Cache,
    Serving,
    State,
    cache_bytes,
    cells,
    largest,
    layer_devices,
    padded,
    row_bytes,
    state_bytes,
)

F16, Q8_0 = BlockType(1, 2), BlockType(32, 34)
ALONE = Serving(context=32768, slots=1, key_type=F16, value_type=F16)
FULL = Cache(layer=0, key_width=1024, value_width=1024, wide_values=1024)
WINDOW = replace(FULL, window=1024)


def test_a_q8_0_row_takes_34_bytes_for_32_elements() -> None:
    assert row_bytes(1024, Q8_0) == 1088


def test_a_row_that_is_no_whole_number_of_blocks_is_refused() -> None:
    with pytest.raises(ValueError, match="rows of 80 elements are no whole number of blocks of 32"):
        row_bytes(80, Q8_0)


def test_a_row_of_nothing_takes_nothing() -> None:
    assert row_bytes(0, Q8_0) == 0


@pytest.mark.parametrize(
    ("context", "slots", "unified", "stream", "streams"),
    [
        (32768, 4, False, 8192, 4),
        (32768, 4, True, 32768, 1),
        (40000, 1, False, 40192, 1),
        # 65536 / 3 is 21845, which 256 cells at a time makes 22016: more than was asked for.
        (65536, 3, False, 22016, 3),
        (1, 1, False, 256, 1),
    ],
)
def test_cells_of_a_stream(context: int, slots: int, unified: bool, stream: int, streams: int) -> None:
    serving = replace(ALONE, context=context, slots=slots, unified=unified)
    assert (serving.stream_cells, serving.streams) == (stream, streams)


@pytest.mark.parametrize(("context", "slots"), [(0, 1), (256, 0), (256, 300)])
def test_slots_without_a_cell_are_refused(context: int, slots: int) -> None:
    with pytest.raises(ValueError, match="nothing"):
        _ = replace(ALONE, context=context, slots=slots).stream_cells


def test_a_window_holds_what_it_looks_back_and_one_pass() -> None:
    assert cells(WINDOW, ALONE) == 1024 + 512
    assert cells(WINDOW, replace(ALONE, batch=2048)) == 1024 + 2048
    assert cells(WINDOW, replace(ALONE, batch=100)) == 1280


def test_a_window_never_holds_more_than_the_context() -> None:
    assert cells(WINDOW, replace(ALONE, context=512)) == 512


def test_slots_of_their_own_have_a_window_each_and_slots_that_share_one_for_all() -> None:
    four = replace(ALONE, slots=4)
    assert cells(WINDOW, four) == 4 * 1536
    assert cells(WINDOW, replace(four, unified=True)) == 4 * 1024 + 512


def test_full_windows_hold_the_context() -> None:
    assert cells(WINDOW, replace(ALONE, full_window=True)) == 32768


def test_compressed_rows_are_padded() -> None:
    assert cells(replace(FULL, ratio=4), ALONE) == 8192
    assert cells(replace(FULL, ratio=128), ALONE) == 256


def test_a_cache_that_slots_cannot_share_is_there_once_per_slot() -> None:
    shared = replace(ALONE, slots=3, unified=True)
    assert cells(replace(FULL, split=True), shared) == 3 * 32768
    assert cells(FULL, shared) == 32768


def test_keys_and_values_have_their_own_types() -> None:
    serving = replace(ALONE, value_type=Q8_0)
    assert cache_bytes([FULL], serving) == {0: 32768 * (2048 + 1088)}


def test_values_are_padded_to_the_widest_layer_without_flash_attention() -> None:
    narrow = replace(FULL, value_width=256)
    assert cache_bytes([narrow], ALONE) == {0: 32768 * 2 * (1024 + 256)}
    assert cache_bytes([narrow], replace(ALONE, flash_attention=False)) == {0: 32768 * 2 * (1024 + 1024)}


def test_two_caches_of_a_layer_add_up() -> None:
    indexer = Cache(layer=0, key_width=128, value_width=0, wide_values=0)
    assert cache_bytes([FULL, indexer], ALONE) == {0: 32768 * 2 * (2048 + 128)}


def test_drafting_multiplies_only_states_that_keep_snapshots() -> None:
    states = [State(0, 1000), State(1, 1000, snapshots=True)]
    assert state_bytes(states, slots=2) == {0: 8000, 1: 8000}
    assert state_bytes(states, slots=2, snapshots=7) == {0: 8000, 1: 8000 * 8}


def test_layers_go_to_devices_by_their_shares() -> None:
    # Nine places, the output last: 8 layers at a third and two thirds.
    assert layer_devices(8, [1, 2]) == (0, 0, 0, 1, 1, 1, 1, 1, 1)
    assert layer_devices(8, [5]) == (0,) * 9
    assert layer_devices(3, [0, 1]) == (1, 1, 1, 1)


@pytest.mark.parametrize("shares", [[], [0, 0], [-1, 2]])
def test_shares_that_share_nothing_are_refused(shares: list[float]) -> None:
    with pytest.raises(ValueError, match="shares"):
        layer_devices(4, shares)


@given(st.integers(1, 200), st.lists(st.floats(0.01, 1e12), min_size=1, max_size=8))
def test_every_layer_has_a_device_and_none_goes_back(layers: int, shares: list[float]) -> None:
    found = layer_devices(layers, shares)
    assert len(found) == layers + 1
    assert list(found) == sorted(found)
    assert set(found) <= set(range(len(shares)))


def test_every_number_counts_without_a_step() -> None:
    assert largest(lambda number: number <= 5, 10) == 5


@given(st.integers(0, 10_000), st.integers(0, 10_000), st.integers(1, 300))
def test_the_largest_is_the_last_that_fits(limit: int, most: int, step: int) -> None:
    found = largest(lambda number: number <= limit, most, step)
    assert found % step == 0
    assert found <= min(limit, most)
    assert found + step > min(limit, most)


@given(st.integers(0, 1 << 40), st.integers(1, 4096))
def test_padding_adds_less_than_a_multiple(count: int, multiple: int) -> None:
    found = padded(count, multiple)
    assert found % multiple == 0
    assert count <= found < count + multiple


@given(
    context=st.integers(256, 1 << 20),
    more=st.integers(0, 1 << 20),
    slots=st.integers(1, 8),
    unified=st.booleans(),
    window=st.one_of(st.none(), st.integers(0, 8192)),
    ratio=st.sampled_from([1, 4, 128]),
)
def test_a_longer_context_never_takes_less(
    *, context: int, more: int, slots: int, unified: bool, window: int | None, ratio: int
) -> None:
    cache = replace(FULL, window=window, ratio=ratio)
    shorter = Serving(context * slots, slots, F16, F16, unified=unified)
    longer = replace(shorter, context=shorter.context + more)
    assert cells(cache, shorter) <= cells(cache, longer)
