"""The script that makes a drafter, on a model of a few kilobytes."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

gguf = pytest.importorskip("gguf")
_SPEC = importlib.util.spec_from_file_location("drop_layers", Path(__file__).with_name("drop_layers.py"))
drop_layers = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(drop_layers)


@pytest.fixture
def source(tmp_path):
    file = tmp_path / "source.gguf"
    writer = gguf.GGUFWriter(file, "llama")
    writer.add_block_count(4)
    writer.add_array("tokenizer.ggml.tokens", ["a", "b"])
    writer.add_tensor("token_embd.weight", np.full((4, 4), 9.0, np.float32))
    for layer in range(4):
        writer.add_tensor(f"blk.{layer}.attn_q.weight", np.full((4, 4), layer, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file


def test_layers_are_left_out_and_the_others_numbered_anew(source, tmp_path):
    made = tmp_path / "made.gguf"
    assert drop_layers.main([str(source), str(made), "1,2"]) == 0
    reader = gguf.GGUFReader(made)
    assert reader.fields["llama.block_count"].contents() == 2
    assert reader.fields["tokenizer.ggml.tokens"].contents() == ["a", "b"]
    found = {tensor.name: float(tensor.data.flat[0]) for tensor in reader.tensors}
    assert found == {"token_embd.weight": 9.0, "blk.0.attn_q.weight": 0.0, "blk.1.attn_q.weight": 3.0}


@pytest.mark.parametrize("layers", [{4}, {0, 1, 2, 3}])
def test_layers_that_cannot_be_dropped(source, tmp_path, layers):
    with pytest.raises(ValueError, match="layers to drop must be some of"):
        drop_layers.drop_layers(source, tmp_path / "made.gguf", layers)
