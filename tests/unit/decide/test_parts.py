from __future__ import annotations

import itertools

import pytest

from specrules.decide import part_outcomes
from specrules.model.verdict import Gate


def gate(outcome, severity="block", part="d"):
    return Gate(id="x", part=part, severity=severity, outcome=outcome, title="t", message="m")


def test_parts_without_blocking_gates_are_not_applicable():
    nothing = dict.fromkeys("abcde", "not-applicable")
    assert part_outcomes([]) == nothing
    assert part_outcomes([gate("fail", "warn"), gate("error", "info")]) == nothing


ORDER = ("error", "fail", "unknown", "pass", "not-applicable")


@pytest.mark.parametrize(("worse", "better"), list(itertools.combinations(ORDER, 2)))
def test_the_worst_outcome_counts_in_either_order(worse, better):
    assert part_outcomes([gate(worse), gate(better)])["d"] == worse
    assert part_outcomes([gate(better), gate(worse)])["d"] == worse


def test_parts_do_not_mix():
    found = part_outcomes([gate("fail", part="a"), gate("pass", part="b"), gate("unknown", part="e")])
    assert found == {"a": "fail", "b": "pass", "c": "not-applicable", "d": "not-applicable", "e": "unknown"}
