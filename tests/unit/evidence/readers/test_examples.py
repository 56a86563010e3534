from __future__ import annotations

from typing import Any

import pytest

from specrules.evidence.readers.examples import check_examples

from .support import engine, log_reader, shipped


@pytest.mark.parametrize("name", ["llama.cpp", "halogen-flash-server"])
def test_the_examples_of_the_shipped_engines_hold(name: str) -> None:
    of = shipped(name)
    assert check_examples(of) == []
    assert all(pattern.examples for reader in of.readers for pattern in reader.patterns)


def messages(*readers: dict[str, Any]) -> list[str]:
    return [problem.message.removeprefix("engine 'toy', reader ") for problem in check_examples(engine(*readers))]


def shape(pattern: str, *examples: tuple[str, dict[str, Any]], **more: Any) -> dict[str, Any]:
    lines = [{"line": line, "fields": fields, "source": "made up"} for line, fields in examples]
    return {"pattern": pattern, "examples": lines, **more}


def test_a_line_must_be_taken_by_its_own_pattern_and_give_exactly_its_fields() -> None:
    fields = {"n": {}, "m": {}, "t": {"type": "text", "combine": "last"}, "v": {"type": "numbers"}}
    reader = log_reader(
        fields,
        [{"fact": "n", "value": "n"}],
        [
            shape(r"^n=(?P<n>\S+)$", ("1 n=4", {"n": 4}), ("n=4", {"n": 5}), ("m=4", {"n": 4})),
            shape(
                r"^n=(?P<n>\d) (?:m=(?P<m>\d) )?t=(?P<t>\w+)",
                ("n=4 m=5 t=x", {"n": 4, "t": "x"}),
                ("n=4 t=x", {"n": 4, "m": 1, "t": "y"}),
            ),
            shape("^n=", ("n=4", {})),
            shape(r"v=(?P<v>.*)", ("v=1, 0.5", {"v": [1, 0.5]}), ("v=1, 0.5", {"v": [1]}), ("v=x", {"v": [1]})),
            shape("^k$", ("k", {"m": True}), sets={"m": 1}),
        ],
        strip=[r"^\d "],
    )
    assert messages(reader) == [
        "'log', pattern 'p0', example 2: the field n is 4.0, not 5.0",
        "'log', pattern 'p0', example 3: no pattern takes the line",
        "'log', pattern 'p1', example 1: the field m is not stated, found 5.0",
        "'log', pattern 'p1', example 2: the field m is missing, wanted 1.0",
        "'log', pattern 'p1', example 2: the field t is 'x', not 'y'",
        "'log', pattern 'p2', example 1: the pattern 'p0' takes the line first",
        "'log', pattern 'p3', example 2: the field v is (1.0, 0.5), not (1.0,)",
        "'log', pattern 'p3', example 3: v: 'x' is no number",
        "'log', pattern 'p4', example 1: the field m is 1.0, not True",
    ]


def document(identifier: str, text: str, facts: dict[str, Any], path: str = "n") -> dict[str, Any]:
    return {
        "id": identifier,
        "kind": "json",
        "requires": [path],
        "fields": {"n": {"path": path}},
        "facts": [{"fact": "n", "value": "n"}, {"fact": "third", "value": "n / 3"}],
        "examples": [{"text": text, "facts": facts, "source": "made up"}],
    }


def test_a_document_must_be_its_readers_own_and_give_exactly_its_facts() -> None:
    assert messages(
        document("good", '{"n": 1}', {"n": 1, "third": 0.333333}),
        document("wrong", '{"m": 1}', {"n": 1.1, "fourth": 0.25}, "m"),
        document("taken", '{"n": 1, "k": 1}', {}, "k"),
        document("empty", " ", {}, "e"),
        document("unknown", '{"x": 1}', {}, "y"),
    ) == [
        "'wrong', example 1: the fact fourth is missing, wanted 0.25",
        "'wrong', example 1: the fact third is not stated, found 0.3333333333333333",
        "'wrong', example 1: the fact n is 1.0, not 1.1",
        "'taken', example 1: the reader 'good' takes the text",
        "'empty', example 1: example: the file is empty",
        "'unknown', example 1: no reader recognises the text",
    ]


def test_readers_that_do_not_compile_are_reported_and_the_others_still_run() -> None:
    bad = log_reader({"n": {}}, [{"fact": "n", "value": "n"}], [shape(r"(?<=n)(?P<n>\d)", ("n1", {"n": 1}))])
    found = messages(bad, document("json", '{"n": 1}', {"n": 2, "third": 1 / 3}))
    assert found == [
        "'log', pattern 'p0': RE2 refuses the pattern: invalid perl operator: (?<= in '(?<=n)(?P<n>\\\\d)'",
        "'log', field 'n': no pattern gives it",
        "'json', example 1: the fact n is 1.0, not 2.0",
    ]
