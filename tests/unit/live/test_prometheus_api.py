"""Asking the HTTP API of Prometheus: pieces of a range, selectors, and what a failure is called."""

from __future__ import annotations

import json
import socket
from urllib.parse import parse_qs, urlsplit

import pytest

from specrules.errors import EvidenceError
from specrules.live import prometheus_api
from specrules.live.http import Limits, LiveError, TooLargeError, server
from specrules.live.prometheus_api import PrometheusApi, Window, matchers

from .answering import Reply, answering


def success(data):
    return Reply(json.dumps({"status": "success", "data": data}).encode())


def matrix(*result):
    return success({"resultType": "matrix", "result": list(result)})


class Fake:
    """Samples of one counter every 10 s, as an API gives them: the ends of a piece included."""

    def __init__(self, **replies):
        self.replies = replies
        self.queries = []

    def __call__(self, path):
        parts = urlsplit(path)
        asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
        name = parts.path.removeprefix("/api/v1/").replace("/", "_")
        if name in self.replies:
            return self.replies[name]
        if name == "query":
            self.queries.append(asked["query"])
            end = float(asked["time"])
            length = float(asked["query"].rpartition("[")[2].removesuffix("s]"))
            times = [at for at in range(0, 100_000, 10) if end - length <= at <= end]
            return matrix({"metric": {"__name__": "m"}, "values": [[at, str(at)] for at in times]})
        return success([])


def api_of(fake, use, *, limits=None):
    with answering(fake) as running, server(running.url, limits=limits) as one:
        return use(PrometheusApi(one)), running


def samples(fake, start, end, *, selector='{job="llm"}', limits=None):
    found, _ = api_of(fake, lambda api: list(api.samples(selector, ["b", "a"], Window(start, end))), limits=limits)
    return [sample for piece in found for series in piece for sample in series.samples]


def test_a_range_is_one_piece_up_to_six_hours():
    fake = Fake()
    found = samples(fake, 1000, 4600)
    assert fake.queries == ['{__name__=~"a|b",job="llm"}[3600s]']
    assert [found[0], found[-1]] == [(1000, 1000), (4600, 4600)]


def test_a_longer_range_is_cut():
    fake = Fake()
    found = samples(fake, 0, 50_000)
    assert [query.rpartition("[")[2] for query in fake.queries] == ["21600s]", "21600s]", "6800s]"]
    assert {at for at, _ in found} == set(range(0, 50_001, 10))


def test_a_piece_that_is_too_large_is_halved():
    fake = Fake()
    found = samples(fake, 0, 20_000, limits=Limits(max_bytes=10_000))
    assert len(fake.queries) > 4
    assert {at for at, _ in found} == set(range(0, 20_001, 10))


def test_a_minute_that_is_too_large_is_refused():
    with pytest.raises(TooLargeError):
        samples(Fake(), 0, 20_000, limits=Limits(max_bytes=150))


def test_names_and_types():
    fake = Fake(
        label___name___values=success(["b", "a", 3]),
        metadata=success({"m": [{"type": "counter", "help": ""}], "n": [], "o": "x"}),
    )
    names, running = api_of(fake, lambda api: api.names("", Window(5, 6.5)))
    assert names == {"a", "b"}
    asked = parse_qs(urlsplit(running.asked[0].path).query)
    assert asked == {"match[]": ['{__name__!=""}'], "start": ["5.000"], "end": ["6.500"]}
    assert api_of(fake, PrometheusApi.types)[0] == {"m": "counter"}


def test_a_server_without_metadata_has_no_types():
    assert api_of(Fake(metadata=Reply(b"not found", 404)), PrometheusApi.types)[0] == {}


def test_samples_that_are_no_numbers_are_left_out():
    broken = matrix(
        {"metric": {"__name__": "m"}, "values": [[1, "NaN"], [2, "+Inf"], [3, "4"], ["x", "5"], [6], None, [7, "x"]]},
        {"metric": {"__name__": "n"}, "values": [[1, "NaN"]]},
        {"values": [[1, "1"]]},
        "nonsense",
    )
    assert samples(Fake(query=broken), 0, 60) == [(3, 4)]


@pytest.mark.parametrize(
    ("reply", "message", "hint"),
    [
        (Reply(b"{}", 401), "401: the server wants credentials", "put a token into the environment"),
        (Reply(b"{}", 404), "404: there is no Prometheus API here", "is this the address of a Prometheus server"),
        (Reply(b"<html></html>"), "the answer is a page of HTML, not JSON", "is this the address"),
        (Reply(b'{"status":"success","data":{"resultType":"matrix","res'), "the answer is cut off", ""),
        (Reply(b'{"status":"success","data":{"resultType"}}', cut=20), "the answer was cut off after 20 bytes", ""),
        (Reply(b'{"ok": true}'), "the answer is not that of a Prometheus API", ""),
        (Reply(b"[]"), "the answer is not that of a Prometheus API", ""),
        (success({"resultType": "scalar", "result": [1, "2"]}), "the answer holds no series over time", ""),
        (Reply(b'{"status":"error","error":"query timed out"}', 422), "the query was refused: query timed out", ""),
        (Reply(b"{}", 502), "502", ""),
    ],
)
def test_what_a_failure_is_called(reply, message, hint):
    with pytest.raises(LiveError) as raised:
        samples(Fake(query=reply), 0, 60)
    (problem,) = raised.value.problems
    assert problem.message.startswith(message)
    assert problem.hint.startswith(hint)
    assert problem.where is not None
    assert problem.where.path.startswith("http://127.0.0.1:")


def test_nobody_listens():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with server(url) as one, pytest.raises(LiveError, match="the connection was refused"):
            PrometheusApi(one).names("", Window(0, 1))


@pytest.mark.parametrize(
    ("selector", "inside"),
    [
        ("", '__name__!=""'),
        ("{}", '__name__!=""'),
        ('{job="llm"}', 'job="llm"'),
        (' job="llm", pod=~"a|b{1,2}\\"}" ', 'job="llm", pod=~"a|b{1,2}\\"}"'),
        ('{job="llm",}', 'job="llm"'),
    ],
)
def test_selectors(selector, inside):
    assert matchers(selector) == inside


@pytest.mark.parametrize(
    "selector",
    ['{job="llm"}[5m]', 'up{job="llm"}', '{job="llm"} or {a="b"}', 'job="llm"} or up{', '{job="', '{a="\n"}'],
)
def test_what_is_no_selector_is_refused(selector):
    with pytest.raises(EvidenceError, match="is no selector: a list of label matchers in braces"):
        matchers(selector)


def test_the_longest_piece_is_what_the_limit_of_an_answer_allows():
    # 300 series scraped every 15 s with 25 bytes a sample stay below the 64 MiB of one answer.
    assert Limits().max_bytes > prometheus_api.LONGEST_PIECE_S / 15 * 300 * 25
