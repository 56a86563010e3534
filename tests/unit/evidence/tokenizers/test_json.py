"""tokenizer.json and vocab.json, with what lies beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from specrules.errors import EvidenceError
from specrules.evidence.tokenizers import Tokenizer, TokenType, compare, load_tokenizer

from .build import CONTROLS, MERGES, SIZE, SPM, SPM_TOKENS, TOKENS, gguf_file, json_file, padded, tokenizer_json


def read(folder: Path, document: dict[str, Any], **beside: Any) -> Tokenizer:
    """Read a tokenizer.json; keyword arguments are JSON files beside it."""
    for name, content in beside.items():
        json_file(folder / f"{name}.json", content)
    return load_tokenizer(json_file(folder / "tokenizer.json", document))


def test_the_same_tokenizer_as_gguf_and_as_tokenizer_json(tmp_path: Path) -> None:
    names = {"bos_token": "<|im_start|>", "eos_token": {"content": "<|im_end|>"}, "add_bos_token": False}
    found = read(tmp_path, tokenizer_json(), config={"vocab_size": SIZE}, tokenizer_config=names)
    other = load_tokenizer(gguf_file(tmp_path / "a.gguf"))
    assert found.texts.sha256 == other.texts.sha256
    assert found.merges is not None
    assert other.merges is not None
    assert found.merges.sha256 == other.merges.sha256
    assert (found.types, found.rows, found.family) == (other.types, other.rows, other.family)
    assert (found.add_bos, found.add_eos, dict(found.special_ids)) == (False, False, {"bos": 1, "eos": 2})
    assert compare(other, found).kind == "identical"
    assert compare(other, found).not_compared == ("pre",)


def test_rows_behind_the_last_token_get_padding_texts(tmp_path: Path) -> None:
    found = read(tmp_path, tokenizer_json(), config={"vocab_size": SIZE + 64})
    other = load_tokenizer(gguf_file(tmp_path / "a.gguf", **padded(64)))
    assert found.texts.sha256 == other.texts.sha256
    assert found.types == other.types
    assert compare(other, found).kind == "identical"


def test_holes_get_padding_texts_too(tmp_path: Path) -> None:
    document = tokenizer_json(model={"vocab": {"a": 0, "b": 3}}, added_tokens=[])
    assert list(read(tmp_path, document).texts.items) == [b"a", b"[PAD1]", b"[PAD2]", b"b"]


def test_rows_are_not_known_without_config_json(tmp_path: Path) -> None:
    found = read(tmp_path, tokenizer_json())
    assert (found.rows, len(found.texts)) == (None, SIZE)
    assert found.notes == (
        "how many rows the model has is not known: there is no config.json with vocab_size beside it",
    )


def test_tokens_beyond_the_rows_are_left_out_and_said(tmp_path: Path) -> None:
    document = tokenizer_json()
    document["added_tokens"].append({"id": SIZE + 1, "content": "<image>", "special": True})
    found = read(tmp_path, document, config={"text_config": {"vocab_size": SIZE}})
    assert (found.rows, len(found.texts)) == (SIZE, SIZE)
    assert found.notes == ("2 tokens lie beyond the 420 rows of the model and were left out",)


def test_spaces_of_user_defined_tokens_are_written_as_spaces(tmp_path: Path) -> None:
    marked = "\u2581\u2581"
    vocabulary = {text: number for number, text in enumerate(SPM_TOKENS)}
    document = {
        "added_tokens": [
            {"id": 0, "content": "<unk>", "special": True},
            {"id": 1, "content": "<s>", "special": True},
            {"id": 2, "content": "</s>", "special": True},
            {"id": len(SPM_TOKENS) - 1, "content": marked, "special": False},
        ],
        "model": {"type": "BPE", "byte_fallback": True, "unk_token": "<unk>", "vocab": vocabulary, "merges": []},
    }
    found = read(tmp_path, document, config={"vocab_size": len(SPM_TOKENS)})
    types = (*SPM["types"][:-1], TokenType.USER_DEFINED)
    other = load_tokenizer(
        gguf_file(tmp_path / "a.gguf", **{**SPM, "tokens": (*SPM_TOKENS[:-1], "  "), "types": types})
    )
    assert (found.family, found.texts[len(SPM_TOKENS) - 2], found.texts[-1]) == ("llama", b"b", b"  ")
    assert found.type_counts == other.type_counts
    assert compare(other, found).kind == "identical"


def test_added_tokens_that_look_special_are_control_tokens(tmp_path: Path) -> None:
    added = [
        {"id": 0, "content": "<|tool|>", "special": False},
        {"id": 1, "content": "<unused7>", "special": False},
        {"id": 2, "content": "<tool>", "special": False},
    ]
    found = read(tmp_path, tokenizer_json(model={"vocab": {"a": 3}}, added_tokens=added))
    assert [found.type_of(token).name for token in range(4)] == ["CONTROL", "CONTROL", "USER_DEFINED", "NORMAL"]


def test_added_tokens_of_the_files_beside_it(tmp_path: Path) -> None:
    config = {"added_tokens_decoder": {"5": {"content": "<b>", "special": True}, "0": {"content": "no", "special": 0}}}
    document = tokenizer_json(model={"vocab": {"a": 0}}, added_tokens=[{"id": 0, "content": "yes", "special": True}])
    found = read(tmp_path, document, tokenizer_config=config, added_tokens={"<c>": 6, "<d>": 5})
    assert list(found.texts.items) == [b"yes", b"[PAD1]", b"[PAD2]", b"[PAD3]", b"[PAD4]", b"<b>", b"<c>"]


def test_added_tokens_are_special_where_a_file_lists_them(tmp_path: Path) -> None:
    listed = {"additional_special_tokens": ["<b>", {"content": "<c>"}], "eos_token": "<d>"}
    added = {"<a>": 1, "<b>": 2, "<c>": 3, "<d>": 4}
    document = tokenizer_json(model={"vocab": {"a": 0}}, added_tokens=[])
    found = read(tmp_path, document, special_tokens_map=listed, added_tokens=added)
    names = ["NORMAL", "USER_DEFINED", "CONTROL", "CONTROL", "CONTROL"]
    assert [found.type_of(token).name for token in range(5)] == names


def test_merges_as_pairs_are_those_as_texts(tmp_path: Path) -> None:
    pairs = [merge.split(" ") for merge in MERGES]
    texts = read(tmp_path / "texts", tokenizer_json()).merges
    read_pairs = read(tmp_path / "pairs", tokenizer_json(model={"merges": pairs})).merges
    assert texts is not None
    assert read_pairs is not None
    assert texts.sha256 == read_pairs.sha256
    spaced = read(tmp_path / "spaced", tokenizer_json(model={"merges": [["a b", "c"]]})).merges
    assert spaced is not None
    assert list(spaced.items) == ["a\u0120b c".encode()]


@pytest.mark.parametrize(
    ("model", "config", "family"),
    [
        ({}, {}, "gpt2"),
        ({"byte_fallback": True}, {}, "llama"),
        ({"byte_fallback": True}, {"model_type": "gemma4_text"}, "gpt2"),
        ({"type": "WordPiece"}, {}, "bert"),
        ({"type": "Unigram", "vocab": [["a", 0.0]]}, {}, None),
    ],
)
def test_the_family_by_the_kind_of_model(
    tmp_path: Path, model: dict[str, Any], config: dict[str, Any], family: str | None
) -> None:
    assert read(tmp_path, tokenizer_json(model=model), config=config).family == family


def token(name: str) -> dict[str, Any]:
    return {"SpecialToken": {"id": name, "type_id": 0}}


SEQUENCE = {"Sequence": {"id": "A", "type_id": 0}}
FRONT = {"type": "TemplateProcessing", "single": [token("<|im_start|>"), SEQUENCE]}
BOTH = {"type": "TemplateProcessing", "single": [token("<|im_start|>"), SEQUENCE, token("<|im_end|>")]}


@pytest.mark.parametrize(
    ("post", "config", "adds", "ids"),
    [
        (None, {}, (None, False), {}),
        (None, {"add_bos_token": True, "bos_token": "<|im_end|>"}, (True, False), {"bos": 2}),
        ({"type": "ByteLevel"}, {}, (False, False), {}),
        ({"type": "ByteLevel"}, {"add_bos_token": True}, (False, False), {}),
        (FRONT, {}, (True, False), {"bos": 1}),
        (BOTH, {}, (True, True), {"bos": 1, "eos": 2}),
        (BOTH, {"eos_token": "<|endoftext|>"}, (True, True), {"bos": 1, "eos": 2}),
        (FRONT, {"bos_token": "<|endoftext|>"}, (True, False), {"bos": 0}),
        (FRONT, {"bos_token": "<|endoftext|>", "cls_token": "<|im_end|>"}, (False, False), {"bos": 0, "cls": 2}),
        ({"type": "Sequence", "processors": [{"type": "ByteLevel"}, FRONT]}, {}, (True, False), {"bos": 1}),
        ({"type": "Sequence", "processors": [FRONT, {"type": "ByteLevel"}]}, {}, (True, False), {"bos": 1}),
        ({"type": "RobertaProcessing"}, {}, (True, True), {}),
        ({"type": "TemplateProcessing", "single": [SEQUENCE]}, {}, (None, False), {}),
        ({"type": "TemplateProcessing", "single": [token("<|im_start|>")]}, {}, (None, False), {}),
    ],
)
def test_what_is_put_around_a_text(
    tmp_path: Path,
    post: dict[str, Any] | None,
    config: dict[str, Any],
    adds: tuple[bool | None, bool | None],
    ids: dict[str, int],
) -> None:
    found = read(tmp_path, tokenizer_json(post_processor=post), tokenizer_config=config)
    assert (found.add_bos, found.add_eos) == adds
    assert dict(found.special_ids) == ids


def test_ids_of_special_tokens_come_from_their_texts_before_config_json(tmp_path: Path) -> None:
    config = {"bos_token_id": 0, "eos_token_id": [1, 2], "pad_token_id": SIZE, "text_config": {"unk_token_id": 3}}
    found = read(tmp_path, tokenizer_json(), config=config, special_tokens_map={"bos_token": "<|im_end|>"})
    assert dict(found.special_ids) == {"bos": 2, "unk": 3}


def vocab(folder: Path, **beside: Any) -> Tokenizer:
    for name, content in beside.items():
        json_file(folder / f"{name}.json", content)
    path = json_file(folder / "vocab.json", {text: number for number, text in enumerate(TOKENS)})
    (folder / "merges.txt").write_text("#version: 0.2\n" + "\n".join(MERGES) + "\n", encoding="utf-8")
    return load_tokenizer(path)


def test_vocab_json_and_merges_txt_are_the_same_tokenizer(tmp_path: Path) -> None:
    special = {"additional_special_tokens": list(CONTROLS)}
    added = {text: number for number, text in enumerate(CONTROLS)}
    found = vocab(tmp_path, config={"vocab_size": SIZE}, special_tokens_map=special, added_tokens=added)
    other = load_tokenizer(gguf_file(tmp_path / "a.gguf"))
    assert (found.form, found.family) == ("vocab.json", "gpt2")
    assert found.merges is not None
    assert other.merges is not None
    assert (found.texts.sha256, found.types) == (other.texts.sha256, other.types)
    assert found.merges.sha256 == other.merges.sha256


def test_special_tokens_inside_of_vocab_json_are_control_tokens(tmp_path: Path) -> None:
    found = vocab(tmp_path, special_tokens_map={"bos_token": "<|im_start|>"})
    assert [found.type_of(token).name for token in range(3)] == ["NORMAL", "CONTROL", "NORMAL"]


def test_merges_that_are_not_there_are_said(tmp_path: Path) -> None:
    found = load_tokenizer(json_file(tmp_path / "vocab.json", {"a": 0}))
    assert found.merges is None
    assert found.notes[0] == "there is no merges.txt beside it"


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (tokenizer_json(model={"vocab": {"a": -1}}), "-1 is no token id"),
        (tokenizer_json(model={"vocab": {"a": 1.5}}), "1.5 is no token id"),
        (tokenizer_json(model={"vocab": {"a": True}}), "True is no token id"),
        (tokenizer_json(model={"vocab": {"a": 10**9}}), "1000000000 is no token id"),
        (tokenizer_json(model={"vocab": {}}), "the vocabulary is empty"),
        (tokenizer_json(model={"vocab": None}), "the vocabulary is empty"),
        (tokenizer_json(model={"vocab": [["a", 0.0], 3]}), "no pair of a text and a score"),
        (tokenizer_json(model={"merges": [["a"]]}), "no pair of texts"),
        (tokenizer_json(added_tokens=[{"id": 1}]), "added_tokens holds something that is no token"),
        (tokenizer_json(added_tokens=1.5), "added_tokens is no list"),
        (tokenizer_json(added_tokens={"a": 1}), "added_tokens is no list"),
        (tokenizer_json(added_tokens=[{"id": "1", "content": "a"}]), "'1' is no token id"),
        ({"a": 1, "b": "x"}, "no vocabulary is recognised in it"),
    ],
)
def test_broken_vocabularies(tmp_path: Path, document: dict[str, Any], message: str) -> None:
    with pytest.raises(EvidenceError, match=message) as caught:
        read(tmp_path, document)
    assert str(caught.value).startswith(str(tmp_path / "tokenizer.json"))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("config", {"vocab_size": 0}, "vocab_size is 0, which is no number of tokens"),
        ("config", {"vocab_size": 10**12}, "is no number of tokens"),
        ("config", [1], "a JSON object is expected"),
        ("tokenizer_config", {"added_tokens_decoder": {"x": {"content": "a"}}}, "'x' is no id with a token"),
        ("tokenizer_config", {"added_tokens_decoder": {"1": "a"}}, "'1' is no id with a token"),
        ("added_tokens", {"a": 10**12}, "is no token id"),
    ],
)
def test_broken_files_beside_a_vocabulary(tmp_path: Path, name: str, content: Any, message: str) -> None:
    with pytest.raises(EvidenceError, match=message) as caught:
        read(tmp_path, tokenizer_json(), **{name: content})
    assert str(caught.value).startswith(str(tmp_path / f"{name}.json"))


def test_half_surrogate_pairs_do_not_stop_reading(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text('{"model": {"vocab": {"\\ud83d": 0}}}')
    assert load_tokenizer(str(path)).texts[0] == b"\xed\xa0\xbd"
