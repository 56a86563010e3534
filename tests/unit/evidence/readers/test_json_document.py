from __future__ import annotations

import json
from typing import Any

import pytest

from specrules.errors import EvidenceError
from specrules.evidence.readers.json_document import values as at
from specrules.evidence.readers.reading import Reading

from .support import engine, read, shipped, values


def toy(fields: dict[str, Any], requires: list[str], records: str = "") -> Any:
    return engine(
        {
            "id": "answer",
            "kind": "json",
            "requires": requires,
            "records": records,
            "fields": {"count": {"value": "1"}, **fields},
            "facts": [{"fact": name, "value": name} for name in ("count", *fields)]
            + [{"fact": "twice", "value": f"2 * {name}", "sampled": True} for name in fields if name == "n"],
            "examples": [{"text": "{}", "facts": {}, "source": "made up"}],
        }
    )


N = toy({"n": {"path": "t.n"}}, ["t.n"])


def messages(reading: Reading) -> list[str]:
    return [problem.render() for problem in reading.warnings]


@pytest.mark.parametrize(
    ("path", "item", "expected"),
    [
        ("a.b", {"a": {"b": 1}}, [("a.b", 1)]),
        ("a[].b", {"a": [{"b": 1}, {}, {"b": 2}]}, [("a[0].b", 1), ("a[2].b", 2)]),
        ("[].b", [{"b": 1}], [("[0].b", 1)]),
        ("a.b.c", {"a": {"b.c": 5}}, [("a.b.c", 5)]),
        ("a.b.c", {"a.b": {"c": 6}, "a": {"x": 0}}, [("a.b.c", 6)]),
        ("a", {"b": 1}, []),
        ("a.b", {"a": [1]}, []),
        ("a[]", {"a": {"b": 1}}, []),
        ("a", None, []),
    ],
)
def test_paths(path: str, item: object, expected: list[Any]) -> None:
    assert list(at(item, path)) == expected


def test_one_document_a_list_and_one_document_per_line() -> None:
    single = read('{"t": {"n": 3}}', N)
    assert (values(single), single.facts["n"].provenance.source) == (
        {"count": 1.0, "n": 3.0, "twice": 6.0},
        "file at t.n",
    )
    listed = read('[{"t": {"n": 3}},\n {"t": {"n": 4}}]', N)
    assert (values(listed)["n"], listed.facts["n"].provenance.source) == (7.0, "file at [0].t.n (+1 more value)")
    assert listed.facts["twice"].samples == (6.0, 8.0)
    lines = read('{"t": {"n": 3}}\n\n{"t": {"n": 5}}\n', N)
    assert (values(lines)["n"], lines.facts["n"].provenance.source) == (8.0, "file:1 (+1 more line)")


def test_records_below_a_path() -> None:
    of = toy({"n": {"path": "n"}}, ["n"], records="runs[].items")
    reading = read('{"runs": [{"items": [{"n": 1}, {"n": 2}]}, {"items": [{"n": 4}]}]}', of)
    assert values(reading) == {"count": 3.0, "n": 7.0, "twice": 14.0}
    assert reading.facts["n"].provenance.source == "file at runs[0].items[0].n (+2 more values)"


def test_records_of_another_kind_are_left_out_and_counted() -> None:
    reading = read('[{"t": {"n": 3}}, {"error": "busy"}, 5]', N)
    assert values(reading)["count"] == 1.0
    assert messages(reading) == ["file: [1]: 2 of 3 records lack t.n and were left out"]


@pytest.mark.parametrize("number", ["NaN", "1e999", "true", '"many"', "[1]", "1" * 400])
def test_a_record_with_a_number_that_is_none_is_left_out_as_a_whole(number: str) -> None:
    reading = read(f'[{{"t": {{"n": 3}}}}, {{"t": {{"n": {number}}}}}]', N)
    assert values(reading) == {"count": 1.0, "n": 3.0, "twice": 6.0}
    assert messages(reading)[0].startswith("file: [1]: n: ")
    assert values(read(f'{{"t": {{"n": {number}}}}}', N)) == {}


def test_null_is_unknown() -> None:
    assert "n" not in values(read('[{"t": {"n": null}, "x": 1}]', N))


def test_texts_are_made_printable() -> None:
    of = toy({"s": {"type": "text", "combine": "last", "path": "s"}}, ["s"])
    assert values(read(r'{"s": "a\ud800\u0000\u001b[31mb"}', of))["s"] == "a   [31mb"
    assert values(read('{"s": 11434}', of))["s"] == "11434"


def test_lists_are_vectors() -> None:
    of = toy({"v": {"type": "numbers", "path": "v"}}, ["v"])
    assert values(read('[{"v": [1, 2.5]}, {"v": [1]}]', of))["v"] == (2.0, 2.5)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"t": {"n": 3}', "file:1:15: this is not JSON: Expecting ',' delimiter"),
        ('{"t":\n {"n": }}', "file:2:8: this is not JSON: Expecting value"),
        ('{"a": 1}\n{"b": \n', "file:2:1: this is not JSON: Extra data"),
        ("[" * 100000, "file: nothing in this file is known"),
        ('{"a":' * 100000, "file: this is not JSON that can be read: "),
        ('{"a": ' + "9" * 5000 + "}", "file: this is not JSON that can be read: "),
    ],
)
def test_what_does_not_parse_is_an_error_with_its_place(text: str, message: str) -> None:
    with pytest.raises(EvidenceError) as caught:
        read(text, N)
    assert str(caught.value).startswith(message)


def test_long_lines_are_fine_in_json() -> None:
    assert values(read(json.dumps({"prompt": "x" * 200000, "t": {"n": 3}}), N))["n"] == 3.0


def test_props_never_say_that_a_server_drafts() -> None:
    settings = {"params": {"speculative.types": "draft-simple"}, "n_ctx": 512}
    text = json.dumps({"default_generation_settings": settings, "total_slots": 1})
    assert values(read(text, shipped())) == {"engine.context_tokens": 512.0, "engine.slots": 1.0}
