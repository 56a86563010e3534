from __future__ import annotations

from pathlib import Path

import pytest

from specrules.errors import EvidenceError
from specrules.evidence.gguf import GgufError, load_model, read_model, shards
from specrules.evidence.gguf.shards import shard_names
from tests.unit.evidence.gguf.build import LITTLE as B

UINT16, INT32 = 2, 5


def shard(number: int, count: int, total: int, tensors: list[bytes], *more: bytes) -> bytes:
    split = [B.number("split.no", UINT16, number), B.number("split.count", UINT16, count)]
    return B.file([*split, B.number("split.tensors.count", INT32, total), *more], tensors, 256)


def write(folder: Path, *files: bytes, count: int = 0) -> list[Path]:
    paths = [folder / f"m-{number:05d}-of-{count or len(files):05d}.gguf" for number in range(1, len(files) + 1)]
    for path, data in zip(paths, files, strict=True):
        path.write_bytes(data)
    return paths


def three(total: int = 3) -> list[bytes]:
    words = B.strings("tokenizer.ggml.tokens", ["a", "b"])
    return [
        shard(0, 3, total, [], B.string("general.architecture", "llama"), words),
        shard(1, 3, total, [B.tensor("a"), B.tensor("b", (32,), 0, 128)]),
        shard(2, 3, total, [B.tensor("c")]),
    ]


def test_names() -> None:
    names = ("m-00001-of-00003.gguf", "m-00002-of-00003.gguf", "m-00003-of-00003.gguf")
    assert all(shard_names(name) == names for name in names)
    assert shard_names("x-00001-of-00002-00002-of-00002.gguf")[0] == "x-00001-of-00002-00001-of-00002.gguf"
    for single in (
        "m.gguf",
        "m-1-of-3.gguf",
        "m-00001-of-00003.gguf.part",
        "-00001-of-00003",
        "m-0000\u0661-of-00003.gguf",
    ):
        assert shard_names(single) == (single,)


@pytest.mark.parametrize("name", ["m-00000-of-00003.gguf", "m-00004-of-00003.gguf", "m-00001-of-00000.gguf"])
def test_numbers_that_cannot_be(name: str) -> None:
    with pytest.raises(GgufError, match=r"there is no file \d of \d"):
        shard_names(name)


def test_more_files_than_a_model_has() -> None:
    with pytest.raises(GgufError, match="has 99999 files, and at most 2000 are read"):
        shard_names("m-00001-of-99999.gguf")


def test_any_file_stands_for_all(tmp_path: Path) -> None:
    paths = write(tmp_path, *three())
    for path in paths:
        assert shards(path) == tuple(paths)
        model = read_model(path)
        assert [tensor.name for tensor in model.tensors] == ["a", "b", "c"]
        assert list(model.values["tokenizer.ggml.tokens"]) == ["a", "b"]
        assert model.name == str(paths[0])
        assert [header.name for header in model.shards] == [str(each) for each in paths]
        assert [len(header.tensors) for header in model.shards] == [0, 2, 1]


def test_identity_needs_the_first_file_alone(tmp_path: Path) -> None:
    paths = write(tmp_path, *three())
    paths[2].unlink()
    model = read_model(paths[1], identity_only=True)
    assert model.name == str(paths[0])
    assert model.tensors == ()
    assert load_model(str(paths[1]), identity_only=True).values["general.architecture"] == "llama"


def test_all_missing_files_are_named_at_once(tmp_path: Path) -> None:
    paths = write(tmp_path, *three())
    for path in paths[1:]:
        path.unlink()
    with pytest.raises(EvidenceError) as caught:
        read_model(paths[0])
    assert [str(problem.where) for problem in caught.value.problems] == [str(path) for path in paths[1:]]


def test_a_file_that_is_not_split_stands_for_itself(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(B.file([B.number("split.count", UINT16, 0)], [B.tensor("t")]))
    assert shards(path) == (path,)
    assert [tensor.name for tensor in read_model(path).tensors] == ["t"]
    assert read_model(path).shards == ()


def test_files_that_were_exchanged(tmp_path: Path) -> None:
    first, second, third = three()
    paths = write(tmp_path, first, third, second)
    with pytest.raises(GgufError, match=r"split.no is 2, and this is taken for file 1, counted from 0"):
        read_model(paths[0])


def test_a_later_file_under_another_name_has_no_identity(tmp_path: Path) -> None:
    path = tmp_path / "renamed.gguf"
    path.write_bytes(three()[1])
    with pytest.raises(GgufError, match=r"split.no is 1, and this is taken for file 0"):
        read_model(path, identity_only=True)


def test_a_first_file_under_another_name_has_an_identity_but_not_all_tensors(tmp_path: Path) -> None:
    path = tmp_path / "renamed.gguf"
    path.write_bytes(three()[0])
    assert read_model(path, identity_only=True).values["general.architecture"] == "llama"
    with pytest.raises(GgufError, match=r"split.count is 3, and by its name the model has 1 \(a split model is named"):
        read_model(path)


def test_files_without_the_keys_of_a_split(tmp_path: Path) -> None:
    paths = write(tmp_path, B.file([]), B.file([]))
    with pytest.raises(GgufError, match=r"split.count is 1, and by its name the model has 2"):
        read_model(paths[0])


def test_a_count_of_tensors_that_is_not_reached(tmp_path: Path) -> None:
    paths = write(tmp_path, *three(total=4))
    with pytest.raises(GgufError, match=r"split.tensors.count is 4, and the files have 3 tensors"):
        read_model(paths[0])


def test_a_tensor_in_two_files(tmp_path: Path) -> None:
    paths = write(tmp_path, shard(0, 2, 2, [B.tensor("t")]), shard(1, 2, 2, [B.tensor("t")]))
    with pytest.raises(GgufError, match=r"00002-of-00002.gguf: the tensor 't' is in .*00001-of-00002.gguf as well"):
        read_model(paths[0])
