"""SentencePiece models, tiktoken rank files, and how a file is recognised."""

from __future__ import annotations

import base64
import contextlib
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specrules.errors import EvidenceError
from specrules.evidence.tokenizers import Head, compare, load_tokenizer
from specrules.evidence.tokenizers.ranks import byte_alphabet
from specrules.evidence.tokenizers.wire import WireError, fields

from .build import (
    BYTES,
    NORMAL,
    SPM,
    SPM_TOKENS,
    SPM_TYPES,
    USER_DEFINED,
    field,
    gguf_file,
    json_file,
    sentencepiece,
    tokenizer_json,
    varint,
)

DATA = Path(__file__).parents[3] / "data" / "tokenizers"


def test_the_hash_that_the_seed_gives_for_qwen3_6() -> None:
    found = load_tokenizer(str(DATA / "qwen3_6-first-2000.tiktoken"))
    assert len(found.texts) == 2000
    assert found.seed_hash == "8619c68fe4466d3a"


def test_ranks_are_written_as_byte_level_texts(tmp_path: Path) -> None:
    assert [text.decode() for text in byte_alphabet()] == BYTES
    tokens = [bytes([byte]) for byte in range(256)] + [b" word", "\u00e9".encode()]
    path = tmp_path / "any.tiktoken"
    path.write_bytes(b"\n".join(base64.b64encode(text) + b" %d" % rank for rank, text in enumerate(tokens)))
    found = load_tokenizer(str(path))
    assert (found.form, found.family, found.rows) == ("tiktoken", "gpt2", None)
    assert [text.decode() for text in found.texts.items] == [*BYTES, "\u0120word", "\u00c3\u00a9"]
    assert found.notes[0] == "a rank file holds no special tokens, so ids behind its ranks are not known"


def test_ranks_with_special_tokens_of_the_files_beside_them(tmp_path: Path) -> None:
    decoder = {"2": {"content": "[BOS]", "special": True}}
    json_file(tmp_path / "tokenizer_config.json", {"added_tokens_decoder": decoder, "bos_token": "[BOS]"})
    (tmp_path / "tiktoken.model").write_bytes(b"YQ== 0\nYg== 1\n")
    found = load_tokenizer(str(tmp_path))
    assert list(found.texts.items) == [b"a", b"b", b"[BOS]"]
    assert dict(found.special_ids) == {"bos": 2}


