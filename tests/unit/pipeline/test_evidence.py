from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from specrules.catalog.case import LoadedCase, load_case
from specrules.errors import EvidenceError
from specrules.pipeline.evidence import Gathered, gather

from .build import EXAMPLES, catalog

SELF_DRAFT = EXAMPLES / "smollm2-self-draft"


def gathered(loaded: LoadedCase) -> Gathered:
    return gather(loaded, catalog())


def copy(folder: Path, *changes: tuple[str, str]) -> Path:
    """The drafting example in a folder of its own, with its case changed."""
    for path in SELF_DRAFT.glob("*"):
        shutil.copy(path, folder)
    case = folder / "drafting.yaml"
    text = case.read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    case.write_text(text, encoding="utf-8")
    return case


def test_without_evidence_there_is_what_the_case_states() -> None:
    found = gathered(load_case(EXAMPLES / "frank-large-27b.yaml"))
    assert found.facts.number("incumbent.rate_tok_s") == 25
    assert found.facts["incumbent.rate_tok_s"].provenance.source.startswith("what the operator sees (")
    assert (found.state.disagreements, found.state.unread_lines, found.warnings, found.digests) == ((), 0, (), ())


def test_files_are_read_beside_the_case_and_their_facts_belong_to_their_arm() -> None:
    found = gathered(load_case(SELF_DRAFT / "drafting.yaml"))
    assert found.facts.number("candidate.rounds") == 13
    assert found.facts.value("incumbent.drafting") is False
    rounds = found.facts["candidate.rounds"].provenance
    assert rounds.kind == "from-file"
    assert "self4.log" in rounds.source
    assert rounds.observed_at is not None
    assert rounds.observed_at.date().isoformat() == "2026-11-01"
    assert (found.state.disagreements, found.state.contradictions, found.state.unread_lines) == ((), (), 0)
    assert len(found.digests) == 8


def test_every_file_is_announced() -> None:
    said: list[str] = []
    gather(load_case(SELF_DRAFT / "refused.yaml"), catalog(), said.append)
    assert said[0] == "reading base.log"
    assert said[-1] == "reading d_tok30000.response.json"
    assert len(said) == 8


def test_what_the_case_states_is_used_and_what_a_file_says_otherwise_is_a_disagreement(tmp_path: Path) -> None:
    case = copy(tmp_path, ("workload: {", "incumbent: {drafting: true}\nworkload: {"))
    found = gathered(load_case(case))
    assert found.facts.value("incumbent.drafting") is True
    assert {item.name for item in found.state.disagreements} == {"incumbent.drafting"}
    assert "but false according to" in found.state.disagreements[0].describe()


def test_counters_of_another_run_contradict(tmp_path: Path) -> None:
    case = copy(tmp_path)
    metrics = tmp_path / "self4.metrics.txt"
    text = metrics.read_text(encoding="utf-8")
    assert "num_accepted_tokens_total 50" in text
    metrics.write_text(text.replace("num_accepted_tokens_total 50", "num_accepted_tokens_total 60"), encoding="utf-8")
    found = gathered(load_case(case))
    assert any("60 tokens accepted of 50 drafted" in line for line in found.state.contradictions)
    assert all(line.startswith(str(metrics)) for line in found.state.contradictions)
    assert {item.name for item in found.state.disagreements} >= {"candidate.accepted"}


def test_a_changed_file_changes_the_digest(tmp_path: Path) -> None:
    case = copy(tmp_path)
    before = gathered(load_case(case)).digests
    (tmp_path / "base.log").write_text((tmp_path / "base.log").read_text(encoding="utf-8") + "\n", encoding="utf-8")
    after = gathered(load_case(case)).digests
    assert [one == other for one, other in zip(before, after, strict=True)] == [False] + [True] * 7


def test_the_problems_of_all_files_are_named_at_their_place(tmp_path: Path) -> None:
    case = copy(tmp_path, ("{path: base.log,", "{path: gone.log,"), ("{path: self4.log,", "{path: README.md,"))
    with pytest.raises(EvidenceError) as error:
        gathered(load_case(case))
    first, second = error.value.problems
    lines = case.read_text(encoding="utf-8").splitlines()
    assert first.where is not None
    assert second.where is not None
    assert "gone.log" in lines[first.where.line - 1] or first.where.path.endswith("gone.log")
    assert "README.md" in first.message + second.message + second.where.path


def test_a_file_of_an_engine_that_nobody_described(tmp_path: Path) -> None:
    case = copy(tmp_path, ("{path: base.log, arm", "{path: base.log, engine: llama.cqp, arm"))
    with pytest.raises(EvidenceError, match=r"drafting\.yaml:\d+:\d+: no engine 'llama\.cqp'"):
        gathered(load_case(case))


def test_standard_input_is_no_evidence_of_a_case(tmp_path: Path) -> None:
    case = copy(tmp_path, ("{path: base.log,", '{path: "-",'))
    with pytest.raises(EvidenceError, match="standard input cannot be the evidence of a case"):
        gathered(load_case(case))
