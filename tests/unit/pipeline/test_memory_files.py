"""What the headers of a case's files say of memory, beside what the case states."""

from __future__ import annotations

from pathlib import Path

import pytest

from specrules.catalog.case import LoadedCase, load_case
from specrules.pipeline.evidence import Gathered, gather
from specrules.pipeline.memory_files import with_memory
from specrules.pipeline.sources import Sources
from specrules.pipeline.triage import triage
from tests.unit.evidence.gguf.server import serving
from tests.unit.evidence.memory import shapes
from tests.unit.evidence.memory.gguf_file import F32, write
from tests.unit.pipeline.build import catalog

CASE = """\
schema: 1
target: {{name: big, file: {target}, device: CUDA0}}
drafter: {{name: small, class: model, file: {drafter}{more}}}
engine: {{id: {engine}, flags: [-c 32768, -np 4]}}
host: {{devices: [{{name: CUDA0, memory_gib: 24}}]}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, shape in (("big", shapes.llama(32, 4096, 14336, 32)), ("small", shapes.llama(16, 2048, 8192, 32))):
        write(tmp_path / f"{name}.gguf", shape.values, shape.tensors)
    return tmp_path


def loaded(folder: Path, *, engine: str = "llama.cpp", more: str = "", **files: str) -> LoadedCase:
    names = {"target": "big.gguf", "drafter": "small.gguf"} | files
    (folder / "case.yaml").write_text(CASE.format(engine=engine, more=more, **names), encoding="utf-8")
    return load_case(folder / "case.yaml")


def added(case: LoadedCase) -> Gathered:
    return with_memory(gather(case, catalog()), case, catalog())


def test_both_facts_come_from_the_headers(folder: Path) -> None:
    found = added(loaded(folder))
    assert found.facts.number("drafter.memory_gib") == pytest.approx(1.914, abs=0.001)
    assert found.facts.number("drafter.device_free_gib") == pytest.approx(14.23, abs=0.01)
    assert found.warnings == ()


def test_what_the_case_states_stays_in_use_and_is_compared(folder: Path) -> None:
    found = added(loaded(folder, more=", memory_gib: 1.2"))
    assert found.facts.number("drafter.memory_gib") == 1.2
    (warning,) = found.warnings
    assert warning.startswith("drafter.memory_gib is 1.2 GiB in the case, and 1.80 to 1.91 GiB by headers of ")


def test_a_stated_size_within_the_interval_is_no_news(folder: Path) -> None:
    assert added(loaded(folder, more=", memory_gib: 1.85")).warnings == ()


def test_an_alias_of_the_engine_will_do(folder: Path) -> None:
    alias = catalog().engine("llama.cpp").model.aliases[0]
    assert "drafter.memory_gib" in added(loaded(folder, engine=alias)).facts


def test_another_engine_gets_nothing(folder: Path) -> None:
    assert "drafter.memory_gib" not in added(loaded(folder, engine="vllm")).facts


def test_a_tokenizer_file_says_nothing_of_memory(folder: Path) -> None:
    (folder / "tokenizer.json").write_text("{}", encoding="utf-8")
    found = added(loaded(folder, drafter="tokenizer.json"))
    assert "drafter.memory_gib" not in found.facts
    assert found.warnings == ()
    assert added(loaded(folder, target="tokenizer.json")).warnings == ()


def test_a_tensor_of_unknown_type_is_a_warning_and_no_failure(folder: Path) -> None:
    path = write(folder / "odd.gguf", {"general.architecture": "llama"}, [("x", (32, 1), F32)])
    data = bytearray(path.read_bytes())
    # The type stands before the 64-bit offset, at the end of the description of the only tensor.
    place = data.index(b"x" + (2).to_bytes(4, "little")) + 1 + 4 + 16
    data[place : place + 4] = (999).to_bytes(4, "little")
    path.write_bytes(data)
    found = added(loaded(folder, drafter="odd.gguf"))
    (warning,) = found.warnings
    assert warning.startswith("no size of memory: ")
    assert "999" in warning
    assert "drafter.memory_gib" not in found.facts


def test_headers_from_addresses_give_the_same(folder: Path) -> None:
    here = added(loaded(folder)).facts
    files = {f"/{name}.gguf": (folder / f"{name}.gguf").read_bytes()[: 1 << 20] for name in ("big", "small")}
    with serving(files) as server:
        names = {"target": server.url("/big.gguf"), "drafter": server.url("/small.gguf")}
        case = loaded(folder, **names)
        found = with_memory(gather(case, catalog()), case, catalog(), Sources(folder, web=True))
        (warning,) = added(case).warnings
        refused = f"{server.url('/big.gguf')} is an address, and nothing is fetched unless --fetch says so"
        assert warning == f"no size of memory: {refused} (say --fetch, or name a file)"
    for name in ("drafter.memory_gib", "drafter.device_free_gib"):
        assert found.facts.number(name) == here.number(name)


def test_a_file_that_is_cut_short_is_sized_and_said(folder: Path) -> None:
    with (folder / "small.gguf").open("r+b") as file:
        file.truncate(1 << 20)
    found = added(loaded(folder))
    assert "drafter.memory_gib" in found.facts
    (warning,) = found.warnings
    assert warning.startswith(f"{folder / 'small.gguf'}: the tensor data end at ")
    assert warning.endswith("and the file has 1048576 bytes (is the download complete?)")
    assert added(loaded(folder, engine="vllm")).warnings == ()


def test_the_report_plans_with_what_the_headers_give(folder: Path) -> None:
    gates = {gate.id: gate for gate in triage(loaded(folder), catalog=catalog()).gates}
    assert gates["drafter-fits"].outcome == "pass"
    assert gates["drafter-fits"].substituted.startswith("12.")
