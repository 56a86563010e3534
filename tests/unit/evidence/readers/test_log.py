from __future__ import annotations

import tracemalloc
from typing import Any

import pytest

from specrules.errors import EvidenceError
from specrules.evidence.readers import log, observed, totals
from specrules.evidence.readers.compiling import compile_readers
from specrules.evidence.readers.log import LogCollector
from specrules.evidence.readers.reading import Reading

from .support import engine, log_reader, read, shipped, values

PREFIX = r"^(?P<slot>\d+)/(?P<task>\d+) "
FIELDS: dict[str, Any] = {"n": {}, "ms": {}, "last": {"combine": "last"}, "requests": {"default": 0}}
FACTS = [
    {"fact": "n", "value": "n"},
    {"fact": "ms", "value": "ms"},
    {"fact": "rate", "value": "n * 1000 / ms", "sampled": True},
    {"fact": "requests", "value": "requests"},
    {"fact": "last", "value": "last"},
]


NEVER = r"^never (?P<n>.)(?P<ms>.)(?P<last>.)(?P<requests>.)"


def toy(*patterns: Any, fields: dict[str, Any] | None = None, facts: list[Any] | None = None, **more: Any) -> Any:
    """An engine whose fields all have a pattern, if only one that no line follows."""
    return engine(log_reader(fields or FIELDS, facts or FACTS, [*patterns, NEVER], **more))


KEYED = toy(
    {"pattern": PREFIX + r"begin$", "key": ["slot", "task"], "per_request": True, "opens_request": True},
    {"pattern": PREFIX + r"n=(?P<n>\d+)", "key": ["slot", "task"], "per_request": True, "sets": {"requests": 1}},
    {"pattern": PREFIX + r"ms=(?P<ms>[\w.]+)", "key": ["slot", "task"], "per_request": True},
    {"pattern": r"^n=(?P<n>\d+)", "per_request": True, "sets": {"requests": 1}},
    {"pattern": r"^ms=(?P<ms>[\w.]+)", "per_request": True},
    {"pattern": r"^last=(?P<last>\d+)"},
    suspects=["="],
    strip=[r"\x1b\[[0-9;]*m", r"^\[(?P<port>\d+)\] "],
)


def samples(reading: Reading, name: str = "rate") -> tuple[float, ...]:
    return reading.facts[name].samples


def test_lines_with_a_key_join_their_request_whatever_stands_between() -> None:
    reading = read("0/1 n=10\n1/1 n=30\nnoise\n1/1 ms=300\n0/1 ms=50\n", KEYED)
    assert values(reading) == {"n": 40.0, "ms": 350.0, "rate": 40 * 1000 / 350, "requests": 2.0}
    assert samples(reading) == (200.0, 100.0)


def test_lines_without_a_key_belong_to_the_request_that_was_opened_last() -> None:
    reading = read("0/1 begin\nn=10\nms=50\n0/2 begin\nlast=7\nn=30\nms=300\n", KEYED)
    assert samples(reading) == (200.0, 100.0)
    assert reading.facts.number("last") == 7.0


def test_lines_that_nothing_was_opened_for_count_without_being_a_sample_together() -> None:
    reading = read("n=10\nms=50\n", KEYED)
    assert reading.facts.number("rate") == 200.0
    assert samples(reading) == ()


def test_a_key_that_comes_again_with_a_new_beginning_is_a_new_request() -> None:
    text = "0/0 begin\n0/0 n=10\n0/0 ms=50\n0/1 begin\n0/1 n=1\n0/1 ms=1\n0/0 begin\n0/0 n=30\n0/0 ms=300\n"
    assert samples(read(text, KEYED)) == (200.0, 1000.0, 100.0)


def test_opening_the_request_that_is_open_goes_on_with_it() -> None:
    assert samples(read("0/0 begin\nn=10\n0/0 begin\nms=50\n", KEYED)) == (200.0,)


def test_processes_are_kept_apart_and_two_in_one_log_contradict_each_other() -> None:
    reading = read("[11] 0/1 begin\n[22] 0/1 begin\n[11] n=10\n[22] n=30\n[11] ms=50\n[22] ms=300\n", KEYED)
    assert samples(reading) == (200.0, 100.0)
    assert [problem.render() for problem in reading.contradictions] == [
        "file:2: the log mixes the lines of 2 processes (11, 22): cut it to one of them"
    ]
    assert read("[11] n=10\nn=20\n", KEYED).contradictions == ()