@pytest.mark.parametrize("line", [b"YQ==", b"!!! 1", b"YQ== x", b"YQ== -1", b"YQ== 99999999999", b"YQ== 1 2"])
def test_a_broken_line_of_ranks(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "any.tiktoken"
    path.write_bytes(b"YQ== 0\n\n" + line + b"\n")
    with pytest.raises(EvidenceError, match=r"any.tiktoken:3: not a token in base64 and its rank"):
        load_tokenizer(str(path))


def model(folder: Path, data: bytes) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tokenizer.model").write_bytes(data)
    return str(folder / "tokenizer.model")


def test_a_sentencepiece_model_is_the_same_tokenizer_as_its_gguf(tmp_path: Path) -> None:
    path = model(tmp_path, sentencepiece())
    json_file(tmp_path / "config.json", {"vocab_size": len(SPM_TOKENS)})
    found, other = load_tokenizer(path), load_tokenizer(gguf_file(tmp_path / "a.gguf", **SPM))
    assert (found.form, found.family, found.add_bos, found.add_eos) == ("sentencepiece", "llama", True, False)
    assert dict(found.special_ids) == {"unk": 0, "bos": 1, "eos": 2}
    assert (found.texts.sha256, found.types) == (other.texts.sha256, other.types)
    assert compare(other, found).kind == "identical"


def test_user_defined_pieces_have_spaces(tmp_path: Path) -> None:
    types = (*SPM_TYPES[:-1], USER_DEFINED)
    found = load_tokenizer(model(tmp_path, sentencepiece(types=types)))
    assert (found.texts[len(SPM_TOKENS) - 3], found.texts[-1]) == ("\u2581a".encode(), b"  ")


def test_special_ids_of_the_training_and_of_the_files_beside_it(tmp_path: Path) -> None:
    data = sentencepiece(trainer={40: 3, 41: -1, 42: 4, 43: 0})
    assert dict(load_tokenizer(model(tmp_path, data)).special_ids) == {"unk": 3, "eos": 4, "pad": 0}
    json_file(tmp_path / "config.json", {"pad_token_id": 5})
    assert dict(load_tokenizer(str(tmp_path)).special_ids) == {"unk": 3, "eos": 4, "pad": 5}
    json_file(tmp_path / "tokenizer_config.json", {"eos_token": "</s>", "bos_token": "<s>"})
    assert dict(load_tokenizer(str(tmp_path)).special_ids) == {"unk": 3, "bos": 1, "eos": 2, "pad": 5}


def test_the_family_of_a_unigram_model_is_not_known(tmp_path: Path) -> None:
    found = load_tokenizer(model(tmp_path, sentencepiece(trainer={3: 1})))
    assert (found.family, found.add_bos) == (None, None)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (sentencepiece()[:-1], "the file ends inside|bytes, and"),
        (b"\x0a\x02\x0a\x00" + b"\x0f", "encoding 7 is not known"),
        (b"\x0a\x02\x0a\x00" + b"\x02\x00", "a field without a number"),
        (b"\x0a\x02\x0a\x00" + b"\x08" + b"\xff" * 10, "more than 64 bits"),
        (b"\x0a\x05\x0a\x00", "a field of 5 bytes, and 2 are left"),
    ],
)
def test_broken_sentencepiece_models(tmp_path: Path, data: bytes, message: str) -> None:
    with pytest.raises(EvidenceError, match=message):
        load_tokenizer(model(tmp_path, data))


NUMBERS = st.integers(1, 1000)
VALUES = st.one_of(st.integers(0, 2**64 - 1), st.binary(max_size=40), st.floats(width=32, allow_nan=False))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(NUMBERS, VALUES), max_size=6))
def test_fields_come_back(message: list[tuple[int, int | bytes | float]]) -> None:
    data = b"".join(field(number, value) for number, value in message)
    assert list(fields(data)) == message


def test_fields_of_64_bits_are_passed_over_as_bytes() -> None:
    assert list(fields(varint(9 << 3 | 1) + b"12345678" + field(1, 2))) == [(9, b"12345678"), (1, 2)]
    with pytest.raises(WireError, match=r"byte 1: a field of 8 bytes, and 3 are left"):
        list(fields(varint(9 << 3 | 1) + b"123"))


@settings(max_examples=150, deadline=None)
@given(data=st.one_of(st.binary(max_size=80), st.binary(max_size=40).map(lambda tail: b"\x0a\x03\x0a" + tail)))
def test_no_bytes_make_it_fail_in_another_way(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any"
    path.write_bytes(data)
    with contextlib.suppress(EvidenceError):
        load_tokenizer(str(path))


def test_a_folder_gives_the_first_of_its_vocabularies(tmp_path: Path) -> None:
    json_file(tmp_path / "vocab.json", {"a": 0})
    assert load_tokenizer(str(tmp_path)).form == "vocab.json"
    json_file(tmp_path / "tokenizer.json", tokenizer_json())
    assert load_tokenizer(str(tmp_path)).form == "tokenizer.json"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("tokenizer_config.json", "name the tokenizer.json beside it"),
        ("special_tokens_map.json", "name the tokenizer.json beside it"),
        ("merges.txt", "name the vocab.json beside it"),
    ],
)
def test_files_that_hold_no_vocabulary_say_which_does(tmp_path: Path, name: str, hint: str) -> None:
    (tmp_path / name).write_text("{}")
    with pytest.raises(EvidenceError, match=hint):
        load_tokenizer(str(tmp_path / name))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "no tokenizer is recognised in it"),
        (b"<html>", "no tokenizer is recognised in it"),
        (b"{", "not JSON"),
        (b"{" + b'"a":{' * 100_000, "nested too deeply|not JSON"),
        (b'{"a": "\xff"}', "byte 7 is not UTF-8"),
        (b'{"model": {}, "x": ' + b"1" * 5000 + b"}", "too many digits"),
        (b"GGUF", "header"),
    ],
)
def test_files_that_are_no_tokenizer(tmp_path: Path, data: bytes, message: str) -> None:
    (tmp_path / "file").write_bytes(data)
    with pytest.raises(EvidenceError, match=message):
        load_tokenizer(str(tmp_path / "file"))


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(EvidenceError, match="there is no such file"):
        load_tokenizer(str(tmp_path / "file"))
    with pytest.raises(EvidenceError, match="holds no tokenizer"):
        load_tokenizer(str(tmp_path))


