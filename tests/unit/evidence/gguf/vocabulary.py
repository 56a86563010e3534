"""A file as large as that of a small model, and the comparison of two headers."""

from __future__ import annotations

import hashlib

from specrules.evidence.gguf import Array, Header
from tests.unit.evidence.gguf.build import LITTLE as B


def tokens(count: int, seed: bytes) -> list[bytes]:
    """Words as in a real vocabulary: short ones first, 12 bytes on average."""
    words = []
    for index in range(count):
        digest = hashlib.blake2b(seed + index.to_bytes(4, "little")).hexdigest().encode()
        words.append(digest[: 1 + min(index // 256, 4 + digest[0] % 18)])
    return words


def vocabulary(count: int = 50_000) -> bytes:
    """Return a file with a header of about 2 MB and 1 MB behind it."""
    keys = [
        B.string("general.architecture", "llama"),
        B.strings("tokenizer.ggml.tokens", tokens(count, b"t")),
        B.numbers("tokenizer.ggml.token_type", 5, [1] * count),
        B.strings("tokenizer.ggml.merges", tokens(count, b"m")),
        B.number("tokenizer.ggml.eos_token_id", 4, 2),
        B.string("tokenizer.chat_template", "x" * 4000),
    ]
    tensors = [B.tensor(f"blk.{index}.weight", (32,), 0, 128 * index) for index in range(300)]
    return B.file(keys, tensors, 1 << 20)


LARGE = vocabulary()


def same(one: Header, other: Header) -> bool:
    def plain(header: Header) -> list[object]:
        return [(key, bytes(value.raw) if isinstance(value, Array) else value) for key, value in header.values.items()]

    return (plain(one), one.tensors, one.header_bytes, one.data_offset, one.file_bytes) == (
        plain(other),
        other.tensors,
        other.header_bytes,
        other.data_offset,
        other.file_bytes,
    )
