from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specrules.errors import EvidenceError
from specrules.evidence.readers.reading import Reading, read_file, read_text
from specrules.evidence.source import source_from_bytes
from specrules.model.engine import Engine

from .support import PAIR, engine, log_reader, shipped, values


def toy(fields: dict[str, Any] | None = None, facts: list[Any] | None = None, **more: Any) -> Engine:
    fields = {"tokens": {"metric": "e:tokens_total"}, **(fields or {})}
    return engine(
        {
            "id": "dump",
            "kind": "prometheus",
            "title": "metrics dump",
            "requires": ["e:tokens_total"],
            "fields": fields,
            "facts": facts or [{"fact": name, "value": name} for name in fields],
            "examples": [{"text": "x", "facts": {}, "source": "made up"}],
            **more,
        }
    )


def between(before: str, after: str, of: Engine | None = None) -> Reading:
    earlier, later = (source_from_bytes(name, text.encode()) for name, text in (("old", before), ("new", after)))
    return read_text(later, of or toy(), before=earlier)


def messages(reading: Reading) -> list[str]:
    return [problem.render() for problem in reading.warnings]


def refusals(before: str, after: str, of: Engine | None = None) -> list[str]:
    with pytest.raises(EvidenceError) as caught:
        between(before, after, of)
    return [problem.render() for problem in caught.value.problems]


def test_counters_are_subtracted_and_both_files_are_named() -> None:
    reading = between("e:tokens_total 100\n", "# TYPE e:tokens_total counter\ne:tokens_total 164\n")
    assert values(reading) == {"tokens": 64.0}
    assert reading.facts["tokens"].provenance.source == "new:2 less old"
    assert (reading.before, reading.is_idle, reading.warnings) == ("old", False, ())


def test_series_are_subtracted_one_by_one_and_then_added_up() -> None:
    before = 'e:tokens_total{m="a"} 100\ne:tokens_total{m="b"} 7\n'
    after = 'e:tokens_total{m="b"} 9\ne:tokens_total{m="a"} 150\ne:tokens_total{m="c"} 1000\n'
    # A series that was not there yet had counted nothing.
    assert values(between(before, after)) == {"tokens": 1052.0}


VECTOR = {"at": {"type": "numbers", "metric": "e:at_total", "label": "position"}}


def test_vectors_are_subtracted_position_by_position() -> None:
    before = 'e:tokens_total 1\ne:at_total{position="0"} 10\ne:at_total{position="1"} 4\n'
    after = "e:tokens_total 2\n" + "".join(f'e:at_total{{position="{i}"}} {n}\n' for i, n in enumerate((30, 14, 5)))
    assert values(between(before, after, toy(VECTOR)))["at"] == (20.0, 10.0, 5.0)


@pytest.mark.parametrize(
    ("field", "type_line", "expected"),
    [
        ({}, "", 2.0),
        ({}, "# TYPE e:x counter\n", 2.0),
        ({}, "# TYPE e:x gauge\n", 5.0),
        ({}, "# TYPE e:x untyped\n", 2.0),
        ({"combine": "max"}, "", 5.0),
        ({"combine": "max"}, "# TYPE e:x counter\n", 2.0),
        # What the engine's file says counts more than the dump: maxima are typed as counters too.
        ({"kind": "gauge"}, "# TYPE e:x counter\n", 5.0),
        ({"kind": "counter", "combine": "max"}, "# TYPE e:x gauge\n", 2.0),
        ({"kind": "lifetime"}, "", None),
    ],
)
def test_what_is_subtracted(field: dict[str, Any], type_line: str, expected: float | None) -> None:
    of = toy({"x": {"metric": "e:x", **field}})
    reading = between(f"{type_line}e:x 3\ne:tokens_total 1\n", f"{type_line}e:x 5\ne:tokens_total 2\n", of)
    assert values(reading).get("x") == expected


def test_parts_of_histograms_are_counters() -> None:
    of = toy({"x": {"metric": "e:x_seconds_sum", "combine": "last"}})
    text = "# TYPE e:x_seconds histogram\ne:x_seconds_sum {}\ne:tokens_total {}\n"
    assert values(between(text.format(3, 1), text.format(5, 2), of))["x"] == 2.0


@given(st.lists(st.tuples(st.integers(0, 99999), st.integers(0, 99999)), min_size=1, max_size=6))
def test_a_difference_is_what_was_counted_in_between_and_never_negative(counts: list[tuple[int, int]]) -> None:
    def dump(numbers: list[int]) -> str:
        return "".join(f'e:tokens_total{{rank="{rank}"}} {number}\n' for rank, number in enumerate(numbers))

    before, after = dump([low for low, _ in counts]), dump([low + more for low, more in counts])
    reading = between(before, after)
    moved = sum(more for _, more in counts)
    assert (reading.is_idle, values(reading)) == ((False, {"tokens": moved}) if moved else (True, {}))
    if any(more for _, more in counts):
        with pytest.raises(EvidenceError, match="went down"):
            between(after, before)


