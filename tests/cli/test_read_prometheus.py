"""`specrules read --prometheus`: options, errors and the table of a deployment, against an API that a test answers."""

from __future__ import annotations

import json
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.unit.live.answering import Reply, answering

from .running import cli, refused

SERIES = {
    "llamacpp:tokens_predicted_total": (100, 400),
    "llamacpp:tokens_predicted_seconds_total": (2, 12),
    "llamacpp:spec_decode_num_drafts_total": (10, 110),
    "llamacpp:spec_decode_num_draft_tokens_total": (30, 330),
    "llamacpp:spec_decode_num_accepted_tokens_total": (20, 170),
}


def api(path):
    parts = urlsplit(path)
    asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
    if parts.path.endswith("/values"):
        data = list(SERIES) if "nothing" not in asked["match[]"] else []
    elif parts.path.endswith("/query"):
        end = float(asked["time"])
        data = {
            "resultType": "matrix",
            "result": [
                {
                    "metric": {"__name__": name, "job": "llm", "instance": instance},
                    "values": [[end - 60, str(first)], [end - 1, str(last)]],
                }
                for name, (first, last) in SERIES.items()
                for instance in ("a:1", "b:1")
            ],
        }
    else:
        data = {}
    return Reply(json.dumps({"status": "success", "data": data}).encode())


@pytest.fixture
def url(monkeypatch):
    monkeypatch.setenv("NETRC", "/none")
    with answering(api) as running:
        yield running.url


def test_each_deployment_is_a_block(url):
    ran = cli("read", "--prometheus", url, "--range", "6h", "--until", "2026-11-29T12:00:00Z")
    assert ran.code == 0
    assert [line for line in ran.out.splitlines() if "run: " in line] == ["  run: instance=a:1", "  run: instance=b:1"]
    assert ran.out.count("tokens_per_round") == 2
    assert "over 6 h until 2026-11-29T12:00:00Z at llamacpp:" in ran.out


def test_one_of_them_as_json(url):
    ran = cli("read", "--prometheus", url, "--where", "instance=b:1", "--format", "json")
    data = json.loads(ran.out)
    facts = {fact["name"]: fact["value"] for fact in data["facts"]}
    assert (data["engine"], data["run"]) == ("llama.cpp", {"job": "llm", "instance": "b:1"})
    assert (facts["rate_tok_s"], facts["tokens_per_round"], facts["accepted_ratio"]) == (30, 2.5, 0.5)


def test_nothing_found_names_what_was_asked(url):
    (message,) = refused("read", "--prometheus", url, "--selector", '{job="nothing"}', "--engine", "vllm")
    assert message.startswith(f'{url}: no series matches {{job="nothing"}} in the 1 h until ')
    assert "looked for vllm:generation_tokens_total" in message


def test_a_token_from_the_environment_is_sent_and_never_shown(monkeypatch):
    monkeypatch.setenv("OURS", "s3cret")
    with answering(lambda _: Reply(b"{}", 401)) as running:
        (message,) = refused("read", "--prometheus", running.url, "--token-env", "OURS")
    assert running.asked[0].headers["Authorization"] == "Bearer s3cret"
    assert "401: the server does not accept the credentials" in message
    assert "s3cret" not in message


@pytest.mark.parametrize(
    ("arguments", "messages"),
    [
        ([], ["name a file to read, or a server with --prometheus URL"]),
        (["a.log", "--prometheus", "http://h"], ["name a file to read, or a server with --prometheus URL, not both"]),
        (
            ["a.log", "--range", "6h", "--selector", "{}"],
            ["--range goes with --prometheus URL", "--selector goes with --prometheus URL"],
        ),
        (
            ["--prometheus", "http://h", "--before", "a.txt"],
            ["--before goes with a file: a range of time ends with --until"],
        ),
        (["--prometheus", "http://h", "--range", "6"], ["--range: '6' is no length of time such as 30m, 6h or 1d12h"]),
        (["--prometheus", "h:9090"], ["only http and https URLs can be asked"]),
    ],
)
def test_options_that_make_no_sense(arguments, messages):
    assert refused("read", *arguments) == messages
