from __future__ import annotations

from typing import Any

import pytest

from specrules.errors import EvidenceError
from specrules.evidence.readers.reading import Reading

from .support import engine, read, shipped, values


def toy(fields: dict[str, Any], facts: list[Any] | None = None, requires: list[str] | None = None) -> Any:
    return engine(
        {
            "id": "dump",
            "kind": "prometheus",
            "requires": requires or ["e:tokens_total"],
            "fields": {"tokens": {"metric": "e:tokens_total"}, **fields},
            "facts": facts or [{"fact": name, "value": name} for name in ("tokens", *fields)],
            "examples": [{"text": "x", "facts": {}, "source": "made up"}],
        }
    )


def messages(reading: Reading) -> list[str]:
    return [problem.render() for problem in reading.warnings]


def test_a_metric_is_read_with_its_line() -> None:
    text = '# TYPE e:tokens_total counter\ne:tokens_total 1.23457e+06\ne:tokens_total_created 5\ne:other{a="b"} x\n'
    reading = read(text, toy({}))
    assert values(reading) == {"tokens": 1234570.0}
    assert reading.facts["tokens"].provenance.source == "file:2"
    assert reading.warnings == ()


def test_several_series_of_a_counter_are_added_up_and_that_is_said() -> None:
    text = '# TYPE e:tokens_total counter\ne:tokens_total{engine="0"} 3\ne:tokens_total{engine="1"} 4.0\n'
    reading = read(text, toy({}))
    assert values(reading) == {"tokens": 7.0}
    assert messages(reading) == ["file:2: e:tokens_total has 2 series: this counter is read as their sum"]


def test_other_ways_to_combine_series() -> None:
    text = 'e:tokens_total 1\ne:len{rank="0"} 2\ne:len{rank="1"} 2.5\n'
    assert values(read(text, toy({"length": {"metric": "e:len", "combine": "max"}})))["length"] == 2.5
    assert values(read(text, toy({"length": {"metric": "e:len", "combine": "mean"}})))["length"] == 2.25


def test_of_two_scrapes_in_one_file_the_later_one_counts() -> None:
    reading = read('e:tokens_total{a="1"} 3\ne:tokens_total{a="2"} 1\ne:tokens_total{a="1"} 5\n', toy({}))
    assert values(reading) == {"tokens": 6.0}
    assert messages(reading)[0].startswith("file:3: e:tokens_total stands 3 times in the file")


POSITIONS = {"at": {"type": "numbers", "metric": "e:at_total", "label": "position"}}


def test_labels_give_a_vector_in_the_order_of_their_numbers() -> None:
    lines = [f'e:at_total{{position="{index}"}} {100 - index}' for index in range(11)]
    text = "e:tokens_total 1\n" + "\n".join(sorted(lines)) + "\n"
    assert values(read(text, toy(POSITIONS)))["at"] == tuple(100.0 - index for index in range(11))


def test_vectors_of_several_engines_are_added_up() -> None:
    text = "e:tokens_total 1\n" + "".join(
        f'e:at_total{{engine="{number}",position="{index}"}} {number + index}\n'
        for number in (1, 2)
        for index in (0, 1)
    )
    reading = read(text, toy(POSITIONS))
    assert values(reading)["at"] == (3.0, 5.0)
    assert messages(reading) == ["file:2: e:at_total has 2 series for each position: they were added up"]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ('e:at_total{position="0"} 1\ne:at_total{position="2"} 1\n', "e:at_total lacks the position 1"),
        ("e:at_total 1\n", "e:at_total has no number of a position in the label 'position'"),
        ('e:at_total{position="-1"} 1\n', "has no number of a position"),
        ('e:at_total{position="99999"} 1\n', "has no number of a position"),
        ('e:at_total{position="0"} NaN\n', "nan is no finite number; it was not read"),
    ],
)
def test_vectors_that_are_not_whole_are_not_read(lines: str, message: str) -> None:
    reading = read("e:tokens_total 1\n" + lines, toy(POSITIONS))
    assert values(reading) == {"tokens": 1.0}
    assert len(messages(reading)) == 1
    assert message in messages(reading)[0]


@pytest.mark.parametrize("number", ["+Inf", "1" + "0" * 400])
def test_a_series_that_is_no_number_leaves_the_whole_metric_unknown(number: str) -> None:
    reading = read(f'e:tokens_total{{a="1"}} 3\ne:tokens_total{{a="2"}} {number}\n', toy({}))
    assert values(reading) == {}
    assert messages(reading)[-1] == "file:2: e:tokens_total: inf is no finite number; it was not read"


def test_a_line_that_is_no_sample_is_an_error_at_its_place() -> None:
    for line in ("e:tokens_total twelve", 'e:tokens_total{a="1" 3', "e:tokens_total{a=1} 3"):
        with pytest.raises(EvidenceError, match=r"^file:2: this is not a sample of e:tokens_total"):
            read(f"e:tokens_total 1\n{line}\n", toy({}))


def test_a_dump_that_was_cut_loses_its_last_line() -> None:
    reading = read("e:tokens_total 1\ne:b 88", toy({"b": {"metric": "e:b"}}))
    assert values(reading) == {"tokens": 1.0}
    assert messages(reading) == ["file:2: the last line has no end and was not read"]


def test_a_required_metric_that_is_only_mentioned_is_not_enough() -> None:
    with pytest.raises(EvidenceError, match="nothing in this file is known from Toy"):
        read("# HELP e:tokens_total Tokens\ne:tokens_total_created 1\n", toy({}))


def test_llama_cpp_says_that_it_added_up_two_servers() -> None:
    text = "".join(
        f'llamacpp:{name}{{port="{port}"}} {value}\n'
        for port in (1, 2)
        for name, value in (("tokens_predicted_total", 100), ("tokens_predicted_seconds_total", 4))
    )
    reading = read(text, shipped())
    assert reading.facts.number("rate_tok_s") == 25.0
    assert len(reading.warnings) == 2
