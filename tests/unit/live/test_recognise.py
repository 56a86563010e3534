"""Which engine a server is, for every engine whose file says how it gives itself away."""

from __future__ import annotations

import pytest

from specrules.live.failures import LiveError
from specrules.live.probes import known_answer, placeholders
from specrules.live.recognise import paths_to_ask, recognise

from .halogen import Halogen
from .llama import Llama
from .recorded import Vllm
from .serving import Reply, serving


def engines(catalog):
    return tuple(catalog.engine(name).model for name in catalog.engine_ids)


def giveaways(engine):
    """The GET probes of an engine that name it, each with the text that does."""
    for probe in engine.probes:
        if probe.method == "GET" and not placeholders(probe):
            for answer in probe.answers:
                if answer.identifies:
                    yield probe.path, answer
                    break


@pytest.mark.parametrize(
    "name",
    [
        "llama.cpp",
        "vllm",
        "sglang",
        "tensorrt-llm",
        "tabbyapi",
        "ollama",
        "lm-studio",
        "halogen-flash-server",
        "halogen-server",
    ],
)
def test_an_engine_is_known_by_what_its_file_says(catalog, open_server, name):
    engine = catalog.engine(name).model
    said = {path: Reply(answer.contains, answer.status or 200, "text/plain") for path, answer in giveaways(engine)}
    assert said
    with serving(lambda asked: said.get(asked.path, Reply({}, 404))) as running:
        found = recognise(open_server(running.url), engines(catalog))
    assert found.engine.id == name
    assert set(found.because) <= {probe.id for probe in engine.probes}


@pytest.mark.parametrize(
    ("answer", "name"),
    [
        (Llama(), "llama.cpp"),
        (Halogen.flash(), "halogen-flash-server"),
        (Vllm("near8_draft8_k7_fp32", "near8_draft8_k7_fp32"), "vllm"),
    ],
)
def test_servers_that_answer_like_real_ones(catalog, open_server, answer, name):
    with serving(answer) as running:
        assert recognise(open_server(running.url), engines(catalog)).engine.id == name


def test_only_get_requests_are_sent_and_each_path_once(catalog, open_server):
    with serving(Llama()) as running:
        recognise(open_server(running.url), engines(catalog))
    assert running.paths("POST") == []
    assert sorted(running.paths("GET")) == sorted(paths_to_ask(engines(catalog)))


def test_a_server_that_no_engine_knows(catalog, open_server):
    with serving(lambda _: Reply({"hello": 1})) as running, pytest.raises(LiveError) as raised:
        recognise(open_server(running.url), engines(catalog))
    (problem,) = raised.value.problems
    assert problem.message.startswith("no known engine answers like this server (/ 200, /api/v0/models 200")
    assert problem.hint == "say which it is with --engine, or check the address"


def test_a_server_that_could_be_two(catalog, open_server):
    both = {"/v1/models": '{"owned_by":"vllm"}', "/server_info": '{"speculative_algorithm":null}'}
    with serving(lambda asked: Reply(both.get(asked.path, "{}"))) as running, pytest.raises(LiveError) as raised:
        recognise(open_server(running.url), engines(catalog))
    assert raised.value.problems[0].message == "the server could be sglang or vllm"


def test_a_server_that_wants_a_key(catalog, open_server):
    with (
        serving(lambda _: Reply({}, 401)) as running,
        pytest.raises(LiveError, match="401: the server wants credentials"),
    ):
        recognise(open_server(running.url), engines(catalog))


def test_one_broken_answer_does_not_hide_the_others(catalog, open_server):
    fake = Llama()
    with serving(lambda asked: None if asked.path == "/slots" else fake(asked)) as running:
        assert recognise(open_server(running.url), engines(catalog)).engine.id == "llama.cpp"


def test_nobody_is_there(catalog, open_server):
    with serving(Llama()) as running:
        url = running.url
    with pytest.raises(LiveError, match="the connection was refused: nothing listens there"):
        recognise(open_server(url), engines(catalog))


def test_white_space_in_json_does_not_count(catalog):
    probe = next(item for item in catalog.engine("llama.cpp").model.probes if item.id == "slots")
    assert known_answer(probe, 200, '[{"speculative" : true}]').means == "A drafting method is alive in that slot."
    assert known_answer(probe, 200, "[]") is None
    assert known_answer(probe, 501, "{}").means == "The server was started with --no-slots."
