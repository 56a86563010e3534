"""Runs against servers on this machine."""

from __future__ import annotations

import pytest

from specrules.catalog.prompts import Ask
from specrules.evidence.samples.reading import samples_reading
from specrules.live.measuring import Measuring, Settings
from specrules.live.stopping import Rule
from specrules.live.target import Target, generation_of, request_drafter

from .halogen import Halogen
from .llama import Llama
from .recorded import Vllm
from .serving import Reply, serving

PROMPTS = tuple(Ask(f"set/p{index}", "chat", f"{chr(97 + index)} question") for index in range(12))
TWO_OF_THREE = (3, 1)


@pytest.fixture
def measure(catalog, open_server):
    """Measure servers by URL as `arm=url` pairs; return the run, and its reading."""

    def measuring(
        settings, *, engine="llama.cpp", rule=None, drafters=(), prompts=PROMPTS, show=lambda _: None, **urls
    ):
        model = catalog.engine(engine).model
        opened = {url: open_server(url) for url in urls.values()}
        targets = [Target(arm, opened[url], model, generation_of(model, None, ""), "m") for arm, url in urls.items()]
        for arm, name in drafters:
            chosen = request_drafter(model, name, "")
            targets.append(Target(arm, targets[0].server, model, targets[0].generation, "m", chosen))
        kept = []
        run = Measuring(targets, prompts, settings, rule or Rule(0.05, 1), keep=kept.append, show=show).measure()
        assert kept == run.samples
        reading = samples_reading("s.jsonl", run.samples, lambda name: catalog.engine(name).model)
        return run, reading

    return measuring


def settings(**more):
    return Settings(**({"requests": 9, "max_tokens": 13, "warm_up": 1, "stops_early": False} | more))


class TestTwoServers:
    """An A/B run: prompts in turns, counts by metric deltas, answers compared."""

    def test_rates_tokens_per_round_and_positions(self, measure):
        plain, drafting = Llama(pass_s=0.006), Llama(matches=lambda _: TWO_OF_THREE, pass_s=0.006)
        with serving(plain) as one, serving(drafting) as other:
            run, reading = measure(settings(), incumbent=one.url, candidate=other.url)
        facts = reading.facts
        assert run.ended == "all requests were sent"
        assert (facts.number("incumbent.requests"), facts.number("candidate.requests")) == (9, 9)
        # 12 tokens behind the first: 3 + 1, 1 + 1, 3 + 1, 1 + 1 of four rounds.
        assert facts.number("candidate.rounds") == 9 * 4
        assert facts.number("candidate.tokens_per_round") == 3.0
        assert facts.number("candidate.drafted") == 9 * 12
        assert facts.value("candidate.position_acceptance") == (1.0, 0.5, 0.5)
        assert facts.number("candidate.coverage") == 1.0
        assert facts.number("candidate.mean_draft_length") == 3.0
        assert facts.value("candidate.drafting") is True
        assert facts.value("incumbent.drafting") is False
        assert facts.number("candidate.same_outputs") == 1.0
        ratio = run.looks[1].standings[0].ratio
        assert ratio.mid > 1.5
        assert run.looks[1].standings[0].side == "above"
        rate, decode = facts.number("candidate.rate_tok_s"), facts.number("candidate.decode_ms")
        assert rate == pytest.approx(9 * 12 * 1000 / decode)
        assert facts.value("candidate.rate_kind") == "client"
        assert facts.number("candidate.round_ms") >= 6

    def test_the_order_in_which_requests_reach_the_servers(self, measure):
        with serving(Llama()) as one, serving(Llama()) as other:
            run, _ = measure(settings(requests=3), incumbent=one.url, candidate=other.url)
        sent = [(item.arm, item.prompt) for item in run.samples]
        assert sent == [
            ("incumbent", "set/p11"),
            ("candidate", "set/p11"),
            ("incumbent", "set/p0"),
            ("candidate", "set/p0"),
            ("candidate", "set/p1"),
            ("incumbent", "set/p1"),
            ("incumbent", "set/p2"),
            ("candidate", "set/p2"),
        ]
        assert [item.warm_up for item in run.samples] == [True, True, *[False] * 6]

    def test_it_ends_once_the_interval_lies_on_one_side(self, measure):
        with serving(Llama(pass_s=0.004)) as one, serving(Llama(matches=lambda _: (3,), pass_s=0.004)) as other:
            run, _ = measure(settings(requests=12, stops_early=True), incumbent=one.url, candidate=other.url)
        assert run.ended == "8 prompts were enough"
        assert len(run.samples) == 2 + 16

    def test_answers_that_differ_are_found(self, measure):
        odd = Llama(text=lambda prompt, index: f" {prompt[:3]}{index}" if index != 7 or prompt[0] != "c" else " other")
        with serving(Llama()) as one, serving(odd) as other:
            _, reading = measure(settings(), incumbent=one.url, candidate=other.url)
        assert reading.facts.number("candidate.same_outputs") == pytest.approx(8 / 9)
        notes = [item.message for item in reading.warnings]
        assert "candidate: 8 of 9 greedy answers are those of incumbent; they part in set/p2 from character 36" in notes


