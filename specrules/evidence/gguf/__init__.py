"""Headers of GGUF files: keys, arrays and tensors, without the weights."""

from __future__ import annotations

from specrules.evidence.gguf.arrays import Array
from specrules.evidence.gguf.errors import GgufError
from specrules.evidence.gguf.header import Header, Value
from specrules.evidence.gguf.parser import HeaderParser
from specrules.evidence.gguf.reading import read_header
from specrules.evidence.gguf.shards import shards
from specrules.evidence.gguf.tensors import TensorInfo, tensor_bytes

__all__ = [
    "Array",
    "GgufError",
    "Header",
    "HeaderParser",
    "TensorInfo",
    "Value",
    "read_header",
    "shards",
    "tensor_bytes",
]
