"""Bytes of the weights of a model, by the layer that they belong to."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase

from specrules.economics.memory import padded
from specrules.errors import EvidenceError, Location, Problem
from specrules.evidence.gguf import Header, tensor_bytes
from specrules.model.memory import MemoryFile

OUTPUT = "output.weight"
EMBEDDING = "token_embd.weight"
_BLOCK = re.compile(r"blk\.(\d{1,4})\.", re.ASCII)


@dataclass(frozen=True, slots=True)
class Weights:
    """Bytes with padding: of each layer, of the input layer, and of the output layer with all else.

    `copied` is what the output layer takes once more where it uses the input's embedding on another device.
    `vocabulary` is None where the file has neither of the two, as a head that uses those of its target.
    """

    layers: dict[int, int]
    inputs: int
    outputs: int
    copied: int
    vocabulary: int | None
    ahead: bool

    def total(self, layers: range | None = None) -> int:
        """Return the bytes of the whole file, or of some layers with input and output."""
        chosen = self.layers if layers is None else [layer for layer in self.layers if layer in layers]
        return sum(self.layers[layer] for layer in chosen) + self.inputs + self.outputs


def weights(header: Header, rules: MemoryFile) -> Weights:
    """Return what the tensors of a header take.

    Raises GgufError for a tensor of unknown type, EvidenceError for a file without tensors: it holds a vocabulary only.
    """
    if not header.tensors:
        raise EvidenceError(Problem("holds no tensors, so that nothing can be sized", Location(header.name)))
    layers: dict[int, int] = {}
    inputs = outputs = embedding = 0
    rows: dict[str, int] = {}
    for tensor in header.tensors:
        size = padded(tensor_bytes(tensor), header.alignment)
        block = _BLOCK.match(tensor.name)
        if block:
            layers[int(block[1])] = layers.get(int(block[1]), 0) + size
            continue
        if tensor.name in {EMBEDDING, OUTPUT} and len(tensor.shape) > 1:
            rows[tensor.name] = tensor.shape[1]
        if any(fnmatchcase(tensor.name, pattern) for pattern in rules.input_tensors):
            inputs += size
            embedding += size if tensor.name == EMBEDDING else 0
        else:
            outputs += size
    ahead = any(tensor.name.endswith(".nextn.eh_proj.weight") for tensor in header.tensors)
    copied = 0 if OUTPUT in rows else embedding
    return Weights(layers, inputs, outputs, copied, rows.get(OUTPUT) or rows.get(EMBEDDING), ahead)
