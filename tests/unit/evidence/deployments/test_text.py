"""Texts keep the place of every character, whatever they are cut from and put together from."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from specrules.evidence.deployments.text import Builder, joined, merged, stretch, unknown
from tests.unit.evidence.deployments.build import span, text

FILE = text("alpha beta\n  gamma 'delta'\nomega")


def test_a_stretch_knows_its_span() -> None:
    gamma = stretch(FILE.source, 13, 18)
    assert gamma.value == "gamma"
    assert span(gamma.place()) == "2:3-2:8"
    assert [gamma.at(offset) for offset in range(6)] == [13, 14, 15, 16, 17, 18]


def test_a_cut_of_a_cut_is_where_it_is_in_the_file() -> None:
    assert FILE.cut(6, 20).cut(1, 4).start == 7


def test_an_empty_text_stands_where_it_was_cut() -> None:
    empty = FILE.cut(6, 6)
    assert (empty.value, empty.start) == ("", 6)
    assert span(empty.place()) == "1:7-1:7"


def test_white_space_around_a_text_goes_and_the_place_follows() -> None:
    assert FILE.cut(10, 19).stripped().start == 13
    assert FILE.cut(10, 13).stripped().value == ""


def test_lines_lose_their_ends() -> None:
    lines = list(text("a\r\nbc\n").lines())
    assert [(line.value, line.start) for line in lines] == [("a", 0), ("bc", 3), ("", 6)]


def test_runs_of_a_word_are_by_line() -> None:
    word = FILE.word()
    assert word.runs == ((0, 1, 1), (11, 2, 1), (27, 3, 1))
    assert span(word.at(13, 5)) == "2:3-2:8"
    assert word.at(27).line == 3


def test_a_word_of_several_places_stands_where_most_of_it_comes_from() -> None:
    file = text("M=/m\nrun --model $M/some-long-name.gguf")
    value = joined(file.source, [stretch(file.source, 2, 4), stretch(file.source, 19, 39)])
    assert value.value == "/m/some-long-name.gguf"
    assert span(value.place()) == "2:15-2:35"
    assert value.word().at(1).line == 1


def test_quotes_and_escapes_do_not_divide_a_place() -> None:
    file = text('say \'a"b\' "c"')
    builder = Builder(file.source, 5)
    builder.add(file, 5, 8)
    builder.add(file, 11, 12)
    assert span(builder.text().place()) == "1:6-1:13"


def test_holes_move_with_the_text_and_join_where_they_touch() -> None:
    builder = Builder(FILE.source, 0)
    builder.hole(FILE, 0, 3)
    builder.hole(FILE, 3, 5)
    builder.add(FILE, 5, 10)
    found = builder.text()
    assert found.holes == ((0, 5),)
    assert found.cut(4, 7).holes == ((0, 1),)
    assert found.cut(5, 10).rendered
    assert not found.cut(4, 5).rendered


def test_something_unknown_shows_what_is_written_or_something_else() -> None:
    assert unknown(FILE.cut(0, 5)).value == "alpha"
    assert unknown(FILE.cut(0, 5), "***").value == "***"
    assert unknown(FILE.cut(6, 6)).value == "?"
    assert not unknown(FILE.cut(6, 6)).rendered


def test_merging_holes() -> None:
    assert merged([(5, 7), (0, 2), (2, 3), (6, 9)]) == ((0, 3), (5, 9))


@given(st.lists(st.tuples(st.integers(0, 31), st.integers(0, 31)), max_size=8))
@settings(max_examples=60, deadline=None)
def test_every_character_of_a_built_text_is_the_one_at_its_place(cuts: list[tuple[int, int]]) -> None:
    builder = Builder(FILE.source, 0)
    for first, last in cuts:
        builder.add(FILE, min(first, last), max(first, last))
    built = builder.text()
    assert built.value == "".join(FILE.value[min(cut) : max(cut)] for cut in cuts)
    for index, character in enumerate(built.value):
        assert FILE.source.text[built.at(index)] == character
    word = built.word()
    for index, character in enumerate(built.value):
        place = word.at(index)
        assert (FILE.source.line(place.line) + "\n")[place.column - 1] == character