class TestOneServerThatDies:
    """What was measured until a server is lost is kept."""

    @pytest.mark.parametrize("engine", ["llama.cpp"])
    def test_in_the_middle_of_an_answer(self, measure, engine):
        with serving(Llama()) as one:
            dying = Llama(dies_after=5)
            with serving(dying) as other:
                dying.on_death = other.stop
                run, reading = measure(settings(), engine=engine, incumbent=one.url, candidate=other.url)
        assert run.lost == "candidate"
        assert run.why.startswith("the answer was cut off after")
        last = run.samples[-1]
        assert last.arm == "candidate"
        assert last.error == run.why
        assert last.text.startswith(" ")
        assert len(last.chunk_ms) > 3
        assert reading.facts.number("candidate.requests") == 4
        assert reading.facts.number("incumbent.requests") in {4, 5}

    def test_a_server_that_fails_again_and_again_is_left_alone(self, measure):
        fake = Llama()
        answers = lambda asked: Reply({"error": {"message": "boom"}}, 500) if asked.method == "POST" else fake(asked)  # noqa: E731
        with serving(Llama()) as one, serving(answers) as other:
            run, reading = measure(settings(), incumbent=one.url, candidate=other.url)
        assert run.lost == "candidate"
        assert run.why == "HTTP status 500: boom"
        assert sum(item.arm == "candidate" for item in run.samples) == 3
        assert "candidate.rate_tok_s" not in reading.facts

    def test_a_single_failure_is_noted_and_the_run_goes_on(self, measure):
        fake, count = Llama(), iter(range(100))
        answers = lambda asked: Reply({}, 500) if asked.method == "POST" and next(count) == 4 else fake(asked)  # noqa: E731
        with serving(answers) as one:
            run, reading = measure(settings(), incumbent=one.url)
        assert run.lost is None
        assert reading.facts.number("incumbent.requests") == 8
        assert "incumbent: 1 requests failed, the last with: HTTP status 500" in [
            item.message for item in reading.warnings
        ]


class TestCounters:
    """Counts come from metric deltas around each request, where nobody else was served."""

    def test_other_clients_spoil_the_counters_and_not_the_rate(self, measure):
        with serving(Llama(matches=lambda _: (1,), others=7)) as one:
            _, reading = measure(settings(), candidate=one.url)
        assert "candidate.rounds" not in reading.facts
        assert "candidate.tokens_per_round" not in reading.facts
        assert reading.facts.number("candidate.accepted_ratio") == pytest.approx(1 / 3)
        assert reading.facts.number("candidate.rate_tok_s") > 0
        assert any("served others during 9 of 9 requests" in item.message for item in reading.warnings)

    def test_without_metrics_the_response_still_counts(self, measure):
        with serving(Llama(matches=lambda _: (1,), has_metrics=False)) as one:
            _, reading = measure(settings(), candidate=one.url)
        assert "candidate.rounds" not in reading.facts
        assert reading.facts.number("candidate.target_passes") == 9 * 6

    def test_metrics_are_not_read_where_they_are_not_wanted(self, measure):
        with serving(Llama()) as one:
            measure(settings(reads_counters=False), candidate=one.url)
            assert "/metrics" not in one.paths()


