"""Headers from keys, and the rules as they are shipped."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from specrules.catalog.catalogue import Catalog
from specrules.evidence.devices import declared
from specrules.evidence.gguf import Header, HeaderParser, read_header
from specrules.evidence.memory.fit import fit
from specrules.evidence.memory.request import Request
from specrules.model.fit import Fit, FitDevice
from specrules.model.memory import MemoryFile
from tests.unit.evidence.memory.gguf_file import Tensor, Value, header_bytes, write
from tests.unit.evidence.memory.shapes import Shape

ROOT = Path(__file__).parents[4]
RECORDED = json.loads((ROOT / "tests/data/memory/llama.cpp-b11434.json").read_text(encoding="utf-8"))
MIB = 1 << 20
GIB = 1 << 30


@functools.cache
def rules() -> MemoryFile:
    return Catalog.load().memory


def header(architecture: str, keys: Mapping[str, Value], tensors: Sequence[Tensor] = ()) -> Header:
    """A header with these keys, named without the architecture in front."""
    values: dict[str, Value] = {"general.architecture": architecture}
    values |= {f"{architecture}.{key}": value for key, value in keys.items()}
    parser = HeaderParser(f"{architecture}.gguf")
    parser.feed(header_bytes(values, tensors))
    found = parser.header
    assert found is not None
    return found


def of_shape(shape: Shape, folder: Path | None = None) -> Header:
    """The header of a shape; with a folder that of a sparse file in it."""
    if folder is not None:
        return read_header(write(folder / f"{shape.name}.gguf", shape.values, shape.tensors))
    parser = HeaderParser(f"{shape.name}.gguf")
    parser.feed(header_bytes(shape.values, shape.tensors))
    found = parser.header
    assert found is not None
    return found


def fitted(target: Header, drafter: Header | None = None, *, on: Sequence[str], **request: Any) -> Fit:
    return fit(target, drafter, rules=rules(), request=Request(**request), devices=declared(on))


def part(fit: Fit, device: str, owner: str, kind: str) -> tuple[int, int | None]:
    """Both ends of one part on a device, zero where it is not there."""
    found = [item.size for item in on(fit, device).parts if (item.owner, item.kind) == (owner, kind)]
    return (found[0].low, found[0].high) if found else (0, 0)


def on(fit: Fit, device: str) -> FitDevice:
    return next(item for item in fit.devices if item.name == device)
