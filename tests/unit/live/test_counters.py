"""Counters cut to what the readers ask for."""

from __future__ import annotations

import pytest

from specrules.live.counters import Counters, known_metrics, trimmed

from .llama import Llama
from .serving import Reply, serving


def test_only_known_series_and_their_types_are_kept(catalog):
    names = known_metrics(catalog.engine("llama.cpp").model)
    wanted = "# TYPE llamacpp:tokens_predicted_total counter\nllamacpp:tokens_predicted_total 5\n"
    assert trimmed(f"# HELP a b\n{wanted}# TYPE x gauge\nx 1\n", names) == wanted
    assert trimmed("# TYPE llamacpp:tokens_predicted_total counter\nx 1\n", names) == ""
    assert trimmed("", names) == ""


def test_a_count_that_comes_a_moment_late_is_waited_for(catalog, open_server):
    texts = iter(["llamacpp:tokens_predicted_total 5\n"] * 3 + ["llamacpp:tokens_predicted_total 9\n"] * 9)
    with serving(lambda _: Reply(next(texts), kind="text/plain")) as running:
        counters = Counters(open_server(running.url), catalog.engine("llama.cpp").model)
        before = counters.read()
        assert before == "llamacpp:tokens_predicted_total 5\n"
        assert counters.read(unlike=before) == "llamacpp:tokens_predicted_total 9\n"
        assert len(running.asked) == 4


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Llama(), None),
        (
            Llama(has_metrics=False),
            "501: the server has this switched off (no metrics: start the server with --metrics)",
        ),
        (
            lambda _: Reply({}, 404),
            "404: there is nothing at this address (no metrics: start the server with --metrics)",
        ),
        (lambda _: Reply("x 1\n", kind="text/plain"), "no series that the engine's file knows"),
    ],
)
def test_why_there_are_none(catalog, open_server, answer, said):
    engine = catalog.engine("llama.cpp").model
    with serving(answer) as running:
        found = Counters(open_server(running.url), engine).why_not(engine.serving.metrics_off)
    assert found == (None if said is None else f"{running.url}/metrics: {said}")


def test_an_engine_without_metrics(catalog, open_server):
    with serving(Llama()) as running:
        counters = Counters(open_server(running.url), catalog.engine("mlx-lm").model)
        assert counters.why_not("") == "the engine's file names no metrics: counts come from the responses alone"
        assert counters.read() == ""
        assert running.asked == []


def test_a_server_that_is_gone_has_no_counters(catalog, open_server):
    with serving(Llama()) as running:
        url = running.url
    assert Counters(open_server(url), catalog.engine("llama.cpp").model).read() == ""
