from __future__ import annotations

from pathlib import Path

import pytest

from specrules.evidence.gguf import HeaderParser, read_header, read_model, refusals
from specrules.evidence.gguf.arrays import host_order
from tests.unit.evidence.gguf.build import BIG, LITTLE, toy
from tests.unit.evidence.gguf.test_shards import shard, write

FOREIGN, OWN = (BIG, LITTLE) if host_order() == "little" else (LITTLE, BIG)


def reasons(tmp_path: Path, data: bytes) -> list[str]:
    path = tmp_path / "file.gguf"
    path.write_bytes(data)
    problems = refusals(read_header(path, identity_only=True))
    assert all(problem.where is not None and problem.where.path == str(path) for problem in problems)
    return [problem.message for problem in problems]


def test_a_good_file_is_not_refused(tmp_path: Path) -> None:
    assert reasons(tmp_path, toy(OWN)) == []
    assert reasons(tmp_path, OWN.header()) == []


def test_a_foreign_byte_order_is_refused_on_this_host(tmp_path: Path) -> None:
    order = "big" if FOREIGN is BIG else "little"
    message = f"the file is {order}-endian and this machine is not: llama.cpp refuses it here"
    assert reasons(tmp_path, toy(FOREIGN)) == [message]


def test_types_that_are_unknown_are_refused(tmp_path: Path) -> None:
    data = OWN.file([], [OWN.tensor("t", (32,), 1000)])
    assert reasons(tmp_path, data) == ["tensor 't' has the GGML type 1000, which is unknown here"]


@pytest.mark.parametrize(("kept", "refused"), [(128, False), (127, True), (0, True)])
def test_data_that_are_cut_short_are_refused(tmp_path: Path, kept: int, refused: bool) -> None:
    data = OWN.file([], [OWN.tensor("t")], kept)
    size = len(data)
    expected = [f"the tensor data end at {size - kept + 128}, and the file has {size} bytes"] if refused else []
    assert reasons(tmp_path, data) == expected


def test_padding_behind_the_last_tensor_is_not_wanted(tmp_path: Path) -> None:
    data = OWN.file([], [OWN.tensor("t", (1,))], 4)
    assert reasons(tmp_path, data) == []


def test_a_file_of_unknown_size_is_taken_to_be_whole() -> None:
    parser = HeaderParser("file")
    parser.feed(OWN.file([], [OWN.tensor("t")], 0))
    assert parser.header.file_bytes is None
    assert refusals(parser.header) == ()


def test_every_file_of_a_split_model_is_looked_at(tmp_path: Path) -> None:
    files = [shard(0, 2, 2, [LITTLE.tensor("a")]), shard(1, 2, 2, [LITTLE.tensor("b")])[:-200]]
    paths = write(tmp_path, *files)
    (problem,) = refusals(read_model(paths[0]))
    assert problem.where is not None
    assert problem.where.path == str(paths[1])