def test_colours_and_windows_line_ends_do_not_matter() -> None:
    assert values(read("\x1b[32m0/1 n\x1b[0m=10\r\n0/1 ms=50\r\n", KEYED))["rate"] == 200.0


def test_lines_that_look_like_evidence_and_are_not_read_are_shown() -> None:
    reading = read("0/1 n=10\nnew shape = 3\nplain\n", KEYED)
    assert reading.unread_lines == 1
    assert (reading.unread[0].where, reading.unread[0].excerpt) == (reading.unread[0].where, "new shape = 3")
    assert str(reading.unread[0].where) == "file:2"
    many = read("n=1\n" + "a = b\n" * 250, KEYED)
    assert (many.unread_lines, len(many.unread)) == (250, 100)


@pytest.mark.parametrize("number", ["inf", "nan", "1e999", "x"])
def test_a_line_with_a_number_that_is_none_is_left_out_as_a_whole(number: str) -> None:
    tokens_and_time = toy(r"^n=(?P<n>\d+) ms=(?P<ms>[\w.-]+)")
    reading = read(f"n=10 ms=50\nn=30 ms={number}\n", tokens_and_time)
    assert values(reading)["rate"] == 200.0
    assert len(reading.warnings) == 1
    assert reading.warnings[0].render().startswith(f"file:2: ms: '{number}' is no ")


def test_the_first_pattern_that_matches_takes_the_line() -> None:
    of = toy(r"^n=(?P<n>\d+)", r"^n=\d+ last=(?P<last>\d+)", r"ms=(?P<ms>\d+)")
    assert values(read("n=1 last=2\n", of)) == {"n": 1.0, "requests": 0.0}


def test_cumulative_lines_replace_what_the_same_key_gave_before() -> None:
    of = toy(
        {"pattern": r"^(?P<who>\w+): n=(?P<n>\d+)(?: ms=(?P<ms>\d+))?", "key": ["who"], "cumulative": True},
        fields={**FIELDS, "who": {"type": "text", "combine": "join"}},
        facts=[*FACTS, {"fact": "who", "value": "who"}],
    )
    reading = read("a: n=1 ms=5\nb: n=10 ms=7\na: n=3\n", of)
    assert values(reading) == {"n": 13.0, "ms": 7.0, "rate": 13 * 1000 / 7, "requests": 0.0, "who": "b,a"}
    assert reading.facts["n"].provenance.source == "file:2 (+1 more line)"


def test_a_group_of_the_key_is_a_field_only_where_declared() -> None:
    of = toy({"pattern": r"^(?P<who>\w+): n=(?P<n>\d+)", "key": ["who"]})
    assert values(read("a: n=1\n", of)) == {"n": 1.0, "requests": 0.0}


def test_patterns_with_carets_inside_are_still_found() -> None:
    of = toy(r"^n=(?P<n>\d+)|^and ms=(?P<ms>\d+)", strip=[r"^\d+ "])
    assert values(read("1 n=4\n2 and ms=8\n3 x n=9\n", of))["rate"] == 500.0


def test_a_log_cut_in_the_middle_of_a_line_is_read_with_a_warning() -> None:
    reading = read("n=10\nms=50\nn=2", KEYED)
    assert values(reading)["rate"] == 200.0
    assert [problem.render() for problem in reading.warnings] == ["file:3: the last line has no end and was not read"]


def test_over_long_lines_are_an_error_with_their_place() -> None:
    with pytest.raises(EvidenceError, match=r"^file:2: the line has more than 65536 characters"):
        read("n=1\n" + "x" * 70000 + "\n", KEYED)


def test_the_halogen_line_gives_commit_and_rounds_as_printed() -> None:
    line = "serve_api: mtp 63 tok in 1.31s = 47.97 t/s | 33 rounds, commit 1.88/round | prompt 27, prefill 0.21s\n"
    reading = read(line, shipped("halogen-flash-server"))
    assert reading.reader_id == "serve-api-log"
    assert reading.facts.number("rounds") == 33.0
    # Not 63/33 = 1.909: the first token comes from the prefill and belongs to no round.
    assert reading.facts.number("tokens_per_round") == 1.88
    assert reading.facts.number("rate_tok_s") == pytest.approx(62 / 1.31)


