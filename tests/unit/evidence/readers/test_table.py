"""Tables in Markdown and of separated values."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specrules.errors import CatalogError, EvidenceError
from specrules.evidence.readers.reading import Reading

from .support import engine, read, values

FIELDS = {"n": {"column": "n"}, "rate": {"column": "t/s", "match": r"^([\d.]+)", "combine": "mean"}}
FACTS = [{"fact": "n", "value": "n"}, {"fact": "rate", "value": "rate"}]


def table(**more):
    example = {"text": "|n|t/s|\n|-|-|\n|1|2|\n", "facts": {"n": 1, "rate": 2}, "source": "made up"}
    reader = {"id": "t", "kind": "table", "requires": ["n", "t/s"], "fields": FIELDS, "facts": FACTS}
    return engine({**reader, "examples": [example], **more})


def read_table(text, **more) -> Reading:
    return read(text, table(**more))


@pytest.mark.parametrize(
    "text",
    [
        "| n | t/s |\n| -: | :-: |\n| 1 | 10.0 ± 1 |\n| 2 | 20.0 ± 2 |\n",
        "n,t/s,more\n1,10,x\n2,20,y\n",
        '"n";"t/s";"a;b"\n"1";"10";"c;d"\n"2";"20";""\n',
        "n\tt/s\n1\t10\n2\t20\n",
        "\r\nggml_cuda_init: found\r\n\r\n| n | t/s |\r\n|---|---|\r\n| 1 | 10 |\r\n| 2 | 20 |\r\n\r\nbuild: b1\r\n",
        "  | n | t/s |\n  |---|-----|\n  | 1 | 10 |\n  | 2 | 20 |",
        "| n | t/s |\n|---|---|\n| 1 | 10 |\n\n| t/s | n |\n|---|---|\n| 20 | 2 |\n",
        "n,t/s\n1,10\nn,t/s\n2,20\n",
    ],
)
def test_rows_of_every_form_are_read(text):
    reading = read_table(text)
    assert values(reading) == {"n": 3, "rate": 15}
    assert reading.warnings == ()


def test_facts_know_their_line():
    reading = read_table("load\n| n | t/s |\n|---|---|\n| 1 | 10 |\n")
    assert reading.facts["n"].provenance.source == "file:4"


def test_an_escaped_bar_is_part_of_its_cell():
    reading = read_table("| n | t/s | m |\n|---|---|---|\n| 1 | 10 | a\\|b |\n")
    assert values(reading) == {"n": 1, "rate": 10}


def test_rows_of_another_width_end_nothing_and_count_for_nothing():
    reading = read_table("n,t/s\n1,10\nllama_perf: done\n3\n1,2,3\n2,20\n")
    assert values(reading) == {"n": 3, "rate": 15}


def test_a_last_row_of_separated_values_without_an_end_may_be_cut():
    reading = read_table("n,t/s\n1,10\n2,2")
    assert values(reading) == {"n": 1, "rate": 10}
    assert [problem.render() for problem in reading.warnings] == ["file:3: the last line has no end and was not read"]


def test_a_row_with_what_is_no_number_is_left_out_as_a_whole():
    reading = read_table("n,t/s\n1,10\ntwo,20\n")
    assert values(reading) == {"n": 1, "rate": 10}
    assert [problem.render() for problem in reading.warnings] == ["file:3: n: 'two' is no number: the row was not read"]


def test_an_empty_cell_is_unknown():
    assert values(read_table("n,t/s\n1,\n2,\n")) == {"n": 3}


@pytest.mark.parametrize(
    "text",
    [
        "| n | rate |\n|---|---|\n| 1 | 2 |\n",
        "| n | t/s |\n| 1 | 2 |\n",
        "n t/s\n1 2\n",
        '"n,"t/s\n1,2\n',
        "n,rate\n1,2\n",
    ],
)
def test_other_tables_are_not_taken(text):
    with pytest.raises(EvidenceError, match="nothing in this file is known from Toy"):
        read_table(text)


CELLS = st.text(st.characters(codec="utf-8", exclude_characters="|\\\r\n", exclude_categories=["Cc", "Zl", "Zp"]))


@given(st.lists(st.tuples(st.integers(0, 10**6), CELLS), min_size=1, max_size=8))
def test_whatever_stands_in_other_cells_the_numbers_are_read(rows):
    lines = [f"| {number} | {number / 8} | {text} |" for number, text in rows]
    reading = read_table("\n".join(["| n | t/s | text |", "|---|---|---|", *lines, ""]))
    assert values(reading)["n"] == sum(number for number, _ in rows)
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows([("n", "t/s", "text"), *((n, n / 8, text) for n, text in rows)])
    assert values(read_table(buffer.getvalue()))["n"] == sum(number for number, _ in rows)


def test_a_field_needs_a_column():
    reader = {"fields": {**FIELDS, "x": {"path": "x"}}}
    with pytest.raises(CatalogError, match="field 'x': it names no column"):
        read_table("n,t/s\n1,10\n", **reader)
