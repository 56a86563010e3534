from __future__ import annotations

import pytest

from specrules.expressions import Unknown, is_unknown
from specrules.expressions.unknown import all_needed, any_settles, whole

A = Unknown(frozenset({"a"}))
B = Unknown(frozenset({"b"}), ("b was not read",))
DEAD = Unknown(reasons=("division by zero",))


def test_truth_of_an_unknown_is_refused():
    with pytest.raises(TypeError, match="neither true nor false"):
        bool(A)
    with pytest.raises(TypeError):
        assert not DEAD


def test_is_unknown_tells_unknowns_from_false_and_zero():
    assert is_unknown(A)
    assert not any(is_unknown(value) for value in (False, 0.0, "", (), None))


def test_unknowns_are_values():
    assert Unknown(frozenset({"a"})) == A
    assert hash(Unknown(frozenset({"a"}))) == hash(A)
    assert A != B


def test_any_settles_joins_names_and_reasons_in_order_without_repeats():
    joined = any_settles([DEAD, A, B, DEAD])
    assert joined == Unknown(frozenset({"a", "b"}), ("division by zero", "b was not read"))


def test_all_needed_misses_nothing_once_one_part_cannot_be_settled():
    assert all_needed([A, B]) == Unknown(frozenset({"a", "b"}), ("b was not read",))
    assert all_needed([A, DEAD, B]) == Unknown(frozenset(), ("division by zero", "b was not read"))


def test_whole_turns_a_list_with_an_unknown_entry_into_one_unknown():
    assert whole((1.0, A, B)) == Unknown(frozenset({"a", "b"}), ("b was not read",))
    assert whole((1.0, A, DEAD)) == DEAD
    assert whole((1.0, 2.0)) == (1.0, 2.0)
    assert whole(False) is False
