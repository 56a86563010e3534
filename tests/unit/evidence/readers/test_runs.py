"""Several runs in one file: told apart by fields, chosen by their values."""

from __future__ import annotations

import json

import pytest

from specrules.errors import CatalogError, EvidenceError
from specrules.evidence.readers.reading import one_run, read_text
from specrules.evidence.readers.runs import MAX_RUNS, differing, matching, shown
from specrules.evidence.source import Source

from .support import engine, read, values

ROWS = [
    {"load": 1, "size": "small", "rate": 10},
    {"load": 4, "size": "small", "rate": 20},
    {"load": 4, "size": "large", "rate": 30},
    {"load": 1, "size": "small", "rate": 14},
]


def bench(**more):
    return engine(
        {
            "id": "bench",
            "kind": "json",
            "requires": ["rate"],
            "split": ["load", "size"],
            "fields": {
                "load": {"path": "load", "combine": "last"},
                "size": {"type": "text", "path": "size", "combine": "last"},
                "rate": {"path": "rate", "combine": "mean"},
                "rates": {"type": "numbers", "path": "rate", "combine": "list"},
            },
            "facts": [
                {
                    "fact": "rate",
                    "value": "rate",
                    "low": "rate - mean_error(rates)",
                    "high": "rate + mean_error(rates)",
                    "samples": "rates",
                },
                {"fact": "load", "value": "load"},
            ],
            "examples": [{"text": '{"rate": 1}', "facts": {"rate": 1}, "source": "made up"}],
            **more,
        }
    )


def read_where(rows, where=None, **more):
    return read_text(Source("file", json.dumps(rows)), bench(**more), where=where)


def test_each_run_has_facts_of_its_own():
    assert values(read_where(ROWS, {"load": 4.0, "size": "large"})) == {"rate": 30, "load": 4}
    assert values(read_where(ROWS, {"load": 1})) == {"rate": 12, "load": 1}


def test_values_may_be_texts_as_on_a_command_line():
    assert values(read_where(ROWS, {"load": "4", "size": "small"})) == {"rate": 20, "load": 4}


def test_a_file_of_one_run_needs_no_choice():
    reading = read_where(ROWS[:1])
    assert values(reading) == {"rate": 10, "load": 1}
    assert reading.run == {"load": 1.0, "size": "small"}


def test_repeats_give_an_interval_and_samples():
    fact = read_where(ROWS, {"load": 1}).facts["rate"]
    assert fact.samples == (10.0, 14.0)
    # Two values: t(1) = 6.314 at 95 %, standard deviation 2.828.
    assert (fact.low, fact.high) == (pytest.approx(12 - 6.314 * 2), pytest.approx(12 + 6.314 * 2))
    alone = read_where(ROWS[:1]).facts["rate"]
    assert (alone.low, alone.high, alone.samples) == (None, None, (10.0,))


def test_several_runs_are_refused_with_a_list_of_them():
    with pytest.raises(EvidenceError) as raised:
        read_where(ROWS)
    assert str(raised.value) == (
        "file: the file holds 3 runs: load=1, size=small; load=4, size=small; load=4, size=large "
        "(choose one by load or size)"
    )
    with pytest.raises(EvidenceError, match="holds 2 runs: load=4, size=small; load=4, size=large"):
        read_where(ROWS, {"load": 4})


def test_a_run_that_is_not_there_is_refused_with_those_that_are():
    with pytest.raises(EvidenceError, match="no run in this file has load=2; there are: load=1, size=small; "):
        read_where(ROWS, {"load": 2})
    with pytest.raises(EvidenceError, match="no run in this file has depth=1"):
        read_where(ROWS, {"depth": 1})


def test_a_long_list_is_cut():
    with pytest.raises(EvidenceError, match=r"holds 20 runs: .*; and 12 more "):
        read_where([{"load": number, "rate": 1} for number in range(20)])


def test_too_many_runs_are_refused():
    with pytest.raises(EvidenceError, match=f"the file holds more than {MAX_RUNS} runs"):
        read_where([{"load": number, "rate": 1} for number in range(MAX_RUNS + 1)])


def test_only_some_records_count():
    assert values(read_where(ROWS[:2], only="rate > 15")) == {"rate": 20, "load": 4}


def test_a_record_in_which_it_is_unknown_does_not_count():
    rows = [{"rate": 5}, {"rate": 7, "load": 1}]
    assert values(read_where(rows, only="load > 0")) == {"rate": 7, "load": 1}


def test_a_file_whose_records_all_do_not_count_has_no_facts():
    reading = read_where(ROWS, only="rate > 100")
    assert values(reading) == {}
    assert [problem.render() for problem in reading.warnings] == ["file: none of its 4 records counts: rate > 100"]


def test_a_value_outside_its_own_ends_has_no_interval():
    facts = [{"fact": "rate", "value": "rate", "low": "rate + 1", "high": "rate + 2"}]
    assert read_where(ROWS[:1], facts=facts).facts["rate"].low is None


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"split": ["laod"]}, "split: 'laod' is no field of the reader (did you mean 'load'?)"),
        ({"split": ["rates"]}, "split: 'rates' is a list and tells no runs apart"),
        ({"only": "rate"}, "only: the expression has to be true or false, and it is a number in `rate`"),
        ({"facts": [{"fact": "rate", "value": "rate", "low": "rate"}]}, "an interval has both `low` and `high`"),
        ({"facts": [{"fact": "rate", "value": "rate", "samples": "rate"}]}, "fact 'rate': "),
    ],
)
def test_what_is_wrong_in_a_reader(more, message):
    with pytest.raises(CatalogError) as raised:
        read("{}", bench(**more))
    assert message in str(raised.value)


def test_only_records_are_split():
    with pytest.raises(ValueError, match="reads neither JSON nor tables, so it has no 'only' and no 'split'"):
        bench(kind="prometheus", fields={"rate": {"metric": "rate"}}, facts=[])


def test_the_functions():
    runs = [{"a": 1.0, "b": "x"}, {"a": 2.0, "b": "x"}, {"b": "x"}]
    assert differing(runs) == ("a",)
    assert matching(runs, {"a": "2"}) == [1]
    assert matching(runs, {}) == [0, 1, 2]
    assert shown(runs[0]) == "a=1, b=x"


def test_one_run_of_readings():
    first, second = (read_where([row]) for row in ROWS[:2])
    assert one_run([first, second], {"load": 4}) is second
