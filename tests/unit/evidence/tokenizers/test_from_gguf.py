from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from specrules.errors import EvidenceError
from specrules.evidence.tokenizers import Head, Tokenizer, TokenType, load_tokenizer

from .build import BASE, MERGES, SIZE, SPM, TOKENS, gguf_file


def read(path: Path, **changes: Any) -> Tokenizer:
    return load_tokenizer(gguf_file(path / "a.gguf", **changes))


@pytest.mark.parametrize("big", [False, True])
def test_what_a_header_says(tmp_path: Path, big: bool) -> None:
    found = read(tmp_path, big=big)
    assert (found.form, found.model, found.family, found.pre) == ("gguf", "gpt2", "gpt2", "smollm")
    assert (found.rows, len(found.texts), found.exists) == (SIZE, SIZE, True)
    assert found.type_counts == {"normal": SIZE - 3, "control": 3}
    assert (found.type_of(2), found.type_of(3)) == (TokenType.CONTROL, TokenType.NORMAL)
    assert found.merges is not None
    assert list(found.merges.items) == [merge.encode() for merge in MERGES]
    assert (found.add_bos, found.add_eos, dict(found.special_ids)) == (False, False, {"bos": 1, "eos": 2})
    assert (found.head, found.notes, found.scores) == (None, (), None)


@pytest.mark.parametrize(
    ("changes", "bos", "eos", "ids"),
    [
        ({"add_bos": None}, False, False, (1, 2)),
        ({"add_bos": None, "pre": None}, False, False, (1, 2)),
        ({"add_bos": None, "pre": "llama-bpe"}, True, False, (1, 2)),
        ({"add_bos": None, "pre": "tekken"}, True, False, (1, 2)),
        ({"pre": "llama-bpe"}, False, False, (1, 2)),
        ({"pre": "gemma4"}, True, False, (1, 2)),
        ({"model": "gemma4", "pre": None, "bos": None, "eos": None}, True, False, (-1, -1)),
        ({"bos": None, "eos": None}, False, False, (11, 11)),
        ({"bos": None, "eos": None, "pre": "glm4"}, False, False, (-1, 11)),
        ({"bos": None, "eos": None, "tokens": TOKENS[:11], "types": None}, False, False, (-1, -1)),
        ({**SPM, "bos": None, "eos": None}, True, False, (1, 2)),
        ({**SPM, "model": "t5", "add_bos": None, "bos": None, "eos": None}, False, True, (-1, 1)),
        ({**SPM, "model": "rwkv", "bos": None, "eos": None}, False, False, (-1, -1)),
        ({**SPM, "model": "bert", "bos": None, "eos": None}, True, False, (101, -1)),
    ],
)
def test_what_llama_cpp_takes_for_keys_that_are_left_out(
    tmp_path: Path, changes: dict[str, Any], bos: bool, eos: bool, ids: tuple[int, int]
) -> None:
    found = read(tmp_path, **changes)
    assert (found.add_bos, found.add_eos) == (bos, eos)
    assert (found.special_ids["bos"], found.special_ids["eos"]) == ids


BOS_BY_PRE = (
    "llama3 llama-v3 llama-bpe falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano tekken chameleon gemma4 "
    "granite-embed-multi-311m"
)
"""Those of the pre-tokenizers of b11434 for which the engine itself answered that it adds BOS."""


@pytest.mark.parametrize("pre", BOS_BY_PRE.split())
def test_pre_tokenizers_that_add_bos(tmp_path: Path, pre: str) -> None:
    assert read(tmp_path, add_bos=None, pre=pre).add_bos is True


def test_an_id_that_does_not_exist_is_left_for_the_default(tmp_path: Path) -> None:
    found = read(tmp_path, bos=SIZE, eos=SIZE - 1)
    assert dict(found.special_ids) == {"bos": 11, "eos": SIZE - 1}
    assert found.notes == ("tokenizer.ggml.bos_token_id is 420, which is no id of this vocabulary; llama.cpp takes 11",)


@pytest.mark.parametrize("model", ["gemma4", "whitespace", "hybriddna", "gpt2"])
def test_models_that_llama_cpp_reads_as_one_family(tmp_path: Path, model: str) -> None:
    found = read(tmp_path, model=model)
    assert (found.model, found.family) == (model, "gpt2")


NOTHING = {**dict.fromkeys(BASE), "d2t": 0}


@pytest.mark.parametrize("changes", [{}, {"model": "no_vocab"}, {"model": "none"}])
def test_a_header_without_a_tokenizer_is_no_fault(tmp_path: Path, changes: dict[str, Any]) -> None:
    found = read(tmp_path, **{**NOTHING, **changes})
    assert (found.exists, len(found.texts), found.family, found.seed_hash) == (False, 0, "none", None)
    assert (found.add_bos, dict(found.special_ids), found.rows) == (False, {"bos": -1, "eos": -1}, None)


def test_a_table_of_target_ids(tmp_path: Path) -> None:
    assert read(tmp_path, d2t=64).head == Head(rows=64, table=True)
    assert read(tmp_path, **{**NOTHING, "d2t": 32}).head == Head(rows=32, table=True)


def test_types_that_are_not_known_count_as_undefined(tmp_path: Path) -> None:
    found = read(tmp_path, types=(99, -1, *(1,) * (SIZE - 2)))
    assert found.type_counts == {"undefined": 2, "normal": SIZE - 2}
    assert read(tmp_path, types=None).type_counts == {}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tokens": None}, "tokenizer.ggml.model is gpt2, but there are no tokenizer.ggml.tokens"),
        ({"types": (1, 1)}, "tokenizer.ggml.token_type has 2 items for 420 tokens"),
        ({"scores": (0.5,)}, "tokenizer.ggml.scores has 1 items for 420 tokens"),
    ],
)
def test_what_llama_cpp_refuses_is_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(EvidenceError, match=message):
        read(tmp_path, **changes)


def test_a_split_model_has_its_tokenizer_in_the_first_file(tmp_path: Path) -> None:
    first = gguf_file(tmp_path / "m-00001-of-00002.gguf")
    second = gguf_file(tmp_path / "m-00002-of-00002.gguf", **NOTHING)
    assert load_tokenizer(second).texts.sha256 == load_tokenizer(first).texts.sha256


def test_kinds_of_values_that_are_no_tokenizer(tmp_path: Path) -> None:
    import gguf

    for key, add in (
        ("pre is no text", lambda writer: writer.add_uint32("tokenizer.ggml.pre", 1)),
        ("add_bos_token is neither", lambda writer: writer.add_uint32("tokenizer.ggml.add_bos_token", 1)),
        ("merges is no array of string", lambda writer: writer.add_array("tokenizer.ggml.merges", [1, 2])),
    ):
        writer = gguf.GGUFWriter(tmp_path / "bad.gguf", "llama")
        writer.add_tokenizer_model("gpt2")
        writer.add_token_list(["a", "b"])
        add(writer)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.close()
        with pytest.raises(EvidenceError, match=key):
            load_tokenizer(str(tmp_path / "bad.gguf"))
