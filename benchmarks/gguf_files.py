"""Files as large as those of real models, the same ones on every machine: GGUF headers and tokenizer.json."""

from __future__ import annotations

import hashlib
import itertools
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.unit.evidence.gguf.build import FLOAT32, INT32, LITTLE, UINT32

#: Bytes of a tensor of 256 x 64 F32, which is what all tensors of these files are.
_TENSOR_BYTES = 256 * 64 * 4
_LETTERS = tuple(bytes([letter]) for letter in range(ord("a"), ord("z") + 1))
_LONGEST = 21


@dataclass(frozen=True)
class Size:
    """How much a header holds, and the model whose header has about as many bytes."""

    like: str
    tokens: int
    merges: int
    tensors: int
    scores: bool = False


#: What speed and memory are measured on; the largest vocabularies of 2026 are not much larger.
LARGE = Size("Qwen3.5/3.6", 248_320, 247_587, 700, scores=True)
SIZES = (
    Size("Llama 2", 40_000, 0, 291, scores=True),
    Size("Qwen 3", 151_936, 110_000, 399),
    LARGE,
    Size("Gemma 4", 262_144, 400_000, 600, scores=True),
)


def header(size: Size) -> bytes:
    """Return the header, without tensor data."""
    keys = [
        LITTLE.string("general.architecture", "qwen3"),
        LITTLE.number("qwen3.block_count", UINT32, 64),
        LITTLE.string("tokenizer.ggml.model", "gpt2"),
        LITTLE.string("tokenizer.ggml.pre", "qwen2"),
        LITTLE.strings("tokenizer.ggml.tokens", words(size.tokens)),
        LITTLE.numbers("tokenizer.ggml.token_type", INT32, [1] * size.tokens),
        *([LITTLE.numbers("tokenizer.ggml.scores", FLOAT32, [-1.0] * size.tokens)] if size.scores else []),
        *([LITTLE.strings("tokenizer.ggml.merges", merges(size.merges))] if size.merges else []),
        LITTLE.number("tokenizer.ggml.eos_token_id", UINT32, 2),
    ]
    tensors = [
        LITTLE.tensor(f"blk.{index // 10}.ffn_{index % 10}.weight", (256, 64), offset=index * _TENSOR_BYTES)
        for index in range(size.tensors)
    ]
    return LITTLE.header(keys, tensors)


def write_model(path: Path, size: Size = LARGE) -> int:
    """Write a header and, as a hole, the tensor data that it describes. Returns the bytes of the header."""
    data = header(size)
    with path.open("wb") as file:
        file.write(data)
        file.truncate(len(data) + -len(data) % 32 + size.tensors * _TENSOR_BYTES)
    return len(data)


def write_tokenizer_json(path: Path, size: Size = LARGE) -> None:
    """Write the tokenizer of the header as Hugging Face has it."""
    vocabulary = {word.decode(): number for number, word in enumerate(words(size.tokens))}
    pairs = [merge.decode() for merge in merges(size.merges)]
    model = {"type": "BPE", "vocab": vocabulary, "merges": pairs}
    path.write_text(json.dumps({"version": "1.0", "added_tokens": [], "model": model}), encoding="utf-8")


def words(count: int) -> tuple[bytes, ...]:
    """Return different words, as long on average as the texts of real vocabularies, about 12 bytes."""
    return (*_LETTERS, *(left + right for left, right in _pairs()[: count - len(_LETTERS)]))


def merges(count: int) -> tuple[bytes, ...]:
    """Return pairs of words that make a third; beyond the largest vocabulary they come a second time."""
    pairs = _pairs()
    return tuple(b" ".join(pairs[number % len(pairs)]) for number in range(count))


@cache
def _pairs() -> tuple[tuple[bytes, bytes], ...]:
    """Return parts of words that are words themselves, as the merges of a vocabulary are."""
    by_length: list[list[bytes]] = [[] for _ in range(_LONGEST + 1)]
    by_length[1] = list(_LETTERS)
    found: dict[bytes, tuple[bytes, bytes]] = {}
    numbers = itertools.count()
    while len(found) < SIZES[-1].tokens - len(_LETTERS):
        digest = hashlib.sha256(next(numbers).to_bytes(4, "little")).digest()
        length = 2 + digest[0] % (_LONGEST - 1)
        cut = 1 + digest[1] % (length - 1)
        first, second = by_length[cut], by_length[length - cut]
        if not first or not second:
            continue
        left = first[int.from_bytes(digest[2:6], "little") % len(first)]
        right = second[int.from_bytes(digest[6:10], "little") % len(second)]
        if left + right not in found:
            found[left + right] = (left, right)
            by_length[length].append(left + right)
    return tuple(found.values())
