"""What llama.cpp b11434 printed for shapes of full size, and how the recorded architectures were asked."""

from __future__ import annotations

from typing import Any

from specrules.economics.memory import BlockType, Serving, cache_bytes, state_bytes
from specrules.evidence.memory.plan import Plan
from tests.unit.evidence.memory import shapes
from tests.unit.evidence.memory.support import MIB

F16 = BlockType(1, 2)
#: The settings of `tests/data/memory/llama.cpp-b11434.json` by their letter.
SETTINGS: dict[str, dict[str, Any]] = {
    "a": {"context": 131072, "slots": 1},
    "b": {"context": 65536, "slots": 3},
    "c": {"context": 65536, "slots": 4, "key_type": BlockType(32, 34), "value_type": BlockType(32, 18)},
    "d": {"context": 40000, "slots": 1, "batch": 1024, "full_window": True},
    "e": {"context": 100000, "slots": 2, "flash_attention": False},
}
# (shape, weights in MiB, {(context, slots): rows and states in MiB}), as llama-fit-params prints them: rounded down.
FULL_SIZE = [
    (shapes.llama(32, 4096, 14336, 32), 4932, {(8192, 1): 1024, (131072, 1): 16384, (32768, 4): 4096}),
    (shapes.llama(80, 8192, 28672, 64), 42895, {(8192, 1): 2560, (131072, 1): 40960, (32768, 4): 10240}),
    (shapes.gemma3(), 16769, {(8192, 1): 1264, (32768, 1): 3184, (131072, 1): 10864, (32768, 4): 5056}),
    (shapes.qwen35(), 15532, {(8192, 1): 661, (32768, 1): 2197, (131072, 1): 8341, (32768, 4): 2646}),
    (shapes.deepseek_v2_lite(), 10866, {(8192, 1): 243, (32768, 1): 972, (131072, 1): 3888, (32768, 4): 972}),
    (shapes.gemma4(), 890, {(65536, 1): 286, (65536, 3): 348}),
    (shapes.eagle3(), 864, {(65536, 1): 256, (65536, 3): 258}),
]


def context_mib(found: Plan, serving: Serving) -> float:
    """Rows and states of a model that is served."""
    caches, states = cache_bytes(found.trunk, serving), state_bytes(found.states, serving.slots)
    return (sum(caches.values()) + sum(states.values())) / MIB
