"""GGUF files made byte by byte, right ones and wrong ones, in both byte orders."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence

CODES = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
UINT32, INT32, FLOAT32, STRING, ARRAY = 4, 5, 6, 8, 9
F32, Q8_0 = 0, 8


class Builder:
    """Writes the parts of a header; `order` is the prefix of the struct module."""

    def __init__(self, order: str = "<") -> None:
        self.order = order

    def pack(self, codes: str, *values: object) -> bytes:
        return struct.pack(self.order + codes, *values)

    def text(self, data: bytes | str) -> bytes:
        data = data.encode() if isinstance(data, str) else data
        return self.pack("Q", len(data)) + data

    def number(self, key: bytes | str, kind: int, value: object) -> bytes:
        return self.text(key) + self.pack("I", kind) + self.pack(CODES[kind], value)

    def string(self, key: bytes | str, value: bytes | str) -> bytes:
        return self.text(key) + self.pack("I", STRING) + self.text(value)

    def array(self, key: bytes | str, kind: int, count: int, body: bytes) -> bytes:
        return self.text(key) + self.pack("IIQ", ARRAY, kind, count) + body

    def numbers(self, key: bytes | str, kind: int, values: Sequence[object]) -> bytes:
        return self.array(key, kind, len(values), self.pack(f"{len(values)}{CODES[kind]}", *values))

    def strings(self, key: bytes | str, values: Sequence[bytes | str]) -> bytes:
        return self.array(key, STRING, len(values), b"".join(self.text(value) for value in values))

    def tensor(self, name: bytes | str, shape: Sequence[int] = (32,), kind: int = F32, offset: int = 0) -> bytes:
        return self.text(name) + self.pack("I", len(shape)) + self.pack(f"{len(shape)}QIQ", *shape, kind, offset)

    def header(
        self,
        keys: Iterable[bytes] = (),
        tensors: Iterable[bytes] = (),
        *,
        version: int = 3,
        key_count: int | None = None,
        tensor_count: int | None = None,
    ) -> bytes:
        keys, tensors = list(keys), list(tensors)
        counts = (
            len(tensors) if tensor_count is None else tensor_count,
            len(keys) if key_count is None else key_count,
        )
        return b"GGUF" + self.pack("IQQ", version, *counts) + b"".join(keys) + b"".join(tensors)

    def file(
        self, keys: Iterable[bytes] = (), tensors: Iterable[bytes] = (), data: int = 128, alignment: int = 32
    ) -> bytes:
        """Return a header, padding, and `data` bytes of zeros for the tensors."""
        head = self.header(keys, tensors)
        return head + bytes(-len(head) % alignment) + bytes(data)


LITTLE = Builder("<")
BIG = Builder(">")


def toy(build: Builder = LITTLE, tokens: Sequence[bytes | str] = ("a", "b", "\u2581c", b"\xff\x00d", "")) -> bytes:
    """Return a small right file with every kind of value that exists, and two tensors."""
    values = {0: 255, 1: -1, 2: 65535, 3: -2, 4: 7, 5: -3, 6: 0.5, 7: True, 10: 2**64 - 1, 11: -(2**63), 12: 0.1}
    keys = [
        build.string("general.architecture", "llama"),
        build.strings("tokenizer.ggml.tokens", tokens),
        *(build.number(f"one.{CODES[kind]}", kind, value) for kind, value in values.items()),
        *(build.numbers(f"many.{CODES[kind]}", kind, [value] * 3) for kind, value in values.items()),
    ]
    tensors = [build.tensor("token_embd.weight", (32, 2)), build.tensor("output.weight", (64,), Q8_0, 256)]
    return build.file(keys, tensors, 256 + 68 + 28)
