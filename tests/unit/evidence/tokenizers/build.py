"""Small tokenizers as files of every kind: GGUF by the gguf package, the others by hand."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import gguf

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = 1, 2, 3, 4, 5, 6

CONTROLS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
SIZE = 420


def byte_alphabet() -> list[str]:
    """The 256 characters of byte-level texts, in the order of their bytes; written apart from the code under test."""
    kept = set(range(33, 127)) | set(range(161, 173)) | set(range(174, 256))
    moved = iter(range(256, 512))
    return [chr(byte) if byte in kept else chr(next(moved)) for byte in range(256)]


BYTES = byte_alphabet()
WORDS = tuple(f"\u0120word{number}" for number in range(SIZE - len(CONTROLS) - 256))
TOKENS = (*CONTROLS, *BYTES, *WORDS)
TYPES = (CONTROL,) * len(CONTROLS) + (NORMAL,) * (SIZE - len(CONTROLS))
MERGES = tuple(f"\u0120word {number}" for number in range(len(WORDS)))

BASE: Mapping[str, Any] = {
    "model": "gpt2",
    "pre": "smollm",
    "tokens": TOKENS,
    "types": TYPES,
    "merges": MERGES,
    "bos": 1,
    "eos": 2,
    "add_bos": False,
    "add_eos": None,
    "scores": None,
    "d2t": 0,
}


def with_text(token: int, text: str) -> dict[str, Any]:
    """The change of one text."""
    return {"tokens": (*TOKENS[:token], text, *TOKENS[token + 1 :])}


def padded(count: int) -> dict[str, Any]:
    """The change to more rows than tokens."""
    return {
        "tokens": (*TOKENS, *(f"[PAD{SIZE + number}]" for number in range(count))),
        "types": (*TYPES, *(UNUSED,) * count),
    }


def fewer(count: int) -> dict[str, Any]:
    """The change to a vocabulary without its last tokens."""
    return {"tokens": TOKENS[: SIZE - count], "types": TYPES[: SIZE - count]}


def swapped(one: int, other: int) -> dict[str, Any]:
    """The change of two tokens for each other."""
    tokens = list(TOKENS)
    tokens[one], tokens[other] = tokens[other], tokens[one]
    return {"tokens": tuple(tokens)}


SPM_TOKENS = ("<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), "\u2581a", "b", "\u2581\u2581")
SPM_TYPES = (UNKNOWN, CONTROL, CONTROL, *(BYTE,) * 256, NORMAL, NORMAL, NORMAL)
SPM: Mapping[str, Any] = {
    "model": "llama",
    "pre": "default",
    "tokens": SPM_TOKENS,
    "types": SPM_TYPES,
    "merges": None,
    "scores": tuple(-float(number) for number in range(len(SPM_TOKENS))),
    "bos": 1,
    "eos": 2,
    "add_bos": None,
}


def gguf_file(path: Path, big: bool = False, **changes: Any) -> str:
    """Write a GGUF file with the tokenizer of `BASE` and changes to it; None leaves a key out."""
    said = {**BASE, **changes}
    writer = gguf.GGUFWriter(path, "llama", endianess=gguf.GGUFEndian.BIG if big else gguf.GGUFEndian.LITTLE)
    if said["model"] is not None:
        writer.add_tokenizer_model(said["model"])
    if said["pre"] is not None:
        writer.add_tokenizer_pre(said["pre"])
    for key, add in (
        ("tokens", writer.add_token_list),
        ("types", writer.add_token_types),
        ("scores", writer.add_token_scores),
        ("merges", writer.add_token_merges),
    ):
        if said[key] is not None:
            add(list(said[key]))
    for key, add in (
        ("bos", writer.add_bos_token_id),
        ("eos", writer.add_eos_token_id),
        ("add_bos", writer.add_add_bos_token),
        ("add_eos", writer.add_add_eos_token),
    ):
        if said[key] is not None:
            add(said[key])
    if said["d2t"]:
        import numpy as np

        writer.add_tensor("d2t", np.arange(said["d2t"], dtype=np.int64))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return str(path)


def json_file(path: Path, document: Any) -> str:
    """Write a JSON file, with its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
    return str(path)


def tokenizer_json(**changes: Any) -> dict[str, Any]:
    """The tokenizer of `BASE` as tokenizer.json has it."""
    model = {
        "type": "BPE",
        "byte_fallback": False,
        "vocab": {text: number for number, text in enumerate(TOKENS)},
        "merges": list(MERGES),
    }
    added = [
        {"id": number, "content": text, "special": True, "normalized": False} for number, text in enumerate(CONTROLS)
    ]
    return {"added_tokens": added, "post_processor": None, "model": model | changes.pop("model", {}), **changes}


def varint(value: int) -> bytes:
    """A number as Protocol Buffers write it."""
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def field(number: int, value: int | float | bytes) -> bytes:
    """A field of a message."""
    if isinstance(value, bytes):
        return varint(number << 3 | 2) + varint(len(value)) + value
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    return varint(number << 3) + varint(value)


def sentencepiece(
    texts: Sequence[str] = SPM_TOKENS, types: Sequence[int] = SPM_TYPES, trainer: Mapping[int, int] | None = None
) -> bytes:
    """A SentencePiece model. A type of 1 is left out, as the library leaves out defaults."""
    pieces = b"".join(
        field(1, field(1, text.encode()) + field(2, -float(number)) + (field(3, kind) if kind != NORMAL else b""))
        for number, (text, kind) in enumerate(zip(texts, types, strict=True))
    )
    spec = {3: 2, **(trainer or {})}
    return pieces + field(2, b"".join(field(number, value) for number, value in spec.items()))
