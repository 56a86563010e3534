"""Files that are no good, each with the byte and the words that its error has to have.

`libggml` says what `gguf_init_from_file` of llama.cpp b11434 did with the file on 2026-11-29: `refuses` or `reads`.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass

from tests.unit.evidence.gguf.build import BIG, CODES, F32, LITTLE, Q8_0, STRING, UINT32, toy

B = LITTLE
GOOD = toy()
ARCH = B.string("general.architecture", "llama")
#: Where the first key begins, and where its value does for a key of one byte.
FIRST = 24
VALUE = FIRST + 8 + 1 + 4


@dataclass(frozen=True)
class Bad:
    name: str
    data: bytes
    offset: int | None
    words: str
    libggml: str = "refuses"


def _lengths() -> list[Bad]:
    huge = 2**64 - 1
    word = B.text("a")
    return [
        Bad("key of 2^64-1 bytes", B.header([B.pack("Q", huge)], key_count=1) + bytes(64), FIRST, "65535 are possible"),
        Bad("key of 65,536 bytes", B.file([B.number("k" * 65536, UINT32, 1)]), FIRST, "has 65536 bytes", "reads"),
        Bad("key longer than the file", B.header([B.pack("Q", 500)], key_count=1) + bytes(64), FIRST + 8, "cut short"),
        Bad("empty key", B.file([B.number("", UINT32, 1)]), FIRST, "a key is empty"),
        Bad("NUL in a key", B.file([B.number("a\0b", UINT32, 1)]), FIRST, "NUL", "reads"),
        Bad("text of 2^64-1", B.header([word + B.pack("IQ", STRING, huge)]) + bytes(64), VALUE, "text of 'a'"),
        Bad("text of 2^63", B.header([word + B.pack("IQ", STRING, 2**63)]) + bytes(64), VALUE, "text of 'a'"),
        Bad("text past the end", B.header([word + B.pack("IQ", STRING, 65)]) + bytes(64), VALUE, "65 bytes"),
        Bad("token of 2^64-1", B.header([B.array("a", STRING, 2, B.pack("Q", huge))]) + bytes(64), 49, "string 0 of 2"),
        Bad(
            "second token past the end",
            B.header([B.array("a", STRING, 3, B.text("xy") + B.pack("Q", 90))]) + bytes(64),
            59,
            "string 1 of 3 in 'a', 90 bytes",
        ),
        Bad(
            "token past the end in the second chunk",
            B.header([B.array("a", STRING, 300, B.text("xy") * 299 + B.pack("Q", 1 << 40))]) + bytes(64),
            49 + 2990,
            "string 299 of 300",
        ),
        Bad(
            "token lengths that come round to the file again",
            B.header([B.array("a", STRING, 3, B.pack("Q", huge - 7))]) + bytes(64),
            49,
            "string 0 of 3",
        ),
    ]


def _counts() -> list[Bad]:
    return [
        Bad("2^63 keys", B.header(key_count=2**63), 16, "at most 65536", "refuses"),
        Bad("2^64-1 keys", B.header(key_count=2**64 - 1), 16, "at most 65536"),
        Bad("65,536 keys in 24 bytes", B.header(key_count=65536), 16, "65536 keys would end at"),
        Bad(
            "one key too many", B.header([ARCH], key_count=2), FIRST + len(ARCH), "the rest of the header would end at"
        ),
        Bad("2^63 tensors", B.header(tensor_count=2**63), 8, "at most 131072"),
        Bad("2^64-1 tensors", B.header(tensor_count=2**64 - 1), 8, "at most 131072"),
        Bad("131,072 tensors in 24 bytes", B.header(tensor_count=131072), 8, "131072 tensors would end at"),
        Bad("one tensor too many", B.header([], [B.tensor("t")], tensor_count=2), 8, "2 tensors would end at 72"),
        Bad("1e9 flags in 600 bytes", B.header([B.array("a", 7, 10**9, bytes(550))]), 41, "1000000000 numbers"),
        Bad("2^61 doubles", B.header([B.array("a", 12, 2**61, bytes(64))]), 41, "numbers in 'a'"),
        Bad("1e9 strings", B.header([B.array("a", STRING, 10**9, bytes(550))]), 41, "strings in 'a'"),
        Bad("2^64-1 strings", B.header([B.array("a", STRING, 2**64 - 1, bytes(550))]), 41, "strings in 'a'"),
    ]


def _kinds() -> list[Bad]:
    nested = B.pack("IQ", 9, 1) * 20000
    return [
        Bad("value type 13", B.header([B.text("a") + B.pack("I", 13)]) + bytes(64), 33, "value type 13"),
        Bad("value type 2^32-1", B.header([B.text("a") + B.pack("I", 2**32 - 1)]) + bytes(64), 33, "does not exist"),
        Bad("array of type 13", B.header([B.array("a", 13, 1, bytes(8))]), 37, "array of the value type 13"),
        Bad("array of arrays", B.header([B.array("a", 9, 1, B.pack("IQ", 4, 1) + bytes(4))]), 37, "array of arrays"),
        Bad("20,000 nested arrays", B.header([B.array("a", 9, 1, nested)]), 37, "array of arrays"),
        Bad("same key twice", B.file([ARCH, ARCH]), FIRST + len(ARCH), "'general.architecture' comes twice"),
        Bad(
            "tokens twice",
            B.file([B.strings("tokenizer.ggml.tokens", ["a"]), B.strings("tokenizer.ggml.tokens", ["EVIL"])]),
            FIRST + 54,
            "'tokenizer.ggml.tokens' comes twice",
        ),
        *(
            Bad(f"alignment {value}", B.file([B.number("general.alignment", UINT32, value)]), 53, "power of two")
            for value in (0, 3, 48, 2**32 - 1)
        ),
        Bad("alignment as text", B.file([B.string("general.alignment", "32")]), 49, "no uint32"),
        Bad("alignment as uint64", B.file([B.number("general.alignment", 10, 32)]), 49, "no uint32"),
        Bad("alignment as list", B.file([B.numbers("general.alignment", UINT32, [32])]), 49, "no uint32"),
        Bad(
            "alignment 2^31 with a tensor",
            B.file([B.number("general.alignment", UINT32, 2**31)], [B.tensor("t")]),
            90,
            "before its tensor data begin, at 2147483648",
        ),
    ]


def _tensors() -> list[Bad]:
    def one(name: str, tensor: bytes, offset: int, words: str, libggml: str = "refuses") -> Bad:
        return Bad(name, B.file([], [tensor]), offset, words, libggml)

    shape_at = FIRST + 8 + 1
    wide = B.text("t") + B.pack("I", 2**32 - 1)
    return [
        one("5 dimensions", B.tensor("t", (1, 1, 1, 1, 1)), shape_at, "5 dimensions, and 4"),
        one("2^32-1 dimensions", wide + bytes(64), shape_at, "4294967295 dimensions"),
        one("dimension of 2^63", B.tensor("t", (2**63,)), shape_at, "more elements than can be counted"),
        one("dimension of 2^64-1", B.tensor("t", (2**64 - 1, 1)), shape_at, "more elements than can be counted"),
        one("2^64 elements", B.tensor("t", (2**32, 2**32)), shape_at, "more elements"),
        one("2^63 elements", B.tensor("t", (2**32, 2**31)), shape_at, "more elements"),
        one("2^64 elements before a 0", B.tensor("t", (2**32, 2**32, 0)), shape_at, "more elements"),
        one("elements that come round to 0", B.tensor("t", (2**32, 2**32, 2)), shape_at, "more elements"),
        one("name of 64 bytes", B.tensor("t" * 64), FIRST, "64 bytes, and 63 are possible"),
        one("NUL in a name", B.tensor("t\0x"), FIRST, "NUL", "reads"),
        one("type 4, taken back", B.tensor("t", (32,), 4), FIRST, "type 4, which is unknown"),
        one("type 1,000", B.tensor("t", (32,), 1000), FIRST, "type 1000, which is unknown"),
        one("type 2^31", B.tensor("t", (32,), 2**31), FIRST, "type 2147483648"),
        one("row of half a block", B.tensor("t", (48,), Q8_0), FIRST, "rows of 48 elements"),
        one("first offset not 0", B.tensor("t", (32,), F32, 32), FIRST, "begin at 32 of the data, and 0 is next"),
        Bad("same name twice", B.file([], [B.tensor("t"), B.tensor("t", (32,), F32, 128)]), 57, "'t' comes twice"),
        Bad("overlap", B.file([], [B.tensor("t"), B.tensor("u", (32,), F32, 64)]), 57, "64 of the data, and 128"),
        Bad("gap", B.file([], [B.tensor("t"), B.tensor("u", (32,), F32, 160)]), 57, "160 of the data, and 128"),
        Bad("far offset", B.file([], [B.tensor("t", (32,), F32, 2**64 - 32)]), FIRST, "and 0 is next"),
        Bad("file ends before the data", B.header([], [B.tensor("t")]), 57, "before its tensor data begin, at 64"),
        Bad(
            "data of 2^64 bytes",
            B.file([], [B.tensor(n, (2**61 - 32,), F32, i * (2**63 - 128)) for i, n in enumerate("abc")]),
            90,
            "larger than 64 bits",
        ),
    ]


def _others() -> list[Bad]:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 98362432\n"
    return [
        Bad("empty", b"", 0, "it is empty"),
        Bad("two bytes", b"GG", 0, "ends after 2 bytes"),
        Bad("magic only", b"GGUF", 0, "the fixed part of the header would end at 24"),
        Bad("23 bytes", GOOD[:23], 0, "the fixed part of the header"),
        Bad("HTML", b"<!DOCTYPE html>\n<html><head><title>Sign in</title>", 0, "HTML"),
        Bad("LFS pointer", pointer, 0, "Git LFS pointer"),
        Bad("gzip", gzip.compress(GOOD, mtime=0), 0, "gzip"),
        Bad("JSON error", b'{"error": "Entry not found"}', 0, "JSON"),
        Bad("safetensors", B.pack("Q", 40) + b'{"__metadata__":{"format":"pt"}}', 0, "safetensors"),
        Bad("zip", b"PK\x03\x04" + bytes(60), 0, "zip"),
        Bad("GGML of 2023", b"tjgg" + bytes(60), 0, "before GGUF"),
        Bad("zeros", bytes(4096), 0, "begins with b'\\x00\\x00\\x00\\x00'"),
        Bad("reversed magic", b"FUGG" + GOOD[4:], 0, "reversed"),
        *(
            Bad(f"version {version}", b"GGUF" + B.pack("I", version) + GOOD[8:], 4, f"version {version}")
            for version in (0, 1, 4, 99, 2**32 - 1)
        ),
        Bad("big-endian version 4", b"GGUF" + BIG.pack("I", 4) + toy(BIG)[8:], 4, "version 4"),
    ]


def _cuts() -> list[Bad]:
    """Return the good file cut in the middle of everything that it has."""
    ends = (30, 33, 52, 57, 61, 66, 98, 104, 112, 120, 128, 136)
    return [Bad(f"cut at {end}", GOOD[:end], None, "cut short") for end in ends]


BAD = (*_lengths(), *_counts(), *_kinds(), *_tensors(), *_others(), *_cuts())

#: Files that are odd and still good, for libggml as well.
ODD = {
    "no keys, no tensors": B.header(),
    "no padding without tensors": B.header([ARCH]),
    "version 2": b"GGUF" + B.pack("I", 2) + GOOD[8:],
    "token that is no UTF-8": B.file([B.strings("tokenizer.ggml.tokens", [b"\xff\xfe", "\ufeff", "a\0b"])]),
    "flag of 2": B.file([B.text("a") + B.pack("IB", 7, 2)]),
    "empty arrays": B.file([B.array(f"a{kind}", kind, 0, b"") for kind in (*CODES, STRING)]),
    "text of no bytes": B.file([B.string("a", "")]),
    "tensor without dimensions": B.file([], [B.tensor("t", ())]),
    "tensor without elements": B.file([], [B.tensor("t", (32, 0)), B.tensor("u", (0, 2**40, 2**40))]),
    "2^63-1 elements of a byte": B.file([], [B.tensor("t", (2**63 - 1,), 24)]),
    "1 x 2^62 elements of a byte": B.file([], [B.tensor("t", (1, 2**62), 24)]),
    "tensor without a name": B.file([], [B.tensor("")]),
    "alignment 8": B.file([B.number("general.alignment", UINT32, 8)], [B.tensor("t")], alignment=8),
    "alignment 1": B.file([B.number("general.alignment", UINT32, 1)], [B.tensor("t")], alignment=1),
    "alignment 2^31 without a tensor": B.file([B.number("general.alignment", UINT32, 2**31)]),
    "bytes behind the data": B.file([], [B.tensor("t")]) + bytes(100),
    "data missing": B.file([], [B.tensor("t")], 0),
    "name of 63 bytes": B.file([], [B.tensor("t" * 63)]),
    "256 and 257 tokens": B.file([B.strings("a", ["x"] * 256), B.strings("b", ["y" * 300] * 257)]),
}
