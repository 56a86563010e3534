from __future__ import annotations

from typing import Any

import pytest

from specrules.evidence.memory.facts import FREE, NEEDED, memory_facts
from specrules.model.case import Case
from specrules.model.fact import Fact
from tests.unit.evidence.memory import shapes
from tests.unit.evidence.memory.gguf_file import F32
from tests.unit.evidence.memory.support import GIB, fitted, header, of_shape, part, rules

LLAMA = of_shape(shapes.llama(32, 4096, 14336, 32))
SMALL = of_shape(shapes.llama(16, 2048, 8192, 32))
QWEN = of_shape(shapes.qwen35(heads_layers=1))


def case(**changes: Any) -> Case:
    base: dict[str, Any] = {
        "schema": 1,
        "target": {"name": "big", "device": "CUDA0"},
        "drafter": {"name": "small", "class": "model"},
        "engine": {"id": "llama.cpp", "flags": ["-c 32768", "-np 4"]},
        "host": {"devices": [{"name": "CUDA0", "memory_gib": 24}]},
    }
    return Case.model_validate(base | changes)


def facts(**changes: Any) -> dict[str, Fact]:
    return memory_facts(case(**changes), LLAMA, SMALL, rules())


def test_what_the_drafter_takes_is_the_high_end_of_its_parts() -> None:
    fact = facts()[NEEDED]
    found = fitted(LLAMA, SMALL, on=["CUDA0=24"], context=32768, slots=4)
    ends = [part(found, "CUDA0", "drafter", kind) for kind in ("weights", "cache", "compute")]
    assert fact.low == sum(low for low, _ in ends) / GIB
    assert fact.high == sum(high or 0 for _, high in ends) / GIB
    assert fact.value == fact.high
    assert fact.unit == "GiB"
    assert fact.provenance.kind == "derived"
    assert "at a context of 32768 tokens" in fact.provenance.source


def test_what_is_free_is_what_the_target_leaves_at_its_high_end() -> None:
    fact = facts()[FREE]
    found = fitted(LLAMA, on=["CUDA0=24"], context=32768, slots=4)
    needed = found.devices[0].needed
    assert needed.high is not None
    # With drafting the target gives three more output rows for each slot.
    rows = 3 * 4 * 128256 * 4
    assert fact.low == pytest.approx(24 - (needed.high + rows) / GIB)
    assert fact.high == pytest.approx(24 - (needed.low + rows) / GIB)
    assert fact.value == fact.low


def test_a_stated_free_memory_is_left_alone() -> None:
    assert FREE not in facts(host={"devices": [{"name": "CUDA0", "memory_gib": 24, "free_gib": 3}]})
    assert FREE not in facts(host={"devices": [{"name": "CUDA0"}]})
    assert FREE not in facts(host={"devices": []})


def test_a_device_of_its_own_is_free_of_the_target() -> None:
    found = facts(
        drafter={"name": "small", "class": "model", "device": "CUDA1"},
        host={"devices": [{"name": "CUDA0", "memory_gib": 24}, {"name": "CUDA1", "memory_gib": 8}]},
    )
    # What is taken there beside the drafter is the context of the device: 457 to 1024 MiB.
    assert found[FREE].value == 7
    assert found[FREE].high == pytest.approx(8 - 457 / 1024)


def test_more_than_the_device_has_leaves_nothing() -> None:
    found = facts(host={"devices": [{"name": "CUDA0", "memory_gib": 4}]})
    assert found[FREE].value == 0
    assert found[FREE].high == 0


def test_an_interval_of_the_memory_counts_from_its_ends() -> None:
    exact, wide = (
        facts(host={"devices": [{"name": "CUDA0", "memory_gib": stated}]})[FREE]
        for stated in (24, {"value": 24, "low": 23, "high": 25})
    )
    assert (exact.low or 0) - (wide.low or 0) == pytest.approx(1)
    assert (wide.high or 0) - (exact.high or 0) == pytest.approx(1)


