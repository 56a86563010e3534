from __future__ import annotations

from typing import Any

import pytest

from specrules.errors import CatalogError
from specrules.evidence.readers.compiling import compile_readers

from .support import engine, log_reader, read, values


def problems(reader: dict[str, Any]) -> list[str]:
    with pytest.raises(CatalogError) as caught:
        compile_readers(engine(reader))
    return [problem.render().removeprefix("engine 'toy', reader 'log', ") for problem in caught.value.problems]


GOOD: dict[str, Any] = {"n": {}}
FACT = [{"fact": "n", "value": "n"}]


def test_everything_that_is_wrong_is_said_at_once_with_its_place() -> None:
    found = problems(
        log_reader(
            {
                "n": {"combine": "any"},
                "text": {"type": "text"},
                "flag": {"type": "flag", "combine": "any", "default": 1},
                "number": {"default": True},
                "mean": {"weight": "n"},
                "when": {"when": "n > 1"},
                "value": {"value": "later + nothing"},
                "later": {"combine": "mean", "weight": "later"},
                "part": {"type": "text", "combine": "last", "match": "(?=x)"},
            },
            [
                {"fact": "a", "value": "m"},
                {"fact": "b", "value": "n", "when": "n"},
            ],
            [
                {"pattern": "(?<!a)b"},
                {"pattern": r"(?P<nn>\d)", "key": ["slot"], "sets": {"other": 1}},
            ],
            checks=[{"id": "c", "require": "n + 1", "message": "x"}],
            strip=["(?<=a)"],
        )
    )
    assert found == [
        "field 'n': a field of type number combines by sum, last, first, max, min, mean",
        "field 'text': a field of type text combines by last, first, join",
        "field 'flag': the default 1.0 is no flag",
        "field 'number': the default True is no number",
        "field 'mean': only a mean has a weight",
        "field 'when': `when` goes with `value`",
        "field 'value': unknown name 'later' in `later + nothing`",
        "field 'value': unknown name 'nothing' in `later + nothing`",
        "field 'later': unknown name 'later' in `later`",
        "field 'part': RE2 refuses the pattern: invalid perl operator: (?= in '(?=x)'",
        "pattern 'p0': RE2 refuses the pattern: invalid perl operator: (?<! in '(?<!a)b'",
        "pattern 'p1': 'nn' is no field of the reader (did you mean 'n'?)",
        "pattern 'p1': 'other' is no field of the reader (did you mean 'later'?)",
        "pattern 'p1': the key 'slot' is no group of the pattern",
        "fact 'a': unknown name 'm' in `m`",
        found[15],
        found[16],
        *(
            f"field {name!r}: no pattern gives it"
            for name in ("n", "text", "flag", "number", "mean", "when", "later", "part")
        ),
    ]
    # The words are those of the expression language.
    assert found[15].startswith("fact 'b': ")
    assert found[15].endswith(" a number in `n`")
    assert found[16].startswith("check 'c': ")
    assert found[16].endswith(" a number in `n + 1`")


def test_a_strip_that_is_refused_is_named() -> None:
    assert problems(log_reader(GOOD, FACT, [r"(?P<n>\d)"], strip=["(?<=a)"])) == [
        "strip: RE2 refuses the pattern: invalid perl operator: (?<= in '(?<=a)'"
    ]


def test_problems_of_all_readers_are_collected() -> None:
    bad = log_reader(GOOD, FACT, ["("])
    with pytest.raises(CatalogError) as caught:
        compile_readers(engine(bad, {**bad, "id": "second"}))
    assert [("'second'" in problem.message) for problem in caught.value.problems] == [False, False, True, True]


def test_patterns_and_readers_of_other_versions_are_left_out() -> None:
    old = {"pattern": r"^n=(?P<n>\d+)$", "until": "b9"}
    new = {"pattern": r"^n=(?P<n>\d)", "since": "b10"}
    of = engine(log_reader(GOOD, FACT, [old, new]), {**log_reader(GOOD, FACT, [old]), "id": "ancient", "until": "b5"})

    def readers(version: str | None) -> list[tuple[str, int]]:
        return [(item.spec.id, len(item.patterns)) for item in compile_readers(of, version)]

    assert readers(None) == readers("not a version") == [("log", 2), ("ancient", 1)]
    assert readers("b9") == [("log", 1)]
    assert readers("b4") == [("log", 1), ("ancient", 1)]
    assert readers("11434") == [("log", 1)]


def test_the_functions_of_readers() -> None:
    fields: dict[str, Any] = {"n": {}, "v": {"type": "numbers"}}
    facts = [
        {"fact": "half", "value": "rounded(n / 2)"},
        {"fact": "sum", "value": "total(v)"},
        {"fact": "each", "value": "shares(v, n)"},
        {"fact": "none", "value": "shares(v, n - n)"},
    ]
    of = engine(log_reader(fields, facts, [r"^n=(?P<n>\d+) v=(?P<v>.*)"]))
    assert values(read("n=5 v=1 2 3\n", of)) == {"half": 3.0, "sum": 6.0, "each": (0.2, 0.4, 0.6)}
    assert values(read("n=4 v=\n", of)) == {"half": 2.0, "sum": 0.0}
