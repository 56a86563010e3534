"""Cases from settings, judged with the shipped catalogue at one moment."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from specrules.catalog.catalogue import Catalog
from specrules.model.verdict import Gate, Verdict
from specrules.pipeline.triage import triage

NOW = datetime(2026, 11, 29, tzinfo=UTC)
EXAMPLES = Path(__file__).parents[3] / "examples"

DEPLOY = (
    "target.checkpoint=big",
    "target.kind=dense",
    "target.device=CUDA0",
    "drafter.class=block",
    "drafter.trained_for=big",
    "drafter.device=CUDA0",
    "engine={id: llama.cpp, version: b11434, methods: [draft-dflash], backends: [CUDA]}",
    "engine.flags=[--spec-type draft-dflash, -md d.gguf, --spec-draft-n-max 7]",
    "engine.draft_length=7",
    "workload.concurrency=1",
    "incumbent.drafting=false",
    "incumbent.rate_tok_s=18.8",
    "incumbent.rate_kind=decode",
    "measurements.candidate.drafting=true",
    "measurements.candidate.draft_length=7",
    "measurements.candidate.rate_tok_s=43.5",
    "measurements.candidate.rate_kind=decode",
    "measurements.candidate.tokens_per_round=3.87",
)
"""A measured run of a head that more than doubles the rate, and everything that the gates want to know."""


@cache
def catalog() -> Catalog:
    return Catalog.load(environ={})


def judge(*settings: str, without: Iterable[str] = ()) -> Verdict:
    """The verdict on a case that is nothing but settings, less those whose path is in `without`."""
    left_out = set(without)
    return _judged(tuple(setting for setting in settings if setting.partition("=")[0] not in left_out))


@cache
def _judged(settings: tuple[str, ...]) -> Verdict:
    return triage(None, catalog=catalog(), now=NOW, settings=settings)


def gate(found: Verdict, name: str) -> Gate:
    return next(item for item in found.gates if item.id == name)


def arms(found: Verdict) -> dict[str, Any]:
    return {arm.name: arm for arm in found.alternatives}
