from __future__ import annotations

from typing import Any

import pytest

from specrules.derive.statements import impossible

from .build import case


def faults(**measurements: Any) -> list[tuple[tuple[str | int, ...], str]]:
    return list(impossible(case(measurements=measurements)))


def test_a_plain_case_has_none() -> None:
    assert faults() == []
    good = {"kind": "counts", "accepted": 50, "drafted": 50, "rounds": 13, "draft_length": 4}
    assert faults(acceptance=good, round_slope=[0, 0.3], verify_curve=[{"width": 1, "ms": 9}]) == []


def test_acceptance_that_no_run_gives_is_named_at_its_place() -> None:
    wrong = {"kind": "tokens_per_round", "value": 9, "draft_length": 4}
    assert faults(acceptance=wrong, candidate={"acceptance": {"kind": "histogram", "histogram": [0, 0]}}) == [
        (
            ("measurements", "acceptance"),
            "acceptance of kind 'tokens_per_round': 9 tokens per round cannot be: a round of 4 drafted commits 5",
        ),
        (
            ("measurements", "candidate", "acceptance"),
            "acceptance of kind 'histogram': rounds must be above 0, got 0",
        ),
    ]


def test_a_width_that_stands_twice_is_named_wherever_it_stands() -> None:
    curve = [{"width": 2, "ms": 9}, {"width": 1, "ms": 8}, {"width": 2, "ms": 10}]
    assert faults(verify_curve=curve) == [
        (("measurements", "verify_curve", 0, "width"), "width 2 stands twice: give one time"),
        (("measurements", "verify_curve", 2, "width"), "width 2 stands twice: give one time"),
    ]


def test_a_width_may_stand_once_for_each_batch_and_context() -> None:
    at = {"width": 2, "ms": 9, "batch": 4}
    curve = [at, {**at, "batch": 8}, {**at, "context_tokens": 4000}, {**at, "context_tokens": 8000}]
    assert faults(verify_curve=curve) == []
    assert [path for path, _ in faults(verify_curve=[*curve, curve[3]])] == [
        ("measurements", "verify_curve", 3, "width"),
        ("measurements", "verify_curve", 4, "width"),
    ]


@pytest.mark.parametrize("slope", [[-0.1, 0.2], [0.3, 0.2]])
def test_a_slope_that_falls_or_stands_upside_down(slope: list[float]) -> None:
    ((path, message),) = faults(round_slope=slope)
    assert path == ("measurements", "round_slope")
    assert message.startswith(f"{slope[0]:g} to {slope[1]:g} is no slope of a round")


def test_everything_is_named_at_once() -> None:
    found = faults(
        acceptance={"kind": "histogram", "histogram": [0, 0]},
        verify_curve=[{"width": 1, "ms": 9}, {"width": 1, "ms": 8}],
        round_slope=[1, 0],
    )
    assert len(found) == 4


def test_files_of_one_arm_are_of_one_run() -> None:
    def file(arm: str, **conditions: object) -> dict[str, object]:
        return {"path": "a.log", "arm": arm, "conditions": conditions}

    alike = [
        file("candidate", concurrency=4),
        file("candidate", concurrency=4, temperature=0),
        file("off", concurrency=1),
    ]
    assert list(impossible(case(evidence=alike))) == []
    mixed = [*alike, file("candidate", concurrency=16)]
    assert list(impossible(case(evidence=mixed))) == [
        (
            ("evidence", 3, "conditions", "concurrency"),
            "concurrency 16 is not that of an earlier file of the arm 'candidate': leave one of them out",
        )
    ]