def test_the_context_comes_from_the_workload_where_no_flag_says_it() -> None:
    flagged = facts(engine={"id": "llama.cpp", "flags": ["--ctx-size 32768", "--parallel", "4"]})
    worked = facts(engine="llama.cpp", workload={"context_tokens": 8192, "concurrency": 4})
    assert flagged[NEEDED].value == facts()[NEEDED].value
    # Without -np llama-server lets slots share one pool, which the mask of a pass spans: 512 rows, 16 bits.
    assert flagged[NEEDED].low is not None
    assert worked[NEEDED].low == pytest.approx(flagged[NEEDED].low + 512 * (32768 - 8192) * 2 / GIB)
    pooled = facts(engine={"id": "llama.cpp", "flags": ["-c 32768", "-np 4", "-kvu"]})
    assert pooled[NEEDED].low == worked[NEEDED].low
    alone = facts(engine="llama.cpp", workload={"context_tokens": 8192})
    one = facts(engine={"id": "llama.cpp", "flags": ["-c 8192", "-np 1"]})
    assert alone[NEEDED].low == one[NEEDED].low


def test_without_a_context_nothing_is_said() -> None:
    assert facts(engine="llama.cpp") == {}
    assert facts(engine={"id": "llama.cpp", "flags": ["-c 0"]}) == {}
    assert facts(engine={"id": "llama.cpp", "flags": ["-c"]}) == {}


@pytest.mark.parametrize(
    "flags",
    [["-ctkd q8_0", "-ctvd q8_0"], ["--spec-draft-type-k", "q8_0", "--spec-draft-type-v", "q8_0"]],
)
def test_the_drafters_cache_types_count(flags: list[str]) -> None:
    small = facts(engine={"id": "llama.cpp", "flags": ["-c 32768", "-np 4", *flags]})[NEEDED]
    assert small.low is not None
    assert facts()[NEEDED].low == pytest.approx(small.low + 1 - 34 / 64)


def test_the_targets_cache_types_leave_the_drafter_alone_and_free_memory() -> None:
    found = facts(engine={"id": "llama.cpp", "flags": ["-c 32768", "-np 4", "-ctk q8_0 -ctv q8_0"]})
    assert found[NEEDED].value == facts()[NEEDED].value
    assert found[FREE].low == pytest.approx((facts()[FREE].low or 0) + 4 * (1 - 34 / 64))


def test_heads_inside_the_target_are_counted_with_their_snapshots() -> None:
    def needed(length: int) -> float:
        changes = {
            "drafter": {"name": "head", "class": "mtp-head"},
            "engine": {"id": "llama.cpp", "flags": ["-c 32768"], "draft_length": length},
        }
        low = memory_facts(case(**changes), QWEN, None, rules())[NEEDED].low
        assert low is not None
        return low

    state = 48 * 817152 * 4 / GIB
    assert needed(5) - needed(2) == pytest.approx(3 * state)


def test_a_drafter_without_a_file_says_nothing() -> None:
    assert memory_facts(case(), LLAMA, None, rules()) == {}


def test_another_engine_allots_memory_in_its_own_way() -> None:
    assert facts(engine={"id": "vllm", "flags": ["-c 32768"]}) == {}
    given = case(engine={"id": "llamacpp", "flags": ["-c 32768"]})
    assert memory_facts(given, LLAMA, SMALL, rules()) == {}
    assert NEEDED in memory_facts(given, LLAMA, SMALL, rules(), engine_id="llama.cpp")


def test_what_is_open_above_is_no_fact() -> None:
    novel = header("novel", {"block_count": 1, "novel.thing": 2}, [("blk.0.ffn_up.weight", (64, 64), F32)])
    assert NEEDED not in memory_facts(case(), LLAMA, novel, rules())
    assert memory_facts(case(), novel, SMALL, rules()).keys() == {NEEDED}


def test_a_file_without_tensors_says_nothing() -> None:
    assert memory_facts(case(), LLAMA, header("llama", {"block_count": 1}), rules()) == {}


def test_a_setting_that_the_engine_refuses_gives_no_fact() -> None:
    assert facts(engine={"id": "llama.cpp", "flags": ["-c 32768", "-ctk q9_0"]}) == {}
    assert facts(engine={"id": "llama.cpp", "flags": ["-c 256", "-np 512"]}) == {}
