"""A tokenizer in one form, whatever file it came from: token texts and types as llama.cpp's converter writes them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from hashlib import sha256
from typing import Literal

from specrules.evidence.tokenizers.texts import Texts

Form = Literal["gguf", "tokenizer.json", "vocab.json", "sentencepiece", "tiktoken", "config.json"]

SEED_TOKENS = 2000
SPACE_MARK = "\u2581".encode()
"""What SentencePiece writes for a space."""
_PADDING = re.compile(rb"\[PAD\d+\]")
_CONTROL_TEXTS = frozenset({b"<pad>", b"<mask>", b"<2mass>", b"[@BOS@]"})
_BRACKETS = ((b"<|", b"|>"), ("<｜".encode(), "｜>".encode()), (b"<unused", b">"))


class TokenType(IntEnum):
    """Token types under the numbers that GGUF and SentencePiece share."""

    UNDEFINED = 0
    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


_TYPES = tuple(TokenType)
SPECIAL_TYPES = frozenset({TokenType.UNKNOWN, TokenType.CONTROL, TokenType.USER_DEFINED, TokenType.UNUSED})


@dataclass(frozen=True, slots=True)
class Head:
    """A head that drafts from a reduced vocabulary: how many rows it has, and whether its table `d2t` is there.

    The table gives the target's id for every row. Without one engines take the rows for the first ids.
    """

    rows: int | None
    table: bool | None


@dataclass(frozen=True, eq=False)
class Tokenizer:
    """What one file says.

    `model` and `pre` are `tokenizer.ggml.model` and `.pre`, `family` what engines compare of the model. `texts` is
    empty where there is no tokenizer. `rows` is the number of ids that the model has, padding included, and None where
    the file does not say. `types` has one byte per text and is empty where nothing is known about types. Ids of special
    tokens that llama.cpp holds for absent are -1. `notes` says what to keep in mind when it is compared, and
    `unloadable` why llama.cpp on this machine loads the file no further than its header; empty where nothing is wrong.
    """

    source: str
    form: Form
    texts: Texts
    rows: int | None
    model: str | None = None
    family: str | None = None
    pre: str | None = None
    types: bytes = b""
    merges: Texts | None = None
    scores: str | None = None
    add_bos: bool | None = None
    add_eos: bool | None = None
    special_ids: Mapping[str, int] = field(default_factory=dict)
    head: Head | None = None
    notes: tuple[str, ...] = ()
    unloadable: str = ""

    @property
    def exists(self) -> bool:
        """Whether there is a tokenizer; heads take the target's and have none of their own."""
        return len(self.texts) > 0

    @cached_property
    def seed_hash(self) -> str | None:
        """16 hexadecimal digits of the SHA-256 over the first 2000 texts with NUL between. It proves nothing."""
        if not self.exists:
            return None
        return sha256(b"\0".join(self.texts.head(SEED_TOKENS))).hexdigest()[:16]

    @cached_property
    def type_counts(self) -> dict[str, int]:
        """How many ids there are of each type, by its name in lower case; empty where types are not known."""
        counts = Counter(self.types)
        return {kind.name.lower(): counts[kind] for kind in TokenType if counts[kind]}

    def type_of(self, token: int) -> TokenType:
        """The type of an id; UNDEFINED where it is not known."""
        return _TYPES[self.types[token]] if self.types else TokenType.UNDEFINED

    def is_padding(self, token: int) -> bool:
        """Whether an id is a row without a token."""
        return self.type_of(token) is TokenType.UNUSED or is_padding(self.texts[token])

    def is_special(self, token: int) -> bool:
        """Whether an id is outside of what text is split into, by its type or by its text."""
        text = self.texts[token]
        return self.type_of(token) in SPECIAL_TYPES or is_padding(text) or looks_special(text)


def padding(token: int) -> bytes:
    """The text that llama.cpp's converter gives to an id without a token."""
    return b"[PAD%d]" % token


def is_padding(text: bytes) -> bool:
    """Whether a text is one that converters give to ids without a token."""
    return text.startswith(b"[PAD") and _PADDING.fullmatch(text) is not None


def looks_special(text: bytes) -> bool:
    """Whether llama.cpp's converter takes an added token for a control token although it is not marked as one.

    The rule of `does_token_look_special` in its conversion/base.py (b11434).
    """
    return text in _CONTROL_TEXTS or any(text.startswith(first) and text.endswith(last) for first, last in _BRACKETS)
