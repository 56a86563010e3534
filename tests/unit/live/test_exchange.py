"""One timed request, and every way in which it can go wrong: what came until then is kept."""

from __future__ import annotations

import pytest

from specrules.catalog.prompts import Ask
from specrules.live.exchange import exchange
from specrules.live.target import Target, generation_of

from .serving import Reply, Stream, event, serving


def piece(text):
    return event({"choices": [{"delta": {"content": text}}]})


END = event({"choices": [], "usage": {"completion_tokens": 3}, "timings": {"predicted_n": 3, "predicted_ms": 4.0}})


@pytest.fixture
def send(catalog, open_server):
    """Send one request to a server that answers as told."""

    def sending(answer, engine="llama.cpp", **more):
        with serving(lambda _: answer) as running:
            server = open_server(running.url, **more)
            target = Target(
                "candidate", server, catalog.engine(engine).model, generation_of(catalog.engine(engine).model, None, "")
            )
            found = exchange(server, target.generation, target.body(Ask("p", "t", "hello"), 8, 0.0))
        return found, running

    return sending


def test_pieces_are_timed_as_they_come(send):
    found, running = send(Stream([piece("a"), 0.3, piece("b"), piece("c"), 0.02, END, event("[DONE]")]))
    assert found.error == ""
    assert found.text == "abc"
    first, second, third = found.chunk_ms
    assert second - first >= 290
    assert third - second < 200
    assert found.total_ms >= third + 15
    assert found.response["timings"] == {"predicted_n": 3, "predicted_ms": 4.0}
    assert running.asked[0].body == {
        "messages": [{"role": "user", "content": "hello"}],
        "max_tokens": 8,
        "temperature": 0.0,
        "stream": True,
        "stream_options": {"include_usage": True},
        "cache_prompt": False,
    }


def test_lines_instead_of_events(send):
    lines = [
        b'{"message": {"content": "a"}, "done": false}\n',
        b'{"message": {"content": "b"}, "done": true, "eval_count": 2}\n',
    ]
    found, _ = send(Stream(lines, kind="application/x-ndjson"), "ollama")
    assert (found.text, found.error, found.response["eval_count"]) == ("ab", "", 2)


def test_the_settings_that_a_server_repeats_are_not_kept(send):
    found, _ = send(
        Stream(
            [piece("a"), event({"prompt": "secret", "generation_settings": {"x": 1}, "timings": {"predicted_n": 1}})]
        )
    )
    assert found.response.keys() == {"choices", "timings"}


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (Stream([piece("a"), piece("b")], breaks=True), "the answer was cut off after"),
        (Stream([piece("a"), piece("b")]), "the stream broke off before its end"),
        (
            Stream([piece("a"), piece("b"), event({"error": {"message": "boom"}})]),
            "the server ended the stream with an error: boom",
        ),
        (Stream([piece("a"), piece("b"), b"data: {nonsense\n\n"]), "the stream holds what is no JSON: {nonsense"),
    ],
)
def test_what_came_before_a_failure_is_kept(send, answer, error):
    found, _ = send(answer)
    assert found.error.startswith(error)
    assert found.text == "ab"
    assert len(found.chunk_ms) == 2


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (Reply({"error": {"message": "no such model"}}, 404), "404: there is nothing at this address: no such model"),
        (Reply({}, 401), "401: the server wants credentials"),
        (Reply({"error": {"message": "Loading model"}}, 503), "503: the server is busy: Loading model"),
        (Reply({"detail": "bad field"}, 400), "HTTP status 400: bad field"),
        (Reply("<html>log in</html>", kind="text/html"), "the stream holds what is no JSON: <html>log in</html>"),
        (Reply({"choices": [{"message": {"content": "all at once"}}]}), "the stream broke off before its end"),
        (Stream([END, event("[DONE]")]), "the answer holds no text"),
        (None, "the server hung up"),
    ],
)
def test_answers_that_are_no_stream(send, answer, error):
    found, _ = send(answer)
    assert found.error == error
    assert found.text == ""


def test_a_whole_answer_that_ends_like_a_stream_was_not_streamed(send):
    found, _ = send(Reply({"choices": [{"message": {"content": "x"}}], "timings": {"predicted_n": 2}}))
    assert found.error == "the server did not stream"


def test_a_connection_that_breaks_before_anything_came_is_tried_once_more(catalog, open_server):
    answers = iter([None, Stream([piece("a"), END, event("[DONE]")])])
    engine = catalog.engine("llama.cpp").model
    with serving(lambda _: next(answers)) as running:
        found = exchange(open_server(running.url), generation_of(engine, None, ""), {})
    assert (found.text, found.error) == ("a", "")
    assert len(running.asked) == 2


def test_a_stream_that_stalls(catalog, open_server):
    engine = catalog.engine("llama.cpp").model
    with serving(lambda _: Stream([piece("a"), 0.6, END])) as running:
        from specrules.live.http import Limits, server

        with server(running.url, limits=Limits(read_s=0.1)) as one:
            found = exchange(one, generation_of(engine, None, ""), {})
    assert found.error == "no answer for 0.1 s"
    assert found.is_gone
    assert found.text == "a"


def test_a_stream_without_end_has_a_limit(catalog):
    from specrules.live.http import Limits, server

    engine = catalog.engine("llama.cpp").model

    def endless():
        while True:
            yield piece("x" * 1000)

    with serving(lambda _: Stream(endless())) as running, server(running.url, limits=Limits(max_bytes=50_000)) as one:
        found = exchange(one, generation_of(engine, None, ""), {})
    assert found.error == "the answer is larger than 0 MiB"
    assert 40 <= len(found.chunk_ms) <= 50


def test_a_stream_that_drips_has_a_limit(catalog):
    from specrules.live.http import Limits, server

    engine = catalog.engine("llama.cpp").model

    def drops():
        for _ in range(100):
            yield piece("x")
            yield 0.02

    with serving(lambda _: Stream(drops())) as running, server(running.url, limits=Limits(total_s=0.15)) as one:
        found = exchange(one, generation_of(engine, None, ""), {})
    assert found.error == "the answer is not complete after 0.15 s"
    assert 2 <= len(found.chunk_ms) <= 20