class TestBudget:
    """A run ends at its budget, between two prompts."""

    def test_requests(self, measure):
        with serving(Llama()) as one, serving(Llama()) as other:
            run, _ = measure(settings(budget_requests=7), incumbent=one.url, candidate=other.url)
        assert run.ended == "the budget of 7 requests is used up"
        assert len(run.samples) == 6

    def test_seconds(self, measure):
        with serving(Llama(pass_s=0.01)) as one:
            run, _ = measure(settings(budget_s=0.3), incumbent=one.url)
        assert run.ended == "the budget of 0.3 s is used up"
        assert 2 <= len(run.samples) <= 4


class TestConcurrency:
    """Several requests at once, level by level."""

    def test_levels(self, measure):
        with serving(Llama(pass_s=0.004)) as one:
            run, reading = measure(settings(requests=8, concurrency=(1, 4)), incumbent=one.url)
            assert one.most == 4
        assert [item.concurrency for item in run.samples if not item.warm_up] == [1] * 8 + [4] * 8
        assert all(item.metrics_after == "" for item in run.samples if item.concurrency == 4)
        assert reading.facts.number("incumbent.concurrency") == 1
        assert any("concurrency 4 are left out" in item.message for item in reading.warnings)

    def test_a_level_can_be_asked_for(self, measure, catalog):
        with serving(Llama()) as one:
            run, _ = measure(settings(requests=8, concurrency=(1, 4)), incumbent=one.url)
        reading = samples_reading("s", run.samples, lambda name: catalog.engine(name).model, "incumbent", concurrency=4)
        assert reading.facts.number("incumbent.concurrency") == 4
        assert reading.facts.number("incumbent.requests") == 8


class TestRequestsThatChoose:
    """halogen: one server, and requests that name their drafter."""

    def test_on_and_off(self, measure):
        fake = Halogen.flash(pass_s=0.004)
        with serving(fake) as one:
            run, reading = measure(
                settings(requests=8), engine="halogen-flash-server", incumbent=one.url, drafters=[("off", None)]
            )
        assert fake.asked_for == [None, "serial", *[None, "serial", "serial", None] * 4]
        assert reading.facts.value("incumbent.drafting") is True
        assert reading.facts.value("off.drafting") is False
        assert run.looks[1].standings[0].side == "below"
        assert {item.drafter for item in run.samples if item.arm == "off"} == {"serial"}
        assert reading.facts.number("off.same_outputs") == 1.0

    def test_a_drafter_that_the_checkpoint_lacks(self, measure):
        fake = Halogen.flash()
        with serving(fake) as one:
            run, reading = measure(
                settings(), engine="halogen-flash-server", incumbent=one.url, drafters=[("candidate", "dflash2")]
            )
        assert run.lost == "candidate"
        assert run.why == "HTTP status 400: drafter 'dflash2' unavailable: the loaded checkpoint cannot serve it"
        assert reading.facts.number("incumbent.requests") == 1


def test_vllm_played_back_from_a_recording(measure):
    """The open prompts of near8_draft8_k7_fp32: counters and tokens per step as they were recorded."""
    fake = Vllm("near8_draft8_k7_fp32", "near8_draft8_k7_fp32")
    with serving(fake) as one:
        run, reading = measure(settings(requests=6, max_tokens=64, warm_up=0), engine="vllm", candidate=one.url)
    assert [item.error for item in run.samples] == [""] * 6
    facts = reading.facts
    assert facts.number("candidate.tokens") == 384
    assert facts.number("candidate.rounds") == 81
    assert facts.number("candidate.drafted") == 567
    assert facts.number("candidate.accepted") == 314
    assert facts.number("candidate.tokens_per_round") == pytest.approx(4.877, abs=5e-4)
    assert facts.number("candidate.coverage") == 1.0
    # Gaps were played at 1/200 of their length, so that the round is as much shorter, and a little longer by overhead.
    assert 553.92 / 200 <= facts.number("candidate.round_ms") < 553.92 / 200 + 3
    assert any("6 prompts are not enough" in item.message for item in reading.warnings)


def test_progress_shows_every_step_with_the_interval(measure):
    seen = []
    with serving(Llama()) as one:
        measure(settings(), show=seen.append, incumbent=one.url)
    assert [(item.done, item.steps) for item in seen] == [(index, 10) for index in range(1, 11)]
    assert seen[0].look is None
    assert seen[-1].look.rates["incumbent"] is not None
    assert seen[6].look.rates["incumbent"] is None
