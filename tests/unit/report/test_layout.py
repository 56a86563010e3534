from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from specrules.report.layout import WIDEST_COLUMN, align, tidy
from specrules.report.markdown import code, escape

from .parsed import blocks, shown


def test_columns_line_up_and_keep_their_alignment() -> None:
    assert align(["| a | rate | b |", "| --- | ---: | :-: |", "| long name | 1.5 | x |", "|y|10||"]) == [
        "| a         | rate | b   |",
        "| --------- | ---: | :-: |",
        "| long name |  1.5 | x   |",
        "| y         |   10 |     |",
    ]


def test_the_last_column_is_not_padded() -> None:
    assert align(["| a | b |", "| --- | --- |", "| x | a long text |"]) == [
        "| a   | b |",
        "| --- | --- |",
        "| x   | a long text |",
    ]


def test_a_very_wide_cell_pushes_no_other_row() -> None:
    wide = "x" * (WIDEST_COLUMN + 1)
    assert align(["| a | b |", "| --- | --- |", f"| {wide} | 1 |", "| y | 2 |"]) == [
        "| a   | b |",
        "| --- | --- |",
        f"| {wide} | 1 |",
        "| y   | 2 |",
    ]


def test_wide_characters_count_double_and_combining_ones_not() -> None:
    assert align(["| 漢字 | b |", "| --- | --- |", "| e\u0301 | 1 |"]) == [
        "| 漢字 | b |",
        "| ---- | --- |",
        "| e\u0301    | 1 |",
    ]


def test_escaped_pipes_stay_in_their_cell() -> None:
    assert align([r"| a\|b | \\|", "|---|---|", r"| x | y\|\| |"]) == [
        r"| a\|b | \\ |",
        "| ---- | --- |",
        r"| x    | y\|\| |",
    ]


def test_lines_that_are_no_table_stay() -> None:
    ragged = ["| a | b |", "| --- | --- |", "| only one |"]
    for lines in (["| a | b |"], ["| a |", "| b |"], ragged, []):
        assert align(lines) == lines


def test_blank_lines_and_line_ends() -> None:
    assert tidy("\n\na\n\n\n   \nb \nc  \nd\n\n\n") == "a\n\nb\nc  \nd\n"
    assert tidy("") == "\n"


def test_code_is_left_alone() -> None:
    inside = "```sh\n| a | b |\n| --- | --- |\n\n\n``\n  x \n```"
    assert tidy(f"{inside}\n\n\n| a | b |\n|---|---|") == f"{inside}\n\n| a   | b |\n| --- | --- |\n"
    longer = "````\n```\n| a |\n\n\n| - |\n````"
    assert tidy(longer) == longer + "\n"


CELLS = st.lists(st.text(max_size=50).map(escape) | st.text(max_size=50).map(code), min_size=3, max_size=3)


@settings(deadline=None)
@given(st.lists(CELLS, min_size=1, max_size=5))
def test_tidy_changes_nothing_that_a_reader_sees(rows: list[list[str]]) -> None:
    head, *body = (f"| {' | '.join(row)} |" for row in rows)
    text = "\n".join([head, "| --- | ---: | :---: |", *body])
    assert blocks(tidy(text)) == blocks(text)
    assert shown(tidy(text)) == shown(text)
    assert tidy(tidy(text)) == tidy(text)
