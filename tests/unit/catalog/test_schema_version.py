from __future__ import annotations

import pytest

from specrules.catalog.located import load_document
from specrules.catalog.schema_version import schema_problems


def test_the_version_this_one_reads_is_fine() -> None:
    assert schema_problems(load_document("schema: 1", "f")) == []
    assert schema_problems(load_document("schema: 2", "f"), newest=2) == []


def test_the_range_is_named_where_there_is_one() -> None:
    (problem,) = schema_problems(load_document("schema: a", "f"), newest=3)
    assert problem.message == "'schema' must be a whole number from 1 to 3, not 'a'"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id: x", "f:1:1: missing key 'schema' (write 'schema: 1' at the top)"),
        ("id: x\nschema: 2", "f:2:9: written for a newer specrules (schema 2, this one reads 1)"),
        ("schema: '1'", "f:1:9: 'schema' must be 1, not '1'"),
        ("schema: 1.0", "f:1:9: 'schema' must be 1, not 1.0"),
        ("schema: true", "f:1:9: 'schema' must be 1, not true"),
        ("schema: 0", "f:1:9: 'schema' must be 1, not 0"),
        ("schema:", "f:1:8: 'schema' must be 1, not empty"),
        ("schema: {a: 1}", "f:1:9: 'schema' must be 1, not a mapping"),
    ],
)
def test_any_other_is_one_problem(text: str, message: str) -> None:
    assert [problem.render().splitlines()[0] for problem in schema_problems(load_document(text, "f"))] == [message]
