"""Evidence files that are subtracted from each other, named in a case."""

from __future__ import annotations

from pathlib import Path

import pytest

from specrules.catalog.case import load_case
from specrules.errors import EvidenceError
from specrules.pipeline.evidence import Gathered, gather

from .build import catalog

CASE = """\
schema: 1
target: {name: big}
drafter: {name: small, class: model}
engine: llama.cpp
evidence:
"""
DUMP = """\
llamacpp:tokens_predicted_total %s
llamacpp:tokens_predicted_seconds_total %s
llamacpp:spec_decode_num_draft_tokens_total %s
llamacpp:spec_decode_num_accepted_tokens_total %s
llamacpp:spec_decode_num_drafts_total %s
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Dumps of a server that drafted well at first and hardly later: taken at its start, in between and at the end."""
    for name, numbers in (
        ("a", (1000, 10, 900, 800, 200)),
        ("b", (1500, 30, 2400, 850, 650)),
        ("low", (1, 1, 1, 1, 1)),
    ):
        (tmp_path / f"{name}.txt").write_text(DUMP % numbers)
    return tmp_path


def gathered(folder: Path, *entries: str) -> Gathered:
    case = folder / "case.yaml"
    case.write_text(CASE + "".join(f"  - {{{entry}}}\n" for entry in entries))
    return gather(load_case(case), catalog())


def test_only_what_happened_in_between_counts(folder: Path) -> None:
    whole = gathered(folder, "path: b.txt, arm: incumbent").facts
    found = gathered(folder, "path: b.txt, before: a.txt, arm: incumbent")
    assert whole.number("incumbent.rate_tok_s") == 50
    assert found.facts.number("incumbent.rate_tok_s") == 25
    assert found.facts.number("incumbent.tokens_per_round") == 1 + 50 / 450
    source = found.facts["incumbent.tokens"].provenance.source
    assert source == f"{folder / 'b.txt'}:1 less {folder / 'a.txt'}"
    assert found.warnings == ()


def test_both_files_are_in_the_digest(folder: Path) -> None:
    first = gathered(folder, "path: b.txt, before: a.txt, arm: incumbent").digests
    assert [item.name for item in first] == ["0:b.txt", "0:a.txt"]
    (folder / "a.txt").write_text(DUMP % (999, 10, 900, 800, 200))
    second = gathered(folder, "path: b.txt, before: a.txt, arm: incumbent").digests
    assert (first[0] == second[0], first[1] == second[1]) == (True, False)


def test_an_idle_window_leaves_the_arm_unknown_and_is_said(folder: Path) -> None:
    found = gathered(folder, "path: b.txt, before: b.txt, arm: incumbent")
    assert "incumbent.drafting" not in found.facts
    assert "incumbent.tokens" not in found.facts
    assert len(found.warnings) == 1
    assert "idle window" in found.warnings[0]


def test_a_restart_in_between_and_files_that_cannot_be_read_are_all_reported(folder: Path) -> None:
    with pytest.raises(EvidenceError) as caught:
        gathered(
            folder,
            "path: low.txt, before: a.txt, arm: incumbent",
            "path: b.txt, before: none.txt, arm: off",
            "path: b.txt, before: '-', arm: off",
        )
    shown = [problem.render() for problem in caught.value.problems]
    assert len(shown) == 5 + 1 + 1
    assert shown[0].startswith(f"{folder / 'low.txt'}:1: llamacpp:tokens_predicted_total went down from 1000 (")
    assert shown[5] == f"{folder / 'none.txt'}: cannot be read: No such file or directory"
    assert shown[6].splitlines()[0].endswith("standard input cannot be the evidence of a case: name a file")