def test_a_counter_that_went_down_is_a_restart_with_both_values() -> None:
    before = 'e:tokens_total{m="a"} 100\ne:tokens_total{m="b"} 5\ne:b_total 7\n'
    after = 'e:b_total 6\ne:tokens_total{m="a"} 64\ne:tokens_total{m="b"} 6\n'
    restart = "the server was restarted between the two dumps, or they are in the wrong order"
    assert refusals(before, after, toy({"b": {"metric": "e:b_total"}})) == [
        f'new:2: e:tokens_total{{m="a"}} went down from 100 (old:1) to 64: {restart}',
        f"new:1: e:b_total went down from 7 (old:3) to 6: {restart}",
    ]


def test_a_series_that_is_gone_and_another_start_are_restarts_too() -> None:
    (gone,) = refusals('e:tokens_total{m="a"} 1\n', 'e:tokens_total{m="b"} 5\n')
    assert gone.startswith('new: e:tokens_total{m="a"} stood at 1 (old:1) and is gone: the server was restarted')
    start = "process_start_time_seconds {}\ne:tokens_total_created {}\ne:tokens_created {}\ne:tokens_total {}\n"
    (moved,) = refusals(start.format(1.5e9, 1, 1, 10), start.format("1.50001e9", 2, 1, 20))
    assert "process_start_time_seconds is 1500000000.0 in old and 1.50001e9 here" in moved
    (created,) = refusals(start.format(1, 1, 100, 10), start.format(1, 2, 200, 20))
    assert "e:tokens_created is 100 in old and 200 here" in created
    assert values(between(start.format(1, 1, 1, 10), start.format(1, 2, 1, 20))) == {"tokens": 10.0}
    # A series that had counted nothing may go.
    assert values(between('e:tokens_total{m="a"} 0\n', 'e:tokens_total{m="b"} 5\n')) == {"tokens": 5.0}


FACTS = [
    {"fact": "drafting", "value": "tokens > 10", "when": "tokens > 0 or tokens == 0"},
    {"fact": "length", "value": "length"},
    {"fact": "kind", "value": "'decode'"},
    {"fact": "engine.context", "value": "context", "absolute": True},
]


def test_in_an_idle_window_nothing_is_said_about_the_arm() -> None:
    fields = {"length": {"metric": "e:len", "combine": "last"}, "context": {"metric": "e:ctx", "kind": "gauge"}}
    of = toy(fields, FACTS)
    text = "e:tokens_total {}\ne:len 2.5\ne:ctx 4096\n"
    idle = between(text.format(100), text.format(100), of)
    # The gauge still shows what was served before.
    assert (idle.is_idle, values(idle)) == (True, {"engine.context": 4096.0})
    assert messages(idle) == ["new: nothing was served since old (idle window): whether the server drafts is unknown"]
    busy = between(text.format(100), text.format(101), of)
    assert values(busy) == {"drafting": False, "length": 2.5, "kind": "decode", "engine.context": 4096.0}


def test_a_dump_without_counters_says_nothing_about_idleness() -> None:
    of = toy({"tokens": {"metric": "e:tokens_total", "kind": "gauge"}})
    reading = between("e:tokens_total 5\n", "e:tokens_total 5\n", of)
    assert (reading.is_idle, values(reading)) == (False, {"tokens": 5.0})


def test_a_server_that_has_served_nothing_at_all_is_told() -> None:
    source = source_from_bytes("new", b"e:tokens_total 0\n")
    assert messages(read_text(source, toy())) == [
        "new: nothing was served since the server started: whether it drafts is unknown"
    ]


RATIO = {
    "checks": [{"id": "half", "require": "drafted <= tokens", "message": "{drafted} of {tokens}"}],
    "fields": {"drafted": {"metric": "e:drafted_total"}},
}


def test_counters_that_were_rounded_when_printed_are_named_and_decide_no_check() -> None:
    of = toy(RATIO["fields"], checks=RATIO["checks"])
    text = "e:drafted_total {}\ne:tokens_total {}\n"
    reading = between(text.format("999900", "1.23450e+06"), text.format("1.00001e+06", "1.23460e+06"), of)
    assert values(reading) == {"tokens": 100.0, "drafted": 110.0}
    assert messages(reading) == [
        "new:2: e:tokens_total is printed as 1.23460e+06: the difference 100 may be off by 10",
        "new:1: e:drafted_total is printed as 1.00001e+06: the difference 110 may be off by 5",
    ]
    assert reading.contradictions == ()
    exact = between(text.format(100, 100), text.format(210, 200), of)
    assert [problem.render() for problem in exact.contradictions] == ["new:2: 110 of 100"]


