"""Streams as documents: however the bytes arrive, the documents are the same."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specrules.live.failures import LiveError
from specrules.live.streaming import Documents, laid_over

TEXT = (
    b": a comment\r\n"
    b'event: message\r\ndata: {"a": 1, "text": "\xc3\xa4\xe2\x82\xac"}\r\n\r\n'
    b'data: {"b":\n'
    b"data:  2}\n\n"
    b"id: 7\n\n"
    b'data:{"c": [3]}\n\n'
    b"data: [DONE]\n\n"
)
FOUND = [{"a": 1, "text": "ä€"}, {"b": 2}, {"c": [3]}]


def documents(pieces, kind="events"):
    clock = iter(range(1000))
    found = Documents(iter(pieces), kind, "http://h/x", clock=lambda: float(next(clock)))
    return [item for _, item in found], found


@given(st.lists(st.integers(0, len(TEXT)), max_size=12).map(sorted))
def test_where_the_bytes_are_split_does_not_matter(cuts):
    ends = [0, *cuts, len(TEXT)]
    found, stream = documents([TEXT[one:other] for one, other in pairwise(ends)])
    assert found == FOUND
    assert stream.ended


def test_every_document_has_the_time_of_its_piece():
    stream = Documents(
        iter([b'data: {"a":1}\n\ndata: {"a":2}\n\n', b'data: {"a":3}\n\n']),
        "events",
        "",
        iter((5.0, 7.0, 9.0)).__next__,
    )
    assert [(at, item["a"]) for at, item in stream] == [(5.0, 1), (5.0, 2), (7.0, 3)]


def test_a_document_per_line():
    found, stream = documents([b'{"a":1}\n{"a"', b':2}\n\n{"a":3}'], "lines")
    assert found == [{"a": 1}, {"a": 2}, {"a": 3}]
    assert not stream.ended


def test_the_last_event_needs_no_empty_line_and_half_of_one_is_no_json():
    assert documents([b'data: {"a":1}'])[0] == [{"a": 1}]
    with pytest.raises(LiveError, match=r'holds what is no JSON: \{"a":'):
        documents([b'data: {"a":'])


def test_an_answer_that_was_not_streamed_is_one_document():
    assert documents([json.dumps({"choices": [1]}).encode()])[0] == [{"choices": [1]}]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b'data: {"error": {"message": "out of memory", "code": 500}}\n\n', "out of memory"),
        (b'data: {"error": "context\\nfull"}\n\n', "context full"),
        (b"error: slot unavailable\n\n", "slot unavailable"),
    ],
)
def test_an_error_in_the_stream(data, said):
    with pytest.raises(LiveError, match=f"the server ended the stream with an error: {said}"):
        documents([data])


def test_a_page_instead_of_a_stream():
    with pytest.raises(LiveError, match="holds what is no JSON: <html>"):
        documents([b"<html>\n<body>log in</body></html>\n"])


class TestLaidOver:
    """Documents of one answer laid over each other."""

    def test_later_values_win_and_mappings_grow_together(self):
        one = laid_over({"a": 1, "m": {"x": 1, "y": 2}}, {"a": 2, "m": {"y": 3, "z": 4}})
        assert one == {"a": 2, "m": {"x": 1, "y": 3, "z": 4}}

    def test_nothing_replaces_nothing(self):
        assert laid_over({"usage": {"n": 1}, "choices": [1]}, {"usage": None, "choices": []}) == {
            "usage": {"n": 1},
            "choices": [1],
        }
        assert laid_over({}, {"metrics": None}) == {"metrics": None}
