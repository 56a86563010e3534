"""Several cases side by side, the fastest candidate first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from specrules.model.rule import VerdictName
from specrules.model.verdict import ArmName, Speedup, Verdict
from specrules.report.context import arm_of


@dataclass(frozen=True)
class RankingRow:
    """One case in the ranking."""

    case: str
    verdict: VerdictName
    best: ArmName
    draft_length: int | None
    candidate_tok_s: float | None
    incumbent_tok_s: float | None
    speedup: Speedup


def ranking(verdicts: Sequence[Verdict]) -> tuple[RankingRow, ...]:
    """Return one row per verdict by falling candidate rate; unknown rates come last, ties stay in the given order."""
    rows = [_row(verdict) for verdict in verdicts]
    return tuple(sorted(rows, key=lambda row: (row.candidate_tok_s is None, -(row.candidate_tok_s or 0.0))))


def _row(verdict: Verdict) -> RankingRow:
    candidate = arm_of(verdict, "candidate")
    return RankingRow(
        case=verdict.case,
        verdict=verdict.verdict,
        best=verdict.best,
        draft_length=candidate.draft_length,
        candidate_tok_s=candidate.rate_tok_s,
        incumbent_tok_s=arm_of(verdict, "incumbent").rate_tok_s,
        speedup=verdict.speedup,
    )
