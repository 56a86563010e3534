"""Files that a case names for target and drafter."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from specrules.catalog.case import LoadedCase, load_case
from specrules.derive.stated import stated_facts
from specrules.derive.values import EvidenceState
from specrules.errors import EvidenceError
from specrules.model.fact import Facts
from specrules.pipeline.evidence import Gathered
from specrules.pipeline.sources import Sources
from specrules.pipeline.tokenizer_files import with_files
from tests.unit.evidence.gguf.server import serving
from tests.unit.evidence.tokenizers.build import gguf_file

VOCABULARY = {"<s>": 0, **{f"word{number}": number for number in range(1, 150)}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A case folder with two models whose tokenizers are the same."""
    for name in ("large", "small"):
        (tmp_path / name).mkdir()
        write(tmp_path / name / "vocab.json", VOCABULARY)
        write(tmp_path / name / "config.json", {"vocab_size": 150, "bos_token_id": 0})
    return tmp_path


def write(path: Path, document: Any) -> None:
    path.write_text(json.dumps(document), encoding="utf-8")


def loaded(folder: Path, target: str = "file: large", drafter: str = "file: small") -> LoadedCase:
    path = folder / "case.yaml"
    sides = f"target:\n  name: big\n  {target}\ndrafter:\n  name: little\n  class: model\n  {drafter}\n"
    path.write_text(f"schema: 1\nengine: vllm\n{sides}")
    return load_case(path)


def gathered(case: LoadedCase) -> Gathered:
    return Gathered(Facts(stated_facts(case.case, case.place)), EvidenceState(), (), ())


def read(case: LoadedCase) -> Gathered:
    return with_files(gathered(case), case)


def test_facts_of_both_files_and_of_the_pair(folder: Path) -> None:
    found = read(loaded(folder))
    assert {name: fact.value for name, fact in found.facts.items() if "tokenizer" in name} == {
        "target.tokenizer.family": "gpt2",
        "target.tokenizer.size": 150.0,
        "target.tokenizer.bos_id": 0.0,
        "target.tokenizer.add_eos": False,
        "drafter.tokenizer.family": "gpt2",
        "drafter.tokenizer.size": 150.0,
        "drafter.tokenizer.bos_id": 0.0,
        "drafter.tokenizer.add_eos": False,
        "tokenizers.last_differing_id": -1.0,
    }
    size = found.facts["drafter.tokenizer.size"].provenance
    assert (size.kind, size.source) == ("from-file", str(folder / "small" / "vocab.json"))
    assert found.state.disagreements == ()


def test_a_file_on_one_side_says_nothing_of_the_pair(folder: Path) -> None:
    found = read(loaded(folder, drafter="device: CUDA0")).facts
    assert found.value("target.tokenizer.size") == 150.0
    assert not [name for name in found if name.startswith(("drafter.tokenizer", "tokenizers"))]


def test_a_case_without_files_stays_as_it_is(folder: Path) -> None:
    case = loaded(folder, target="device: CUDA0", drafter="device: CUDA0")
    before = gathered(case)
    assert with_files(before, case) is before


def test_what_the_case_states_stays_in_use_and_is_held_against_the_file(folder: Path) -> None:
    # A number that is close is another id: one percent is no tolerance here.
    case = loaded(folder, target="file: large\n  tokenizer: {size: 151, bos_id: 0, family: gpt2}")
    found = read(case)
    assert found.facts.value("target.tokenizer.size") == 151.0
    (one,) = found.state.disagreements
    assert one.describe() == (
        f"target.tokenizer.size is 151 according to {folder / 'case.yaml'}:6, "
        f"but 150 according to {folder / 'large' / 'vocab.json'}"
    )


def test_texts_that_differ(folder: Path) -> None:
    write(folder / "small" / "vocab.json", {**VOCABULARY, "word149": 148, "word148": 149})
    assert read(loaded(folder)).facts.value("tokenizers.last_differing_id") == 149.0


def test_what_a_file_leaves_open_is_said(folder: Path) -> None:
    (folder / "small" / "config.json").unlink()
    found = read(loaded(folder))
    assert "drafter.tokenizer.size" not in found.facts
    assert (
        f"{folder / 'small' / 'vocab.json'}: how many rows the model has is not known: "
        "there is no config.json with vocab_size beside it"
    ) in found.warnings


def test_the_digest_is_of_what_was_read(folder: Path) -> None:
    before = read(loaded(folder)).digests
    assert [digest.name for digest in before] == ["target:vocab.json", "drafter:vocab.json"]
    assert read(loaded(folder)).digests == before
    write(folder / "small" / "vocab.json", {**VOCABULARY, "word149": 148, "word148": 149})
    after = read(loaded(folder)).digests
    assert (after[0], after[1] != before[1]) == (before[0], True)


def test_problems_of_both_files_stand_where_the_case_names_them(folder: Path) -> None:
    case = loaded(folder, target="file: https://example.org/m.gguf", drafter="file: nowhere")
    with pytest.raises(EvidenceError) as caught:
        read(case)
    assert [str(problem.where) for problem in caught.value.problems] == [
        f"{folder / 'case.yaml'}:5:9",
        str(folder / "nowhere"),
    ]
    assert caught.value.problems[0].message == (
        "https://example.org/m.gguf is an address, and nothing is fetched unless --fetch says so"
    )


def test_addresses_are_fetched_where_they_may_be(folder: Path, tmp_path: Path) -> None:
    path = Path(gguf_file(tmp_path / "m.gguf"))
    with serving({"/m.gguf": path.read_bytes()}) as server:
        case = loaded(folder, target=f"file: {server.url('/m.gguf')}", drafter="file: m.gguf")
        said: list[str] = []
        found = with_files(gathered(case), case, said.append, Sources(folder, web=True))
    assert found.facts.value("tokenizers.last_differing_id") == -1.0
    assert found.facts["target.tokenizer.size"].provenance.source == server.url("/m.gguf")
    assert said == [f"reading {server.url('/m.gguf')}", "reading m.gguf"]
    assert [digest.name for digest in found.digests] == ["target:m.gguf", "drafter:m.gguf"]
    assert found.digests[0].sha256 == found.digests[1].sha256


@pytest.mark.parametrize(
    "address", ["https://me:hunter2@h/m.gguf", "https://h/m.gguf?hunter2", "https://h/m.gguf#hunter2"]
)
def test_nothing_secret_stands_in_a_case(folder: Path, address: str) -> None:
    case = loaded(folder, target=f"file: '{address}'")
    with pytest.raises(EvidenceError, match="do not belong into a case") as caught:
        with_files(gathered(case), case, None, Sources(folder, web=True))
    assert "hunter2" not in str(caught.value)
    assert caught.value.problems[0].where == case.location(("target", "file"))


def test_progress_names_the_files(folder: Path) -> None:
    case = loaded(folder)
    said: list[str] = []
    with_files(gathered(case), case, said.append)
    assert said == ["reading large", "reading small"]
