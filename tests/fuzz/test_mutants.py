"""The checks of the fuzzer on its seeds and on a few hundred mutants, so that the script stays in working order."""

from __future__ import annotations

import random
import zlib

import pytest

from tests.fuzz.gguf_header_atheris import Checks, outcome, seeds
from tests.fuzz.mutation import Mutator, split
from tests.unit.evidence.gguf.build import toy


@pytest.fixture(scope="module")
def files() -> list[bytes]:
    return [data for data in seeds() if len(data) < 20_000]


@pytest.fixture(scope="module")
def checks() -> Checks:
    return Checks(None)


def one_byte(data: bytes, size: int) -> bytes:
    chance = random.Random(zlib.crc32(data))  # noqa: S311
    at = chance.randrange(len(data) + 1)
    return (data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :])[:size]


def test_no_seed_is_a_finding(files: list[bytes], checks: Checks) -> None:
    assert len(files) >= 250
    for data in files:
        checks(data)


def test_no_mutant_is_a_finding(files: list[bytes], checks: Checks) -> None:
    mutate = Mutator(files, one_byte)
    for seed in range(300):
        checks(mutate(files[seed * 7 % len(files)], 20_000, seed))


def test_a_file_is_its_parts_and_a_third_of_its_mutants_are_read(files: list[bytes]) -> None:
    parts = split(toy())
    assert parts is not None
    assert parts.joined() == toy()
    assert (len(parts.keys), len(parts.tensors)) == (24, 2)
    mutate = Mutator(files, one_byte)
    mutants = {mutate(toy(), 20_000, seed) for seed in range(100)}
    assert len(mutants) >= 60  # the others change the same byte
    read = [data for data in mutants if not isinstance(outcome(data, [], identity_only=True), str)]
    assert len(read) >= len(mutants) / 3


def test_what_the_checks_would_say(checks: Checks, monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("specrules.evidence.tokenizers.from_gguf._special_ids", breaks)
    with pytest.raises(ZeroDivisionError):
        checks(toy())
