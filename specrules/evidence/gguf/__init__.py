"""Headers of GGUF files, on disk or on a server: keys, arrays and tensors, without the weights."""

from __future__ import annotations

from specrules.evidence.gguf.address import is_url
from specrules.evidence.gguf.arrays import Array, ByteOrder
from specrules.evidence.gguf.cache import HeaderCache, default_cache
from specrules.evidence.gguf.errors import GgufError
from specrules.evidence.gguf.header import Header, Value
from specrules.evidence.gguf.parser import HeaderParser
from specrules.evidence.gguf.progress import Progress, ProgressBar, Watch
from specrules.evidence.gguf.reading import load_model, read_header, read_model
from specrules.evidence.gguf.refusals import foreign_order, refusals
from specrules.evidence.gguf.shards import shards
from specrules.evidence.gguf.tensors import TensorInfo, tensor_bytes

__all__ = [
    "Array",
    "ByteOrder",
    "GgufError",
    "Header",
    "HeaderCache",
    "HeaderParser",
    "Progress",
    "ProgressBar",
    "TensorInfo",
    "Value",
    "Watch",
    "default_cache",
    "foreign_order",
    "is_url",
    "load_model",
    "read_header",
    "read_model",
    "refusals",
    "shards",
    "tensor_bytes",
]
