"""halogen-server: DFlash2 by default, nothing from outside, and no drafting with more than one slot."""

from __future__ import annotations

import pytest

from specrules.catalog.catalogue import Catalog
from specrules.evidence.readers.reading import Reading, read_text
from specrules.evidence.source import source_from_bytes
from specrules.model.engine import Engine


def _engine() -> Engine:
    return Catalog.load(environ={}).engine("halogen-server").model


def _read(*lines: str) -> Reading:
    return read_text(source_from_bytes("server.log", "".join(f"{line}\n" for line in lines).encode()), _engine())


def test_the_checkpoint_carries_both_drafters_and_no_other_comes_in() -> None:
    engine = _engine()
    assert engine.closed
    assert not engine.devices.draft_routing.possible
    assert [(method.id, method.drafter_class, method.draft_device) for method in engine.methods] == [
        ("dflash2", "block", "same-device"),
        ("mtp", "mtp-head", "same-device"),
    ]
    assert {method.max_draft_length for method in engine.methods} == {7}
    flags = {flag.name: flag for flag in engine.flags}
    assert (flags["HALOGEN_DRAFTER"].default, flags["HALOGEN_DRAFTER"].values) == ("2", ("0", "1", "2"))
    assert "HALOGEN_DRAFTER_DEFAULT" not in flags
    assert [refusal.text for refusal in engine.request_refusals] == [
        "drafter '{name}' unknown; use serial | mtp | dflash2",
        "drafter '{name}' unavailable: the loaded checkpoint cannot serve it",
    ]
    (combination,) = engine.combinations
    assert combination.status == "refused"


def test_slots_end_drafting_without_a_word() -> None:
    engine = _engine()
    refusal = next(item for item in engine.start_refusals if item.id == "slots-end-drafting")
    assert (refusal.effect, refusal.text) == ("drafting-off", "")
    flags = {flag.name: flag.default for flag in engine.flags}
    assert flags["HALOGEN_KV_SLOTS"] == "1"
    assert all("HALOGEN_KV_SLOTS=1" in method.switch_on for method in engine.methods)
    assert engine.synthetic_acceptance == ()


def test_commit_is_read_and_the_rate_recomputed() -> None:
    line = "serve_api: mtp 250 tok in 6.75s = 37.05 t/s | 153 rounds, commit 1.63/round | prompt 1287, prefill 1.26s"
    reading = _read(line, line.replace("250 tok in 6.75s", "100 tok in 2.70s").replace("153 rounds", "61 rounds"))
    facts = {name: fact.value for name, fact in reading.facts.items()}
    assert facts["drafting"] is True
    assert facts["method"] == "mtp"
    assert facts["tokens_per_round"] == pytest.approx(1.63)
    assert facts["rate_tok_s"] == pytest.approx(348 / 9.45)
    assert facts["round_ms"] == pytest.approx(9450 / 214)
    assert list(reading.facts["rate_tok_s"].samples) == pytest.approx([249 / 6.75, 99 / 2.7])
    assert reading.contradictions == ()


def test_a_log_of_two_drafters_is_said_to_mix_them() -> None:
    line = "serve_api: mtp 250 tok in 6.75s = 37.05 t/s | 153 rounds, commit 1.63/round"
    reading = _read(line, line.replace("mtp", "dflash2"))
    assert "method" not in reading.facts
    assert [problem.message for problem in reading.contradictions] == [
        "the log mixes requests of mtp,dflash2: their rounds and commits are those of no single drafter"
    ]


def test_undrafted_lines_and_unknown_ones() -> None:
    reading = _read(
        "serve_api: batch 128 tok in 3.60s = 35.56 t/s | prompt 1287 (1035 cached), prefill 1.26s | detok 31us/tok",
        "serve_api: mtp 12 tok in one go",
    )
    assert reading.facts["drafting"].value is False
    assert reading.facts["prompt_tokens"].value == 252
    assert "tokens_per_round" not in reading.facts
    assert reading.unread_lines == 1
