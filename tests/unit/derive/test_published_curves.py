"""Passes that were published by batch and context: what may be read off between them, and what may not.

MagicDec (arXiv:2408.11049, Tables 3a to 3c) and vllm#54691. The two series move in opposite directions, which is why a
verdict holds for the batch and context of its measurements and for no others.
"""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from specrules.derive.curve import verify_curve

from .build import case, facts, table

TABLES = Path(__file__).parents[2] / "data" / "tables"


def magicdec() -> list[dict[str, Any]]:
    """The rows that state context and batch: `S4000B32` is 4000 tokens and 32 sequences."""
    rows = []
    with next(TABLES.glob("t07_*.csv")).open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found = re.fullmatch(r"S(\d+)B(\d+)", row["config"])
            if found:
                numbers = {name: float(row[name]) for name in ("gamma", "TV_ms", "TAR_ms", "omega", "speedup")}
                rows.append({"table": row["table"], "context": int(found[1]), "batch": int(found[2]), **numbers})
    return rows


def read(points: list[dict[str, Any]], width: int, batch: int, context: int) -> tuple[float, float, float] | None:
    one = case(measurements={"verify_curve": points}, workload={"concurrency": batch, "context_tokens": context})
    found = {point.width: point.ms for point in verify_curve(one, facts(one))}.get(width)
    return None if found is None else (found.low, found.mid, found.high)


def test_between_two_contexts_the_published_pass_lies_between_its_neighbours() -> None:
    series: dict[tuple[str, int], list[dict[str, Any]]] = defaultdict(list)
    for row in magicdec():
        series[row["table"], row["batch"]].append(row)
    held_out = 0
    for (_, batch), rows in series.items():
        width = int(rows[0]["gamma"]) + 1
        points = [
            {"width": width, "ms": row["TV_ms"], "batch": batch, "context_tokens": row["context"]} for row in rows
        ]
        for left_out in range(1, len(rows) - 1):
            others = points[:left_out] + points[left_out + 1 :]
            found = read(others, width, batch, rows[left_out]["context"])
            assert found is not None
            low, mid, high = found
            assert low <= rows[left_out]["TV_ms"] <= high
            # Reading the cache grows with its length: the straight line is within 3 %.
            assert mid == pytest.approx(rows[left_out]["TV_ms"], rel=0.03)
            held_out += 1
            assert read(others, width, batch + 1, rows[left_out]["context"]) is None
    assert held_out == 23


def test_tokens_that_pay_at_32k_lie_between_those_at_2k_and_131k_for_every_batch() -> None:
    short, middle, long = 2_000, 32_000, 131_000
    first, second, third = table("t18")
    for batch in (1, 2, 4, 8, 16):
        # A_be over a plain step of 1 ms: the whole round at K = 4.
        points = [
            {"width": 5, "ms": row[f"B{batch}"], "batch": batch, "context_tokens": context}
            for context, row in ((short, first), (long, third))
        ]
        found = read(points, 5, batch, middle)
        assert found is not None
        assert found[0] < second[f"B{batch}"] < found[2]
        # The line errs by up to 4.3 %, in both directions, so that the interval is what counts.
        assert found[1] == pytest.approx(second[f"B{batch}"], rel=0.045)
        assert read(points, 5, batch, 300_000) is None


def test_the_direction_with_context_and_batch_is_not_one() -> None:
    gains = {(row["table"], row["context"], row["batch"]): row["speedup"] for row in magicdec()}
    # With a drafter whose own cache is capped, gains rise with the context, and with the batch where it is long ..
    assert [gains["3a", context, 32] for context in (1024, 4000, 8000, 16000, 32000)] == [0.95, 1.13, 1.27, 1.5, 1.69]
    assert [gains["3a", 16000, batch] for batch in (32, 48, 64)] == [1.5, 1.59, 1.72]
    # .. and fall with the batch where it is short.
    assert [gains["3c", 4000, batch] for batch in (32, 64, 128, 256)] == [0.9, 0.81, 0.76, 0.76]
    # Where the verify attention grows, what pays rises with the context at every batch.
    for batch in (1, 2, 4, 8, 16):
        needed = [row[f"B{batch}"] for row in table("t18")]
        assert needed == sorted(needed)
        assert needed[2] > 2 * needed[0]


def test_no_published_pass_is_cheaper_than_a_plain_step_or_dearer_than_its_rows() -> None:
    rows = table("t07")
    assert len(rows) == 89
    factors = [row["TV_ms"] / row["TAR_ms"] for row in rows]
    assert (min(factors), max(factors)) == pytest.approx((1.04, 1.51), abs=0.006)
    assert all(factor < row["gamma"] + 1 for factor, row in zip(factors, rows, strict=True))
