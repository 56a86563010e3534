from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specrules.evidence.readers.compiling import compile_readers
from specrules.evidence.readers.log import match_line
from specrules.evidence.readers.patterns import (
    Pattern,
    PatternError,
    PatternSet,
    Prefixes,
    Screen,
    is_prefix,
    literal,
    loosened,
)

from .support import shipped


@pytest.mark.parametrize("text", ["(?<!prompt )eval", "a(?=b)", r"(a)\1", "(", "a{5000}"])
def test_refused_patterns_raise_and_print_nothing(text: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(PatternError, match="RE2 refuses the pattern: "):
        Pattern(text)
    assert capfd.readouterr() == ("", "")


def test_a_group_cannot_stand_twice() -> None:
    with pytest.raises(PatternError, match="the group 'x' stands twice"):
        Pattern("(?P<x>a)|(?P<x>b)")
    assert Pattern(r"\(\?P<x>(?P<x>b)").groups == ("x",)


def test_groups_and_optional_groups() -> None:
    pattern = Pattern(r"(?P<a>\d+)(?: of (?P<b>\d+))?")
    assert pattern.groups == ("a", "b")
    assert pattern.search("x 3 of 4") == {"a": "3", "b": "4"}
    assert pattern.search("3") == {"a": "3", "b": None}
    assert pattern.search("none") is None


def test_first_group_or_the_whole_match() -> None:
    assert Pattern(r"^b(\d+)-").first_group("b11434-abc") == "11434"
    assert Pattern(r"\d+").first_group("b11434") == "11434"
    assert Pattern(r"^b(\d+)-").first_group("11434") is None


def test_a_set_finds_what_each_pattern_finds_alone() -> None:
    found = PatternSet([r"^a", literal("1+1"), r"b$", "é"])
    assert found.matching("a 1+1 b") == [0, 1, 2]
    assert found.matching("x é") == [3]
    assert found.matching("11") == []
    assert PatternSet([]).matching("a") == []


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="ab=( )0é", max_size=30))
def test_a_set_agrees_with_the_standard_library(line: str) -> None:
    patterns = [r"^ *a = (\d+)", r"\(a|b\)", r"b+ ?0$", "é", r"a.*b.*0"]
    expected = [index for index, pattern in enumerate(patterns) if re.search(pattern, line)]
    assert PatternSet(patterns).matching(line) == expected


def test_what_would_backtrack_for_ages_is_quick() -> None:
    pattern = Pattern(r"^(a+)+$")
    start = time.perf_counter()
    assert pattern.search("a" * 60000 + "b") is None
    assert time.perf_counter() - start < 2


@pytest.mark.parametrize(
    ("text", "loose"),
    [
        (r"^ab", "ab"),
        (r"^a[^b]\^c", r"a[^b]\^c"),
        (r"^a|(?:x|^b)\b", r"a|(?:x|b)"),
        (r"[a^b\]^]\A[]^]", r"[a^b\]^][]^]"),
        (r"(?P<n>\d+)\z", r"(?:\d+)$"),
        (r"\(\?P<x>[[:alpha:]^]", r"\(\?P<x>[[:alpha:]^]"),
        (r"\Q^a\E^b", r"\Q^a\Eb"),
    ],
)
def test_loosened_patterns_say_nothing_about_beginnings(text: str, loose: str) -> None:
    assert loosened(text) == loose


@pytest.mark.parametrize(
    ("text", "expected"),
    [(r"^a(?:b|c)", True), (r"^a|b", False), (r"a", False), (r"^(?P<x>a|b)[|]\|", True), (r"^a\b", False)],
)
def test_a_prefix_can_only_stand_at_the_beginning(text: str, expected: bool) -> None:
    assert is_prefix(text) is expected


PREFIXES = [r"^[\w-]+ \| ", r"^(\d+)-(?P<day>\d+) ", r"^\[(?P<process>\d+)\] ", r"^(?P<level>[IWE]) "]
PARTS = ["name | ", "2026-11 ", "[7] ", "I ", "x", " "]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(PARTS), max_size=6).map("".join))
def test_prefixes_taken_together_are_taken_one_after_the_other(line: str) -> None:
    patterns = [Pattern(text) for text in PREFIXES]
    # An alternative beside the first caret makes the same prefixes go one by one.
    one_by_one = Prefixes([*patterns, Pattern("^never|^never at all")])
    assert Prefixes(patterns).remove(line.encode()) == one_by_one.remove(line.encode())


def test_prefixes_give_their_named_groups() -> None:
    prefixes = Prefixes(Pattern(text) for text in PREFIXES)
    assert prefixes.remove(b"a | 2026-11 [7] I x") == (b"x", ("11", "7", "I"))
    assert prefixes.remove(b"2026-11 x [7] I") == (b"x [7] I", ("11", None, None))
    assert Prefixes([]).remove(b"I x") == (b"I x", ())


def found(screen: Screen, *lines: str) -> list[tuple[int, str]]:
    block = "".join(f"{line}\n" for line in lines).encode()
    return [(number, line.decode()) for number, line in screen.lines(block, 11)]


def test_a_screen_finds_lines_with_their_numbers() -> None:
    screen = Screen([r"^n = (\d+)", "é$", literal("1+1")])
    lines = ["x", "n = 1", "", "prefix n = 2 tail", "caf\u00e9", "\u00e9 no", "1+1", "11"]
    assert found(screen, *lines) == [(12, "n = 1"), (14, "prefix n = 2 tail"), (15, "café"), (17, "1+1")]
    assert found(screen) == found(Screen([]), "x") == []
    assert found(Screen(["^(?:a)?"]), "x", "", "y") == [(11, "x"), (12, ""), (13, "y")]


def test_no_pattern_reaches_beyond_its_line() -> None:
    lines = ("a", "b", "a b")
    for text in (r"a\s+b", r"a[^x]b", r"(?s)a.b", r"a\W*b", "a\nb", r"a\nb"):
        assert found(Screen([text]), *lines) in ([(13, "a b")], []), text


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.lists(st.sampled_from(["1 ", "ab", " = ", "7", "b0", "é", "x", "(a"]), max_size=5).map("".join), max_size=6
    )
)
def test_a_screen_finds_every_line_that_a_pattern_matches(lines: list[str]) -> None:
    patterns = [r"^ab = (?P<n>\d+)", r"\(a|b\)", r"b+ ?0\z", "é", r"^x.*7.*0", r"\bab\b"]
    compiled = [re.compile(text.replace(r"\z", r"\Z")) for text in patterns]
    numbers = [number for number, _ in found(Screen(patterns), *lines)]
    for number, line in enumerate(lines, start=11):
        without_prefix = line.removeprefix("1 ")
        if any(pattern.search(text) for pattern in compiled for text in (line, without_prefix)):
            assert number in numbers, line


@pytest.mark.parametrize("name", ["llama.cpp", "halogen-flash-server"])
def test_the_screens_of_shipped_engines_find_their_examples_and_little_else(name: str) -> None:
    for reader in compile_readers(shipped(name)):
        if reader.lines is None:
            continue
        examples = [line.line for pattern in reader.spec.patterns for line in pattern.examples]
        assert all(match_line(reader, line) for line in examples)
        noise = ["0.00.534.616 I load: token to piece cache size = 0.3170 MB", "", "INFO: started"]
        screen = Screen(reader.lines.screen)
        mixed = [text for line in examples for text in (*noise, line)]
        assert [number - 10 for number, _ in found(screen, *mixed)] == list(range(4, len(mixed) + 1, 4))