def test_first_and_last_go_by_lines_not_by_requests() -> None:
    of = toy({"pattern": PREFIX + r"last=(?P<last>\d+)", "key": ["slot", "task"], "per_request": True})
    assert values(read("0/1 last=1\n0/2 last=2\n0/1 last=3\n", of))["last"] == 3.0


@pytest.fixture
def few_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "MAX_OPEN", 3)


@pytest.mark.usefixtures("few_open")
def test_requests_that_others_have_overtaken_are_complete() -> None:
    many = "".join(f"0/{task} n={task}\n0/{task} ms=10\n" for task in range(1, 8))
    reading = read(many, KEYED)
    assert samples(reading) == tuple(task * 100.0 for task in range(1, 8))
    assert values(reading)["n"] == 28.0
    # A line that comes too late for its request counts without it.
    late = read("0/1 n=10\n" + "".join(f"0/{task} n=1\n" for task in range(2, 6)) + "0/1 ms=50\n", KEYED)
    assert (values(late)["n"], values(late)["ms"], samples(late)) == (14.0, 50.0, ())


@pytest.mark.usefixtures("few_open")
def test_lines_without_a_key_count_even_if_their_request_was_overtaken() -> None:
    others = "".join(f"0/{task} n=1\n" for task in range(2, 8))
    reading = read("0/1 begin\nn=3\n" + others + "n=10\nms=5\n", KEYED)
    assert (values(reading)["n"], values(reading)["ms"]) == (19.0, 5.0)


@pytest.mark.usefixtures("few_open")
def test_a_request_that_goes_on_is_not_overtaken() -> None:
    text = "9/9 n=1\n" + "".join(f"0/{task} n=1\n0/{task} ms=1\n9/9 last=1\n9/9 n=1\n" for task in range(8))
    reading = read(text + "9/9 ms=9\n", KEYED)
    assert samples(reading)[0] == 1000.0
    assert samples(reading).count(1000.0) == 9


@pytest.mark.usefixtures("few_open")
def test_cumulative_lines_outlive_any_number_of_requests() -> None:
    of = toy(
        {"pattern": r"^(?P<who>\w+): last=(?P<last>\d+)", "key": ["who"], "cumulative": True},
        {"pattern": PREFIX + r"n=(?P<n>\d+)", "key": ["slot", "task"], "per_request": True, "sets": {"requests": 1}},
        fields={**FIELDS, "last": {"combine": "sum"}},
    )
    text = "a: last=5\n" + "".join(f"0/{task} n=1\n" for task in range(20)) + "b: last=7\na: last=50\n"
    assert values(read(text, of)) == {"n": 20.0, "requests": 20.0, "last": 57.0}


def test_processes_beyond_counting_take_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "MAX_PROCESSES", 2)
    text = "".join(f"[{port}] 0/{port} begin\n[{port}] n=1\n[{port}] ms=1\n" for port in range(10, 16))
    reading = read(text, KEYED)
    assert len(samples(reading)) == 6
    assert "2 processes (10, 11)" in reading.contradictions[0].render()


def test_a_log_of_any_length_takes_the_same_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name in ((log, "MAX_OPEN"), (observed, "MAX_SAMPLES"), (totals, "MAX_PLACES")):
        monkeypatch.setattr(module, name, 50)
    reader = compile_readers(KEYED)[0]

    def peak(requests: int) -> int:
        collector = LogCollector(reader, "file")
        tracemalloc.start()
        for task in range(requests):
            for text in (f"0/{task} begin", f"0/{task} n=10", "new = 3", f"0/{task} ms=x", "ms=50", "last=7"):
                collector.take(text.encode(), 6 * task)
        found = collector.finish()
        assert found.combined().values["n"] == 10.0 * requests
        assert (found.unread_lines, found.more_warnings) == (requests, requests - 20)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(300)
    assert peak(1500) < 1.1 * peak(500)
