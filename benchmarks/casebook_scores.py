"""What a casebook run counts: decisions, whether they were right, and how the intervals hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from casebook_rows import CLASSES, NEUTRAL, Row

MARGIN = 0.05
FACTOR = 1.1
FREE = frozenset({"ngram", "suffix"})
DECISIONS = {"deploy": "win", "keep-incumbent": "loss"}


@dataclass(frozen=True)
class Judged:
    """A decision and the speedup that it rests on. None is unknown."""

    decision: str
    low: float | None
    mid: float | None
    high: float | None

    def line(self, row: Row, task: str) -> str:
        """The row as a line: what was said, what came out."""
        span = " ".join("-" if end is None else f"{end:.2f}" for end in (self.low, self.mid, self.high))
        seen = "-" if row.speedup is None else f"{row.speedup:.2f}"
        said = f"{task:14s} {self.decision:15s} [{span}] observed {seen} {row.outcome}"
        right = DECISIONS.get(self.decision)
        mark = "" if right is None or right == row.outcome else "  WRONG"
        return f"{said:78s} {row.id}{mark}"


def ceiling(row: Row) -> Judged:
    """What round = D + 1.1 t1 says: A / (D / t1 + 1.1), with D = 0 where nobody published it. Unknown without A."""
    tokens, depth = row.tokens_per_round, row.effective_depth
    if tokens is None:
        return Judged("measure-first", None, None, None)
    drafter = CLASSES[row.stated_class or ""]
    draft = 0.0
    if row.step_ms is not None and drafter not in FREE:
        if row.draft_round_ms is not None:
            draft = row.draft_round_ms / row.step_ms
        elif row.drafter_step_ms is not None:
            draft = row.drafter_step_ms / row.step_ms * (1 if drafter == "block" else depth or 1)
    found = tokens / (draft + FACTOR)
    decision = "deploy" if found > 1 + MARGIN else "keep-incumbent" if found < 1 else "marginal"
    return Judged(decision, None, found, None)


def scores(judged: Sequence[tuple[Row, Judged]]) -> dict[str, Any]:
    """The figures of some rows. All are counts but the median; it is None where no speedup can be compared."""
    of = {name: [(row, said) for row, said in judged if row.outcome == name] for name in ("win", "loss", "neutral")}
    errors = [abs(said.mid / row.speedup - 1) for row, said in judged if said.mid is not None and row.speedup]
    return {
        "rows": len(judged),
        "decided": sum(said.decision in DECISIONS for _, said in judged),
        "right": sum(DECISIONS.get(said.decision) == row.outcome for row, said in judged),
        "winners": len(of["win"]),
        "winners_rejected": sum(said.decision == "keep-incumbent" for _, said in of["win"]),
        "losers": len(of["loss"]),
        "losers_deployed": sum(said.decision == "deploy" for _, said in of["loss"]),
        "neutral": len(of["neutral"]),
        "invalid_evidence": sum(said.decision == "invalid-evidence" for _, said in judged),
        "sign_right": sum(_sign_is_right(row, said) for row, said in judged),
        "in_interval_90": sum(_is_inside(row, said) for row, said in judged),
        "median_abs_error": round(median(errors), 4) if errors else None,
    }


def _sign_is_right(row: Row, said: Judged) -> bool:
    """Whether the middle lies on the row's side of 1; of a neutral row, within what counts as neutral or undecided."""
    if said.mid is None:
        return False
    if row.outcome == "neutral":
        return abs(said.mid - 1) <= MARGIN or said.decision not in DECISIONS
    return (said.mid > 1) == (row.outcome == "win")


def _is_inside(row: Row, said: Judged) -> bool:
    """Whether the interval holds the speedup; where only the outcome is known, whether it holds any such speedup."""
    if said.low is None or said.high is None:
        return False
    if row.speedup is not None:
        return said.low <= row.speedup <= said.high
    return said.high > 1 + NEUTRAL if row.outcome == "win" else said.low < 1 - NEUTRAL


def table(found: Mapping[str, Any]) -> str:
    """The figures as Markdown tables."""
    lines = []
    for task, parts in found["tasks"].items():
        lines += [f"## {task}", "", _HEAD, _RULE]
        lines += _lines("overall", parts["overall"])
        for title in ("by_class", "by_hardware", "by_moe"):
            for name, part in parts[title].items():
                lines += _lines(f"{title[3:]}: {name}", part)
        lines.append("")
    return "\n".join(lines)


_COLUMNS = (
    "rows",
    "decided",
    "right of these",
    "winners rejected",
    "losers deployed",
    "neutral",
    "invalid",
    "sign right",
    "in 90 %",
    "median error",
)
_HEAD = f"| | {' | '.join(_COLUMNS)} |"
_RULE = f"|{'---|' * (len(_COLUMNS) + 1)}"


def _lines(name: str, part: Mapping[str, Mapping[str, Any]]) -> list[str]:
    return [_line(f"{name}" if who == "engine" else f"{name}, 1.1 formula", part[who]) for who in ("engine", "ceiling")]


def _line(name: str, figures: Mapping[str, Any]) -> str:
    rows, decided = figures["rows"], figures["decided"]
    error = figures["median_abs_error"]
    cells = (
        str(rows),
        _share(decided, rows),
        _share(figures["right"], decided),
        f"{figures['winners_rejected']} of {figures['winners']}",
        f"{figures['losers_deployed']} of {figures['losers']}",
        str(figures["neutral"]),
        str(figures["invalid_evidence"]),
        _share(figures["sign_right"], rows),
        _share(figures["in_interval_90"], rows),
        "-" if error is None else f"{100 * error:.1f} %",
    )
    return f"| {name} | {' | '.join(cells)} |"


def _share(part: int, whole: int) -> str:
    return f"{part} (-)" if not whole else f"{part} ({100 * part / whole:.0f} %)"
