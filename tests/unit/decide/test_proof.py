from __future__ import annotations

import functools
import itertools
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specrules.decide import compile_table, prove
from specrules.decide.proof import NOT_TO_DEPLOY
from specrules.model.rule import CLASSES, OUTCOMES, VerdictTable

from .shipped import locator, read, shipped_table


def table_of(rows):
    document = {"schema": 1, "id": "t", "classes": [], "rows": [{"because": "b", **row} for row in rows]}
    return compile_table(VerdictTable.model_validate(document), {}, locator("t"))


def edited(edit):
    rows = read("verdict")["rows"]
    edit(rows)
    return prove(table_of(rows))


def test_the_shipped_table_is_proven_in_a_moment():
    start = time.process_time()
    assert prove(shipped_table()) == []
    assert time.process_time() - start < 1


def test_a_gap_names_a_state_and_the_number_of_others():
    (problem,) = edited(lambda rows: rows.pop())
    assert problem.message == (
        "the verdict table 't' has no row for a pass, b pass, c pass, d pass, e pass, speedup unknown and 242 more"
    )
    assert str(problem.where) == "t:rows.14:7"


def test_a_row_that_is_never_reached():
    (problem,) = edited(lambda rows: rows.insert(1, {"a": ["fail"], "b": ["pass"], "verdict": "blocked"}))
    assert "row 2 (blocked): no state reaches this row" in problem.message
    assert str(problem.where) == "t:rows.1:7"


def test_a_row_that_admits_nothing_is_never_reached():
    (problem,) = edited(lambda rows: rows.insert(0, {"a": [], "verdict": "blocked"}))
    assert "row 1 (blocked): no state reaches this row" in problem.message


def test_deploy_over_an_unknown_gate():
    def lax(rows):
        rows[10]["d"] = ["pass", "not-applicable", "unknown"]

    (problem,) = edited(lax)
    assert problem.message == (
        "verdict row 11 (deploy): `deploy` needs every part settled and a win, but it hits a pass, b pass, c pass, "
        "d unknown, e pass, speedup win and 15 more"
    )


@pytest.mark.parametrize("speedup", ["loss", "marginal", "wide", "unknown"])
def test_deploy_without_a_win(speedup):
    messages = [one.message for one in edited(lambda rows: rows[10].update(speedup=["win", speedup]))]
    assert any(f"e pass, speedup {speedup} and 31 more" in message for message in messages)


def test_a_refusal_that_could_still_become_deploy():
    (problem,) = edited(lambda rows: rows.insert(13, {"speedup": ["win"], "d": ["unknown"], "verdict": "blocked"}))
    assert problem.message.startswith("verdict row 14 (blocked): `blocked` could still become `deploy`")
    assert "d unknown" in problem.message


def test_settling_takes_several_steps():
    """Every state one step away from the refusal is neither refusal nor deploy."""
    rows = [{"a": ["unknown"], "b": ["unknown"], "speedup": ["unknown"], "verdict": "keep-incumbent"}]
    (problem,) = edited(lambda shipped: shipped.__setitem__(slice(0, 0), rows))
    assert problem.message == (
        "verdict row 1 (keep-incumbent): `keep-incumbent` could still become `deploy` as unknowns are settled: "
        "a unknown, b unknown, c not-applicable, d not-applicable, e not-applicable, speedup unknown and 26 more"
    )


def test_an_error_is_not_settled_by_filling_in_an_unknown():
    assert edited(lambda rows: rows[5].update(verdict="keep-incumbent")) == []


COLUMNS = ("a", "b", "c", "d", "e")
ROWS = st.fixed_dictionaries(
    {"verdict": st.sampled_from(["deploy", "blocked", "keep-incumbent", "measure-first"])},
    optional={
        **{name: st.lists(st.sampled_from(OUTCOMES), min_size=1, unique=True) for name in ("a", "e")},
        "speedup": st.lists(st.sampled_from(CLASSES), min_size=1, unique=True),
    },
)


@settings(max_examples=30, deadline=None)
@given(st.lists(ROWS, min_size=1, max_size=4))
def test_the_proof_agrees_with_trying_every_completion(rows):
    """Naively: look every state up, and settle unknowns one after the other in every way."""
    table = table_of(rows)
    others = ("pass",) * 3

    @functools.cache
    def verdict(a, e, speedup):
        try:
            return table.verdict(dict(zip(COLUMNS, (a, *others, e), strict=True)), speedup).verdict
        except LookupError:
            return None

    @functools.cache
    def can_deploy(a, e, speedup):
        return (
            verdict(a, e, speedup) == "deploy"
            or (a == "unknown" and any(can_deploy(x, e, speedup) for x in OUTCOMES if x != a))
            or (e == "unknown" and any(can_deploy(a, x, speedup) for x in OUTCOMES if x != e))
            or (speedup == "unknown" and any(can_deploy(a, e, x) for x in CLASSES if x != speedup))
        )

    states = list(itertools.product(OUTCOMES, OUTCOMES, CLASSES))
    reversal = any(verdict(*state) in NOT_TO_DEPLOY and can_deploy(*state) for state in states)
    gap = any(verdict(*state) is None for state in states)
    messages = [one.message for one in prove(table)]
    assert any("could still become" in message for message in messages) == reversal
    assert any("has no row for" in message for message in messages) == gap
