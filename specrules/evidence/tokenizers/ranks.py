"""Rank files of tiktoken: one token per line, its bytes in base64 and its rank."""

from __future__ import annotations

import base64
import binascii
from functools import cache

from specrules.errors import EvidenceError, Location, Problem
from specrules.evidence.tokenizers.assemble import Vocabulary, assembled
from specrules.evidence.tokenizers.documents import MAX_TOKENS, Folder
from specrules.evidence.tokenizers.settings import Settings
from specrules.evidence.tokenizers.tokenizer import Tokenizer


def looks_like_ranks(data: bytes) -> bool:
    """Whether a file begins like a rank file."""
    first = data[:4096].lstrip().split(b"\n", 1)[0].split()
    return len(first) == 2 and first[1].isdigit() and _decoded(first[0]) is not None


def from_ranks(data: bytes, name: str, folder: Folder, settings: Settings) -> Tokenizer:
    """Return the tokenizer of a rank file. EvidenceError with the line where one is broken.

    Bytes become the characters that byte-level tokenizers write for them. A rank file holds no special tokens: they are
    in the engine's code, or in tokenizer_config.json.
    """
    place = folder.place(name)
    alphabet = byte_alphabet()
    texts: dict[int, bytes] = {}
    for number, line in enumerate(data.splitlines(), start=1):
        fields = line.split()
        if not fields:
            continue
        token = _decoded(fields[0])
        if len(fields) != 2 or token is None or not fields[1].isdigit() or int(fields[1][:9]) >= MAX_TOKENS:
            raise EvidenceError(Problem("not a token in base64 and its rank", Location(place, number)))
        texts[int(fields[1])] = b"".join(alphabet[byte] for byte in token)
    notes = () if settings.added else ("a rank file holds no special tokens, so ids behind its ranks are not known",)
    return assembled(place, "tiktoken", Vocabulary(texts, {}, "gpt2"), settings, notes=notes)


@cache
def byte_alphabet() -> tuple[bytes, ...]:
    """The character that byte-level texts have for every byte, in UTF-8: printable Latin-1 as it is, the rest last."""
    plain = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = (code for code in range(0x100, 0x200))
    return tuple(chr(byte if byte in plain else next(others)).encode() for byte in range(256))


def _decoded(text: bytes) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True) or None
    except binascii.Error:
        return None
