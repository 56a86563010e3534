from __future__ import annotations

from pathlib import Path

import pytest

from specrules.errors import CatalogError, EvidenceError
from specrules.pipeline.reading import other_engines, read

from .build import EXAMPLES, catalog

LOG = EXAMPLES / "smollm2-self-draft" / "self4.log"


def test_a_file_is_read_by_the_engine_that_knows_it() -> None:
    found = read(str(LOG), catalog=catalog())
    assert found.engine_id == "llama.cpp"
    assert found.facts.number("rounds") == 13
    assert found.facts.value("drafting") is True


def test_facts_take_the_name_of_their_arm() -> None:
    found = read(str(LOG), "llama.cpp", catalog=catalog(), arm="candidate")
    assert found.facts.number("candidate.rounds") == 13
    assert "rounds" not in found.facts


def test_an_alias_names_the_same_engine() -> None:
    assert read(str(LOG), "llama-server", catalog=catalog()).engine_id == "llama.cpp"


def test_a_file_of_another_engine_is_refused_and_that_one_named() -> None:
    with pytest.raises(EvidenceError, match=r"llama\.cpp"):
        read(str(LOG), "halogen-flash-server", catalog=catalog())


def test_an_engine_that_does_not_exist() -> None:
    with pytest.raises(CatalogError, match=r"no engine 'llama\.cqp'"):
        read(str(LOG), "llama.cqp", catalog=catalog())


def test_a_file_that_nobody_knows(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("nothing of this is evidence\n", encoding="utf-8")
    with pytest.raises(EvidenceError):
        read(str(tmp_path / "note.txt"), catalog=catalog())


def test_the_others_are_all_but_the_one() -> None:
    names = {engine.id for engine in other_engines(catalog(), "llama.cpp")}
    assert "llama.cpp" not in names
    assert names | {"llama.cpp"} == set(catalog().engine_ids)
