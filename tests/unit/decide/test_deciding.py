from __future__ import annotations

from typing import Any

import pytest

from specrules.decide import deciding_gate
from specrules.model.verdict import Gate


def gate(name: str, **more: Any) -> Gate:
    return Gate(**{"id": name, "part": "a", "severity": "block", "outcome": "fail", "title": "", "message": ""} | more)


GATES = (
    gate("warning", severity="warn"),
    gate("evidence", part="e"),
    gate("waits-late", part="d", outcome="unknown"),
    gate("waits", part="b", outcome="unknown"),
    gate("late", part="d"),
    gate("early", part="b"),
    gate("also-early", part="b"),
    gate("fine", outcome="pass"),
    gate("absent", outcome="not-applicable"),
)


@pytest.mark.parametrize(
    ("verdict", "speedup_class", "more", "expected"),
    [
        ("blocked", "win", (), "early"),
        ("invalid-evidence", "win", (), "evidence"),
        ("measure-first", "win", (), "waits"),
        ("measure-first", "wide", (), None),
        ("measure-first", "wide", (gate("broken", part="e", outcome="error"),), "broken"),
        ("measure-first", "win", (gate("broken", part="e", outcome="error"),), "broken"),
        ("keep-incumbent", "loss", (), None),
        ("marginal", "marginal", (), None),
        ("deploy", "win", (), None),
    ],
)
def test_the_deciding_gate_is_the_first_that_made_the_verdict(
    verdict: Any, speedup_class: Any, more: tuple[Gate, ...], expected: str | None
) -> None:
    assert getattr(deciding_gate(verdict, speedup_class, (*GATES, *more)), "id", None) == expected
