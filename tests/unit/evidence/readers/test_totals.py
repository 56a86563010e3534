from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specrules.evidence.readers import totals
from specrules.evidence.readers.compiled import CompiledField
from specrules.evidence.readers.compiling import compile_readers
from specrules.evidence.readers.fields import Occurrence
from specrules.evidence.readers.sums import ExactSum, VectorSum
from specrules.evidence.readers.totals import Places, Total, new_total, settled
from specrules.model.fact import FactValue

from .support import engine, log_reader

NUMBERS = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300)


def field(**spec: Any) -> CompiledField:
    reader = log_reader({"x": spec}, [{"fact": "x", "value": "x"}], ["(?P<x>x)"])
    return compile_readers(engine(reader))[0].fields["x"]


def total(found: list[tuple[FactValue, int]], **spec: Any) -> Total:
    result = new_total(field(**spec))
    for value, line in found:
        result.add([Occurrence(value, (line,))])
    return result


@given(st.lists(NUMBERS, max_size=30))
def test_a_sum_is_rounded_once_whatever_the_order(numbers: list[float]) -> None:
    assert ExactSum(numbers).value() == math.fsum(numbers) == ExactSum(numbers[::-1]).value()


def test_sums_beyond_the_range_are_infinite() -> None:
    assert ExactSum([1e308, 1e308, -1e308]).value() == math.inf
    assert ExactSum([1e16, 1.0, -1e16]).value() == 1.0
    assert ExactSum([]).value() == 0.0


def test_vectors_are_filled_up_with_zeros() -> None:
    vectors = VectorSum()
    for numbers in ((1.0,), (0.5, 2.0, 4.0), ()):
        vectors.add(numbers)
    assert vectors.value() == (1.5, 2.0, 4.0)


def test_places_are_kept_up_to_a_limit_and_the_last_line_always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(totals, "MAX_PLACES", 3)
    places = Places()
    places.add([4, 9])
    places.add([9, 2])
    assert (list(places.first()), places.last_line, places.more) == ([4, 9, 2], 9, False)
    places.add([4])
    assert not places.more
    places.add([70, 5])
    assert (list(places.first()), places.last_line, places.more) == ([4, 9, 2], 70, True)


def test_first_last_and_joined_texts_go_by_lines() -> None:
    found: list[tuple[FactValue, int]] = [("b", 5), ("a", 2), ("c", 9), ("b", 1)]
    assert settled(total(found, type="text", combine="first")) == "b"
    assert settled(total(found, type="text", combine="last")) == "c"
    assert settled(total(found, type="text", combine="join")) == "b,a,c"


def test_too_many_texts_or_numbers_are_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(totals, "MAX_TEXTS", 2)
    monkeypatch.setattr(totals, "MAX_NUMBERS", 2)
    assert settled(total([("a", 1), ("b", 2), ("a", 3)], type="text", combine="join")) == "a,b"
    texts = total([("a", 1), ("b", 2), ("c", 3)], type="text", combine="join")
    assert (settled(texts), texts.is_cut) == (None, True)
    assert settled(total([((1.0,), 2), ((2.0,), 1)], type="numbers", combine="list")) == (2.0, 1.0)
    assert settled(total([((1.0,), 1), ((2.0,), 2), ((3.0,), 3)], type="numbers", combine="list")) is None


def test_a_mean_needs_every_weight_unless_it_is_of_one_record() -> None:
    def mean(*records: tuple[list[float], object]) -> FactValue | None:
        result = new_total(field(combine="mean"))
        for values, weight in records:
            result.weight = weight
            result.add([Occurrence(value, ()) for value in values])
        return settled(result)

    assert mean(([1.0, 4.0], None)) == 2.5
    assert mean(([10.0], 1.0), ([20.0], 3.0)) == 17.5
    assert mean(([10.0], 1.0), ([20.0], None)) is None
    assert mean(([10.0], 0.0), ([20.0], 0.0)) is None
