"""Rows of a casebook as cases: what was known before deploying, and what one speculative run at another depth adds.

A case never holds the row's own rate with drafting. Rates are relative: where a source states no plain step, any step
serves, since only the ratio is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from casebook_rows import CLASSES, Row

from specrules.catalog.case import LoadedCase
from specrules.catalog.catalogue import Catalog
from specrules.catalog.digest import file_digest
from specrules.catalog.document import Document, Source, Spot
from specrules.derive.priors import Beliefs, beliefs
from specrules.model.case import Case
from specrules.model.prior import GroupFile, PriorFile

UNIT_STEP_MS = 20.0
ERROR = 0.03
"""Of tokens per round: the same that the policy takes of rates whose error nobody states."""
ENGINES = (
    (r"sglang", "sglang"),
    (r"vllm", "vllm"),
    (r"tensorrt|trt-?llm", "tensorrt-llm"),
    (r"ik_llama", "ik-llama.cpp"),
    (r"llama\.cpp|llama-cpp|llamasharp|lucebox", "llama.cpp"),
    (r"ollama", "ollama"),
    (r"lm ?studio", "lm-studio"),
    (r"exllama|tabby", "tabbyapi"),
    (r"mlx", "mlx-lm"),
)
"""Engines of the catalogue by what a casebook calls them."""
NEUTRAL_ENGINE = "transformers"
"""Stands for engines that the catalogue does not know: it neither limits K nor adds a batch to the round."""
_ALL_ACCEPTED = 0.995


@lru_cache(maxsize=1)
def groups() -> GroupFile:
    """The shipped groups of hardware and tasks."""
    return Catalog.load().only(GroupFile, "groups", "groups").model


_NO_PRIORS = PriorFile(schema=1, id="priors", fitted_by="", fitted_on="2026-01-01", priors=())  # type: ignore[arg-type]


def groups_of(row: Row) -> Beliefs:
    """The groups that a row's hardware and task belong to."""
    return beliefs(Case.model_validate(_known(row)), _NO_PRIORS, groups())


def engine_of(row: Row) -> str:
    """The engine of the catalogue that is nearest to the row's."""
    stated = (row.text("engine") or "").lower()
    return next((name for pattern, name in ENGINES if re.search(pattern, stated)), NEUTRAL_ENGINE)


def before(row: Row, engine: str | None = None) -> dict[str, Any]:
    """The case before anything was deployed."""
    data = _known(row)
    data["engine"]["id"] = engine or engine_of(row)
    if row.drafts_in_a_share is not None:
        data["drafter"]["coverage"] = _exact(row.drafts_in_a_share, "share")
    acceptance = _acceptance(row)
    if acceptance is not None:
        data["measurements"] = {"acceptance": acceptance}
    return data


def after(row: Row, run: Row, engine: str | None = None) -> dict[str, Any]:
    """The same with one speculative run at another depth."""
    data = before(row, engine)
    measurements: dict[str, Any] = data.setdefault("measurements", {})
    candidate: dict[str, Any] = {"drafting": True, "draft_length": run.depth}
    candidate["rate_tok_s"] = _exact((run.speedup or 0) * 1000 / (row.step_ms or UNIT_STEP_MS), "tok/s")
    if run.tokens_per_round is not None:
        candidate["tokens_per_round"] = {"unit": "tokens"} | _within(run.tokens_per_round, run.depth or 1)
        if "acceptance" not in measurements:
            measurements["acceptance"] = _tokens(run.tokens_per_round, run.depth or 1)
    measurements["candidate"] = candidate
    return data


def runs_for(row: Row, rows: Iterable[Row]) -> list[Row]:
    """The runs of the same pair, machine, engine and settings at another depth, best first.

    That is the same text, then the nearest depth, then the longer one, whose round holds fixed costs to a smaller
    part. A run on another text says what a round costs only where its tokens per round and those of the row are known.
    Trees of another shape are another configuration, not another depth, and so are drafters of another name.
    """
    depth = row.depth
    if depth is None:
        return []
    found = [run for run in rows if run is not row and _is_another_depth(row, run)]
    return sorted(found, key=lambda run: (not _same(row, run, _TEXT), *_apart(depth, run.depth or 0), run.id))


