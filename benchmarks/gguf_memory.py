"""Rows and states by closed forms against the numbers of the engine, recorded and live, and against hf-mem."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from specrules.economics.memory import Serving
from specrules.evidence.gguf import Header
from specrules.evidence.memory import Oracle, Request, find_program
from specrules.evidence.memory.oracle import ask
from specrules.evidence.memory.plan import plan
from tests.unit.evidence.memory.measured import F16, FULL_SIZE, SETTINGS, context_mib
from tests.unit.evidence.memory.support import MIB, RECORDED, header, of_shape, rules


@dataclass(frozen=True)
class Estimate:
    """Rows and states of one model in one context, in MiB. None where nobody could be asked, or gave no number."""

    model: str
    context: int
    slots: int
    recorded: int
    specrules: float
    live: int | None
    hf_mem: float | None


def estimates() -> Iterator[Estimate]:
    """Yield every model of full size in every context that was recorded."""
    program = find_program()
    for shape, _, contexts in FULL_SIZE:
        with tempfile.TemporaryDirectory() as folder:
            model = of_shape(shape, Path(folder))
            found = plan(model, rules())
            for (context, slots), recorded in contexts.items():
                ours = context_mib(found, Serving(context, slots, F16, F16))
                live = _live(model, context, slots, program) if program else None
                yield Estimate(shape.name, context, slots, recorded, ours, live, _hf_mem(model, context, slots))


def recorded_architectures() -> tuple[int, float]:
    """Return how many recorded numbers of small models there are, and the largest error in MiB."""
    errors = []
    for model in RECORDED["models"].values():
        if rules().architecture(model["architecture"]) is None:
            continue
        found = plan(header(model["architecture"], model["keys"]), rules())
        for setting, expected in model["context_mib"].items():
            serving = Serving(**{"key_type": F16, "value_type": F16} | SETTINGS[setting])
            errors.append(abs(context_mib(found, serving) - expected))
    return len(errors), max(errors)


def _live(model: Header, context: int, slots: int, program: Path) -> int | None:
    request = Request(context=context, slots=slots)
    return ask(model, "target", request, Oracle(program), context=context).context_mib


def _hf_mem(model: Header, context: int, slots: int) -> float | None:
    try:
        from hf_mem.gguf.metadata import parse_gguf_metadata
    except ImportError:
        return None
    # The file is as large as the real one, and sparse.
    with Path(model.name).open("rb") as file:
        data = file.read(model.header_bytes)
    try:
        said = parse_gguf_metadata(data, experimental=True, max_model_len=context // slots, batch_size=slots).kv_cache
    except RuntimeError:
        return None
    return None if said is None else said.cache_size / MIB
