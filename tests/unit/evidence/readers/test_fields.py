from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specrules.evidence.readers.reading import Reading

from .support import engine, log_reader, read, values


def toy(fields: dict[str, Any], *patterns: Any) -> Any:
    facts = [{"fact": name, "value": name} for name in fields]
    return engine(log_reader(fields, facts, list(patterns)))


def one(field: dict[str, Any], text: str, group: str = r"\S*") -> Any:
    """Read lines `x=..` into one field and return its value, None where it is unknown."""
    return values(read(f"seen\n{text}", toy({"x": field}, rf"^x=(?P<x>{group})$", "^seen"))).get("x")


@pytest.mark.parametrize(
    ("combine", "expected"), [("sum", 9.0), ("last", 2.0), ("first", 3.0), ("max", 4.0), ("min", 2.0), ("mean", 3.0)]
)
def test_numbers(combine: str, expected: float) -> None:
    assert one({"combine": combine}, "x=3\nx=4\nx=2\n") == expected
    assert one({"combine": combine}, "") is None
    assert one({"combine": combine, "default": 0}, "") == 0.0
    assert one({"combine": combine, "default": 0}, "x=7\n") == 7.0


def test_texts() -> None:
    spelling = {"draft": "draft-simple"}
    for combine, expected in (("last", "mtp"), ("first", "draft-simple"), ("join", "draft-simple,mtp")):
        field = {"type": "text", "combine": combine, "values": spelling}
        assert one(field, "x=draft\nx=mtp\nx=draft\nx=mtp\n") == expected
    assert one({"type": "text", "combine": "last", "match": r"^b([1-9]\d*)-"}, "x=b11434-abc\n") == "11434"
    assert one({"type": "text", "combine": "last", "match": r"^b([1-9]\d*)-"}, "x=b0-unknown\n") is None
    long = one({"type": "text", "combine": "last"}, "x=" + "y" * 9999 + "\n")
    assert long == "y" * 500 + " ..."
    assert one({"type": "text", "combine": "last"}, "x=a\tb\x1bc \n", ".*") == "a b c"


def test_flags() -> None:
    assert one({"type": "flag", "combine": "any"}, "x=false\nx=true\nx=no\n") is True
    assert one({"type": "flag", "combine": "any"}, "x=false\nx=0\n") is False
    assert one({"type": "flag", "combine": "any"}, "") is False
    assert one({"type": "flag", "combine": "last"}, "x=true\nx=off\n") is True
    assert one({"type": "flag", "combine": "last", "values": {"off": "false"}}, "x=true\nx=off\n") is False
    assert one({"type": "flag", "combine": "last"}, "") is None


def test_vectors_are_filled_up_with_zeros() -> None:
    lines = "x=1, 0.5\nx=\nx=0.4,0.3,0.2\n"
    assert one({"type": "numbers", "combine": "sum"}, lines, ".*") == (1.4, 0.8, 0.2)
    assert one({"type": "numbers", "combine": "mean"}, lines, ".*") == pytest.approx((1.4 / 3, 0.8 / 3, 0.2 / 3))
    assert one({"type": "numbers", "combine": "last"}, lines, ".*") == (0.4, 0.3, 0.2)
    # A vector without entries says nothing.
    assert one({"type": "numbers", "combine": "last"}, "x=\n", ".*") is None
    assert one({"type": "numbers", "combine": "list"}, "x=3\nx=1\n") == (3.0, 1.0)


def test_means_are_weighted_by_an_expression_over_the_same_record() -> None:
    of = toy(
        {"w": {}, "x": {"combine": "mean", "weight": "w * 2"}},
        r"^(?:w=(?P<w>\S+) )?x=(?P<x>\S+)",
    )
    assert values(read("w=1 x=10\nw=3 x=20\n", of))["x"] == 17.5
    # One occurrence needs no weight; of two, an unknown one leaves the mean open.
    assert values(read("x=10\n", of)) == {"x": 10.0}
    assert "x" not in values(read("x=10\nw=3 x=20\n", of))
    assert "x" not in values(read("w=0 x=10\nw=0 x=20\n", of))


def test_computed_fields_are_computed_in_each_record() -> None:
    of = toy(
        {
            "a": {"default": 0},
            "b": {},
            "ratio": {"value": "a / b", "combine": "max"},
            "big": {"value": "ratio * 10", "when": "b >= 2"},
            "count": {"value": "1"},
            "each": {"type": "numbers", "combine": "list", "value": "b"},
        },
        r"^(?:a=(?P<a>\S+))?(?: ?b=(?P<b>\S+))?",
    )
    reading = read("a=1 b=4\na=3 b=1\nb=5\na=7\n", of)
    # The third line lacks `a`, which is then 0; the fourth lacks `b`, so nothing can be computed from it.
    assert values(reading) == {"a": 11.0, "b": 10.0, "ratio": 3.0, "big": 2.5, "count": 4.0, "each": (4.0, 1.0, 5.0)}
    assert reading.facts["ratio"].provenance.source == "file:1 (+2 more lines)"


def test_sums_beyond_the_range_of_a_float_are_unknown() -> None:
    assert one({}, "x=1e308\nx=1e308\n") is None
    assert one({"type": "numbers"}, "x=1e308 1\nx=1e308 1\n", ".*") is None


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e9, max_value=1e9), min_size=1))
def test_order_counts_for_first_and_last_alone(numbers: list[float]) -> None:
    def combined(items: list[float]) -> Reading:
        fields = {
            name: {"combine": combine} if combine != "sum" else {}
            for name, combine in (("a", "sum"), ("b", "max"), ("c", "min"), ("d", "first"), ("e", "last"))
        }
        pattern = "^" + " ".join(rf"(?P<{name}>\S+)" for name in fields)
        text = "".join(" ".join([repr(item)] * 5) + "\n" for item in items)
        return read(text, toy(fields, pattern))

    forward, backward = values(combined(numbers)), values(combined(numbers[::-1]))
    assert all(forward[name] == backward[name] for name in "abc")
    assert (forward["d"], forward["e"]) == (backward["e"], backward["d"])