def test_a_file_that_is_too_large(tmp_path: Path) -> None:
    with (tmp_path / "vocab.json").open("wb") as file:
        os.truncate(file.fileno(), (128 << 20) + 1)
    with pytest.raises(EvidenceError, match="larger than 128 MiB"):
        load_tokenizer(str(tmp_path / "vocab.json"))


def safetensors(folder: Path, *names: str) -> None:
    from json import dumps

    header = dumps({name: {"dtype": "I64", "shape": [4], "data_offsets": [0, 32]} for name in names}).encode()
    (folder / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + bytes(32))


def test_a_head_without_a_tokenizer(tmp_path: Path) -> None:
    config = json_file(tmp_path / "config.json", {"vocab_size": 8, "draft_vocab_size": 4})
    assert load_tokenizer(config).head == Head(rows=4, table=None)
    safetensors(tmp_path, "fc.weight")
    assert load_tokenizer(str(tmp_path)).head == Head(rows=4, table=False)
    safetensors(tmp_path, "fc.weight", "d2t")
    found = load_tokenizer(str(tmp_path))
    assert (found.head, found.exists, found.rows, found.form) == (Head(rows=4, table=True), False, 8, "config.json")
    (tmp_path / "model.safetensors").unlink()
    json_file(tmp_path / "model.safetensors.index.json", {"weight_map": {"model.d2t": "a.safetensors"}})
    assert load_tokenizer(str(tmp_path)).head == Head(rows=4, table=True)


def test_a_head_that_drafts_from_every_row_has_no_table_to_miss(tmp_path: Path) -> None:
    json_file(tmp_path / "config.json", {"vocab_size": 8, "draft_vocab_size": 8})
    assert load_tokenizer(str(tmp_path)).head is None


@pytest.mark.parametrize("data", [b"1234", b"\xff" * 8 + b"{}"])
def test_a_checkpoint_that_is_none(tmp_path: Path, data: bytes) -> None:
    json_file(tmp_path / "config.json", {"vocab_size": 8, "draft_vocab_size": 4})
    (tmp_path / "model.safetensors").write_bytes(data)
    with pytest.raises(EvidenceError, match="no safetensors file"):
        load_tokenizer(str(tmp_path))


def test_types_are_not_guessed_where_special_tokens_are_not_named(tmp_path: Path) -> None:
    (tmp_path / "any.tiktoken").write_bytes(b"YQ== 0\n")
    assert load_tokenizer(str(tmp_path / "any.tiktoken")).types == bytes([NORMAL])


@pytest.mark.parametrize("name", ["tokenizer.json", "tokenizer.model", "a.gguf", "config.json"])
def test_what_is_no_regular_file_is_refused_without_waiting(tmp_path: Path, name: str) -> None:
    json_file(tmp_path / "tokenizer.json", tokenizer_json())
    (tmp_path / name).unlink(missing_ok=True)
    os.mkfifo(tmp_path / name)
    named = "tokenizer.json" if name == "config.json" else name
    with pytest.raises(EvidenceError, match=f"{name}: cannot be read: it is not a regular file"):
        load_tokenizer(str(tmp_path / named))
