from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specrules.evidence.gguf import Array, read_header
from specrules.evidence.tokenizers.texts import Texts

from .build import TOKENS, gguf_file

LISTS = st.lists(st.binary(max_size=8), max_size=8)


def tokens_of(path: str) -> Array:
    found = read_header(path).values["tokenizer.ggml.tokens"]
    assert isinstance(found, Array)
    return found


@pytest.mark.parametrize("big", [False, True])
def test_texts_of_a_header_are_those_of_a_list(tmp_path: Path, big: bool) -> None:
    read = Texts(tokens_of(gguf_file(tmp_path / "a.gguf", big=big)))
    made = Texts([text.encode() for text in TOKENS])
    assert len(read) == len(made) == 420
    assert list(read.items) == list(made.items)
    assert read.sha256 == made.sha256
    assert read.head(3) == made.head(3) == [b"<|endoftext|>", b"<|im_start|>", b"<|im_end|>"]
    assert read[419] == b"\xc4\xa0word160"


def test_the_digest_is_over_lengths_and_bytes() -> None:
    body = b"\x01\0\0\0\0\0\0\0a" + b"\x02\0\0\0\0\0\0\0bc"
    assert Texts([b"a", b"bc"]).sha256 == sha256(body).hexdigest()


@settings(max_examples=50, deadline=None)
@given(LISTS, LISTS)
def test_digests_are_equal_where_lists_are(one: list[bytes], other: list[bytes]) -> None:
    assert (Texts(one).sha256 == Texts(other).sha256) == (one == other)


def test_bytes_that_are_no_utf_8_and_nul_and_a_byte_order_mark_stay(tmp_path: Path) -> None:
    odd = [b"\xff\xfe", b"a\0b", b"\xef\xbb\xbfc", b""]
    path = gguf_file(tmp_path / "a.gguf", tokens=odd, types=None)
    assert list(Texts(tokens_of(path)).items) == odd