@pytest.mark.parametrize(
    ("before", "after", "warned"),
    [
        ("999999", "1e+06", True),  # trailing zeros are not printed
        ("1.23457e+06", "1.23457e+06", True),
        ("123456", "123457", False),
        ("12345.6", "12355.6", True),  # a tenth of a second in ten
        ("12345.6", "13345.6", False),
        ("12345", "12346", False),
        ("12345.6", "12345.6", False),
        ("1.234567e+06", "1.234568e+06", False),  # seven digits: nothing was rounded
        ("1.7959719073363764e+09", "1.7959719083363764e+09", False),
    ],
)
def test_which_printed_values_were_rounded(before: str, after: str, warned: bool) -> None:
    reading = between(f"e:tokens_total {before}\n", f"e:tokens_total {after}\n")
    assert any("may be off" in message for message in messages(reading)) is warned


def test_only_dumps_of_the_same_kind_can_be_subtracted() -> None:
    log = log_reader({"n": {}}, [{"fact": "n", "value": "n"}], [r"n=(?P<n>\d+)"], title="server log")
    with pytest.raises(EvidenceError, match=r"^new: this is a server log: only metrics dumps can be subtracted"):
        between("e:tokens_total 1\n", "n=1\n", engine(log))
    assert refusals("n=1\n", "e:tokens_total 1\n") == ["old: this is no metrics dump of Toy: nothing can be subtracted"]


def test_a_cut_dump_is_said_whichever_it_is() -> None:
    of = toy({"b": {"metric": "e:b_total"}})
    text = "e:tokens_total {}\ne:b_total {}"
    assert messages(between(text.format(1, 1), text.format(2, 2) + "\n", of)) == [
        "old:2: the last line has no end and was not read"
    ]


GAUGE = "# TYPE e:len gauge\n"


def test_gauges_of_ranks_are_not_added_up() -> None:
    of = toy({"length": {"metric": "e:len"}})
    text = "e:tokens_total 1\n" + GAUGE + 'e:len{{rank="0"}} 2.5\ne:len{{rank="1"}} {}\n'
    same, different = (read_text(source_from_bytes("f", text.format(n).encode()), of) for n in (2.5, 2.75))
    assert (values(same)["length"], messages(same)) == (2.5, [])
    assert "length" not in values(different)
    assert messages(different) == [
        "f:3: e:len is a gauge whose series differ, and gauges are not added up: it was not read"
    ]
    # An engine's file that says how they combine is believed.
    added = toy({"length": {"metric": "e:len", "combine": "sum"}})
    assert values(read_text(source_from_bytes("f", text.format(2.5).encode()), added))["length"] == 5.0


def test_vectors_of_ranks_are_not_added_up_either() -> None:
    of = toy({"at": {**VECTOR["at"], "kind": "gauge"}})
    lines = [f'e:at_total{{rank="{rank}",position="{index}"}} 0.{9 - index}\n' for rank in (0, 1) for index in (0, 1)]
    text = "e:tokens_total 1\n" + "".join(lines)
    assert values(read_text(source_from_bytes("f", text.encode()), of))["at"] == (0.9, 0.8)
    other = read_text(
        source_from_bytes("f", text.replace('rank="1",position="1"} 0.8', 'rank="1",position="1"} 0.7').encode()), of
    )
    assert "at" not in values(other)


def test_two_dumps_of_a_real_server() -> None:
    run = (PAIR / "pair-k3.metrics.txt").read_text()
    names = ("tokens_predicted_total", "tokens_predicted_seconds_total", "prompt_tokens_total", "prompt_seconds_total")
    earlier = "".join(f"llamacpp:{name} 0.5\n" for name in names)
    reading = between(earlier, run, shipped())
    whole = read_file(str(PAIR / "pair-k3.metrics.txt"), shipped())
    assert reading.facts.number("tokens") == whole.facts.number("tokens") - 0.5
    assert reading.facts.number("accepted") == whole.facts.number("accepted")
    assert reading.facts.value("position_acceptance") == whole.facts.value("position_acceptance")
    with pytest.raises(EvidenceError, match="prompt_seconds_total went down from"):
        read_file(str(PAIR / "target-b.metrics.txt"), shipped(), before=str(PAIR / "target-a.metrics.txt"))
    with pytest.raises(EvidenceError, match="standard input cannot be both dumps"):
        read_file("-", shipped(), before="-")
