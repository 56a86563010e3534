from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specrules.evidence.patterns import Pattern, PatternError, PatternSet, literal


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
