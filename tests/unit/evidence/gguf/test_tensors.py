from __future__ import annotations

import subprocess
import sys

import pytest
from gguf.constants import GGML_QUANT_SIZES

from specrules.evidence.gguf import GgufError, TensorInfo, tensor_bytes
from specrules.evidence.gguf.tensors import block_sizes, too_many_elements


def test_the_sizes_are_those_of_the_gguf_package_but_for_two() -> None:
    sizes = dict(block_sizes())
    assert sizes.pop(42) == (64, 18)
    assert sizes.pop(9) == (32, 36)
    theirs = {int(kind): pair for kind, pair in GGML_QUANT_SIZES.items() if int(kind) not in {9, 42}}
    assert sizes == theirs
    assert len(sizes) >= 25


@pytest.mark.parametrize("first", ["", "import gguf.constants;"])
def test_the_sizes_are_the_same_whether_the_package_was_imported_before(first: str) -> None:
    code = f"{first}from specrules.evidence.gguf.tensors import block_sizes; print(sorted(block_sizes().items()))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == str(sorted(block_sizes().items()))


@pytest.mark.parametrize(
    ("shape", "kind", "size"),
    [
        ((), 0, 4),
        ((576, 49152), 8, 576 * 49152 // 32 * 34),
        ((4096, 14336), 12, 4096 * 14336 // 256 * 144),
        ((32, 3, 2), 1, 384),
        ((0, 5), 0, 0),
    ],
)
def test_the_bytes_of_a_tensor(shape: tuple[int, ...], kind: int, size: int) -> None:
    assert tensor_bytes(TensorInfo("t", shape, kind, 0)) == size


def test_a_row_of_half_a_block_and_an_unknown_type_have_no_size() -> None:
    with pytest.raises(GgufError, match=r"rows of 48 elements, and its type has blocks of 32"):
        tensor_bytes(TensorInfo("t", (48, 2), 8, 0))
    with pytest.raises(GgufError, match=r"type 1000, which is unknown here \(a newer release"):
        tensor_bytes(TensorInfo("t", (32,), 1000, 0))


@pytest.mark.parametrize(
    ("shape", "too_many"),
    [
        ((), False),
        ((2**63 - 2,), False),
        ((2**63 - 1,), False),
        ((1, 2**62 - 1), False),
        ((1, 2**62), False),
        ((3, 2**62), True),
        ((2**31, 2**31), False),
        ((2**31, 2**32), True),
        ((2**16, 2**16, 2**16, 2**14), False),
        ((2**16, 2**16, 2**16, 2**15), True),
        ((2**40, 2**40, 0), True),
        ((0, 2**40, 2**40), False),
        ((2**40, 0, 2**40), False),
        ((0, 2**64 - 1), True),
        ((2**63,), True),
    ],
)
def test_shapes_that_cannot_be_counted(shape: tuple[int, ...], too_many: bool) -> None:
    assert too_many_elements(shape) is too_many


def test_elements() -> None:
    assert TensorInfo("t", (3, 5), 0, 0).elements == 15
    assert TensorInfo("t", (), 0, 0).elements == 1
