"""The verdict table, proven over all of its states: 5 outcomes of 5 parts and 5 speedup classes, 15,625 in all."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

from specrules.decide.table import Table, columns
from specrules.errors import Problem
from specrules.model.base import PARTS
from specrules.model.rule import CLASSES, OUTCOMES, VerdictName

State = tuple[str, ...]
"""Outcomes of parts a to e, then the class of the speedup."""

NOT_TO_DEPLOY: frozenset[VerdictName] = frozenset({"blocked", "keep-incumbent", "invalid-evidence"})
_SETTLED = frozenset({"pass", "not-applicable"})
_ALL: tuple[State, ...] = (OUTCOMES,) * len(PARTS) + (CLASSES,)


def prove(table: Table) -> list[Problem]:
    """Return what keeps a verdict table from being total, without unreachable rows, and safe; empty where it is.

    Safe means: `deploy` only where every part passed or is not applicable and the speedup is a win; and a state that
    says not to deploy never becomes `deploy`, however its unknown parts and an unknown speedup turn out.
    """
    deciding = _deciding_rows(table)
    reached = set(deciding.values())
    problems = list(_gaps(table, deciding))
    for index in range(len(table.rows)):
        if index not in reached:
            problems.append(_problem(table, index, "no state reaches this row: the rows before it hit first"))
    problems += _hasty_deploys(table, deciding)
    problems += _reversals(table, deciding)
    return problems


def _deciding_rows(table: Table) -> dict[State, int]:
    """Return the index of the row that decides each state; a state that no row hits is absent."""
    deciding: dict[State, int] = {}
    for index, row in enumerate(table.rows):
        for state in itertools.product(*map(dict.fromkeys, columns(row))):
            deciding.setdefault(state, index)
    return deciding


def _gaps(table: Table, deciding: Mapping[State, int]) -> Iterator[Problem]:
    gaps = [state for state in itertools.product(*_ALL) if state not in deciding]
    if gaps:
        yield Problem(
            f"the verdict table {table.id!r} has no row for {_show(gaps)}",
            table.places[-1] if table.places else None,
            "end the table with a row that lists no columns",
        )


def _hasty_deploys(table: Table, deciding: Mapping[State, int]) -> Iterator[Problem]:
    hasty: dict[int, list[State]] = {}
    for state, index in deciding.items():
        *parts, speedup = state
        if table.rows[index].verdict == "deploy" and (speedup != "win" or not _SETTLED.issuperset(parts)):
            hasty.setdefault(index, []).append(state)
    for index, states in hasty.items():
        yield _problem(table, index, f"`deploy` needs every part settled and a win, but it hits {_show(states)}")


def _reversals(table: Table, deciding: Mapping[State, int]) -> Iterator[Problem]:
    reversed_by: dict[int, list[State]] = {}
    for state in _can_become_deploy(table, deciding):
        index = deciding.get(state)
        if index is not None and table.rows[index].verdict in NOT_TO_DEPLOY:
            reversed_by.setdefault(index, []).append(state)
    for index, states in sorted(reversed_by.items()):
        verdict = table.rows[index].verdict
        message = f"`{verdict}` could still become `deploy` as unknowns are settled: {_show(sorted(states))}"
        yield _problem(table, index, message)


def _can_become_deploy(table: Table, deciding: Mapping[State, int]) -> set[State]:
    """Return every state from which `deploy` is reached by settling unknowns, walking back from `deploy`."""
    found = {state for state, index in deciding.items() if table.rows[index].verdict == "deploy"}
    open_states = list(found)
    while open_states:
        state = open_states.pop()
        for column, value in enumerate(state):
            if value != "unknown":
                before = (*state[:column], "unknown", *state[column + 1 :])
                if before not in found:
                    found.add(before)
                    open_states.append(before)
    return found


def _problem(table: Table, index: int, message: str) -> Problem:
    return Problem(f"verdict row {index + 1} ({table.rows[index].verdict}): {message}", table.places[index])


def _show(states: list[State]) -> str:
    """Return one state in words and how many more there are."""
    *parts, speedup = states[0]
    shown = ", ".join(f"{part} {outcome}" for part, outcome in zip(PARTS, parts, strict=True))
    more = f" and {len(states) - 1:,} more" if len(states) > 1 else ""
    return f"{shown}, speedup {speedup}{more}"
