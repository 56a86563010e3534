"""llama.cpp's check, evaluated from headers, against the engine's own answers."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from specrules.catalog.catalogue import Catalog
from specrules.pipeline.tokenizer import EngineAnswer, tokenizers

from .build import gguf_file
from .truth import TRUTH, Variant

RECORDINGS = Path(__file__).parents[3] / "data" / "recordings" / "llama.cpp-b11434"


@cache
def catalog() -> Catalog:
    return Catalog.load()


def answer(folder: Path, variant: Variant) -> EngineAnswer:
    target = gguf_file(folder / "target.gguf", **variant.target)
    drafter = gguf_file(folder / "drafter.gguf", **variant.drafter)
    (found,) = tokenizers(target, drafter, "llama.cpp", catalog=catalog()).answers
    return found


@pytest.mark.parametrize("name", TRUTH)
def test_the_rule_agrees_with_the_engine(tmp_path: Path, name: str) -> None:
    found = answer(tmp_path, TRUTH[name])
    assert found.drafts is TRUTH[name].drafts
    assert found.answer == ("accepted" if TRUTH[name].drafts else "refused-silently")


RECORDED = {name: variant.recording for name, variant in TRUTH.items() if variant.recording}


@pytest.mark.parametrize("name", RECORDED)
def test_the_rule_agrees_with_the_recorded_servers(tmp_path: Path, name: str) -> None:
    log = (RECORDINGS / f"{RECORDED[name]}.log").read_text(encoding="utf-8")
    found = answer(tmp_path, TRUTH[name])
    assert found.drafts is ("draft acceptance" in log)
    assert found.log_text in log
    assert bool(found.log_text) is not found.drafts


def test_the_table_has_every_recorded_variant() -> None:
    recorded = {path.stem for path in RECORDINGS.glob("d_*.log")}
    assert recorded == {name for name in RECORDED.values() if name != "self"}
    assert len(recorded) == 8