def _apart(depth: int, other: int) -> tuple[int, int]:
    return abs(other - depth), -other


_PAIR: tuple[Callable[[Row], object], ...] = (
    lambda row: row.source,
    lambda row: row.hardware,
    lambda row: row.text("target", "model"),
    lambda row: row.text("target", "quant"),
    lambda row: row.kind,
    lambda row: row.stated_class,
    lambda row: row.text("drafter", "model"),
    lambda row: row.text("engine"),
    lambda row: row.text("engine_version"),
    lambda row: row.batch,
    lambda row: row.number("settings", "p_min"),
    lambda row: row.text("settings", "tree"),
)
_TEXT: tuple[Callable[[Row], object], ...] = (
    lambda row: row.text("settings", "task"),
    lambda row: row.number("settings", "context"),
    lambda row: row.number("settings", "temperature"),
)


def _same(row: Row, other: Row, parts: Sequence[Callable[[Row], object]]) -> bool:
    return all(part(row) == part(other) for part in parts)


def _is_another_depth(row: Row, run: Row) -> bool:
    if run.speedup is None or run.depth in {None, row.depth} or not _same(row, run, _PAIR):
        return False
    counted = row.tokens_per_round is not None and run.tokens_per_round is not None
    return counted or _same(row, run, _TEXT)


def _known(row: Row) -> dict[str, Any]:
    step = row.step_ms or UNIT_STEP_MS
    workload = {
        "concurrency": row.batch,
        "temperature": row.number("settings", "temperature"),
        "task": row.text("settings", "task"),
    }
    data: dict[str, Any] = {
        "schema": 1,
        "title": row.id,
        "target": {"name": row.text("target", "model") or "target", "kind": row.kind},
        "drafter": {"name": row.text("drafter", "model") or "drafter", "class": CLASSES[row.stated_class or ""]},
        "engine": {"id": NEUTRAL_ENGINE, "draft_length": row.depth},
        "host": {"name": row.hardware},
        "workload": workload,
        "incumbent": {"drafting": False, "rate_tok_s": _exact(1000 / step, "tok/s")},
    }
    if row.drafter_step_ms is not None:
        data["drafter"]["step_ms"] = _exact(row.drafter_step_ms, "ms")
    return data


def _acceptance(row: Row) -> dict[str, Any] | None:
    if row.tokens_per_round is not None and row.depth is not None:
        return _tokens(1 + (row.tokens_per_round - 1) / (row.drafts_in_a_share or 1), row.depth)
    if row.accepted_ratio is not None and row.accepted_ratio >= _ALL_ACCEPTED:
        return {"kind": "conditional", "value": 1.0, "source": "every drafted token was accepted"}
    return None


def _tokens(tokens: float, depth: int) -> dict[str, Any]:
    return {"kind": "tokens_per_round", "draft_length": depth} | _within(tokens, depth)


def _within(tokens: float, depth: int) -> dict[str, float]:
    """Tokens per round with the error that is taken where a source states none."""
    value = min(tokens, depth + 1.0)
    return {"value": value, "low": max(1.0, value * (1 - ERROR)), "high": min(depth + 1.0, value * (1 + ERROR))}


def _exact(value: float, unit: str) -> dict[str, Any]:
    return {"value": value, "unit": unit}


def loaded(data: dict[str, Any], name: str) -> LoadedCase:
    """A case as it would be read from a file. A pydantic ValidationError where it is none."""
    source = Source(name, "")
    document = Document(source, data, Spot(source, 0, {}))
    return LoadedCase(Case.model_validate(data), document, Path(), file_digest(name, name.encode()))
