"""From samples to facts: what is counted, over what, and what stays unknown."""

from __future__ import annotations

import pytest

from specrules.catalog.catalogue import Catalog
from specrules.errors import EvidenceError
from specrules.evidence.samples.lines import written
from specrules.evidence.samples.reading import read_samples, samples_reading
from specrules.evidence.samples.request import repeats_itself, request_of

from .build import dump, sample, timings


@pytest.fixture(scope="module")
def catalog():
    return Catalog.load()


@pytest.fixture
def read(catalog):
    def reading(samples, arm=None, **more):
        return samples_reading("s.jsonl", samples, lambda name: catalog.engine(name).model, arm, **more)

    return reading


def notes(reading):
    return [item.message for item in reading.warnings]


class TestRate:
    """Tokens behind the first over the time behind the first, as the client saw it."""

    def test_eight_equal_requests(self, read):
        facts = read([sample(index) for index in range(8)]).facts
        rate = facts["candidate.rate_tok_s"]
        assert (rate.value, rate.low, rate.high) == (10.0, 10.0, 10.0)
        assert facts.value("candidate.rate_kind") == "client"
        assert facts.number("candidate.time_to_first_token_ms") == 100.0
        assert facts.number("candidate.tokens") == 88
        assert facts.number("candidate.decode_ms") == 8000
        assert facts.number("candidate.own_rate_tok_s") == 10.0
        assert rate.provenance.source == "s.jsonl"
        assert rate.provenance.observed_at == sample(7).started_at

    def test_it_is_a_quotient_of_sums(self, read):
        slow = tuple(100.0 + 300.0 * step for step in range(11))
        facts = read([sample(0), sample(1, chunk_ms=slow)]).facts
        assert facts.number("candidate.rate_tok_s") == pytest.approx(20 / 4)
        assert facts["candidate.rate_tok_s"].low is None
        assert facts["candidate.rate_tok_s"].samples == pytest.approx((10.0, 10 / 3))

    def test_repeats_of_a_prompt_count_once(self, read):
        samples = [sample(index % 4, order=index, repeat=index // 4) for index in range(8)]
        reading = read(samples)
        assert reading.facts.number("candidate.requests") == 8
        assert len(reading.facts["candidate.rate_tok_s"].samples) == 4
        assert reading.facts["candidate.rate_tok_s"].low is None
        assert "candidate: 4 prompts are not enough for an interval, which needs 8" in notes(reading)

    def test_tokens_that_nobody_counted_give_no_rate(self, read):
        reading = read([sample(index, response={"choices": []}) for index in range(8)])
        assert "candidate.rate_tok_s" not in reading.facts
        assert "candidate.tokens" not in reading.facts
        assert "candidate: 8 of 8 answers do not say how many tokens they have" in notes(reading)

    def test_one_request_without_tokens_leaves_the_sum_unknown(self, read):
        facts = read([sample(0), sample(1, response={})]).facts
        assert "candidate.tokens" not in facts
        assert facts.number("candidate.rate_tok_s") == 10.0

    def test_a_single_piece_of_text_has_no_rate(self, read):
        assert "candidate.rate_tok_s" not in read([sample(0, chunk_ms=(5.0,))]).facts


class TestAcceptance:
    """Rounds from the response or from the counters around the request."""

    def drafting(self, index, rounds=4, accepted=6, **more):
        positions = (4, 2, 0)
        after = dump(111, 12, accepted, rounds, positions)
        return sample(
            index,
            **({"response": timings(11, 12, accepted), "metrics_before": dump(100), "metrics_after": after} | more),
        )

    def test_counts_and_positions(self, read):
        facts = read([self.drafting(index) for index in range(8)]).facts
        assert facts.number("candidate.rounds") == 32
        assert facts.number("candidate.tokens_per_round") == 2.5
        assert (facts["candidate.tokens_per_round"].low, facts["candidate.tokens_per_round"].high) == (2.5, 2.5)
        assert facts.value("candidate.position_acceptance") == (1.0, 0.5, 0.0)
        assert facts.number("candidate.target_passes") == 32
        assert facts.number("candidate.coverage") == 1.0
        assert facts.number("candidate.round_ms") == 250.0
        assert facts.number("candidate.mean_draft_length") == 3.0
        assert facts.value("candidate.drafting") is True

    def test_rounds_that_draft_in_a_part_of_the_passes_have_no_common_time(self, read):
        facts = read([self.drafting(index, rounds=2, accepted=4) for index in range(8)]).facts
        assert facts.number("candidate.coverage") == pytest.approx(2 / 6)
        assert "candidate.round_ms" not in facts

    def test_counters_of_others_are_left_out(self, read):
        disturbed = self.drafting(0, metrics_after=dump(150, 12, 6, 4, (4, 2, 0)))
        reading = read([disturbed, *(self.drafting(index) for index in range(1, 8))])
        assert "candidate.rounds" not in reading.facts
        assert reading.facts.number("candidate.accepted") == 48
        assert any("served others during 1 of 8 requests" in text for text in notes(reading))

    def test_counters_around_one_of_several_requests_say_nothing(self, catalog):
        request = request_of(self.drafting(0, concurrency=4), catalog.engine("llama.cpp").model)
        assert request.rounds is None
        assert request.accepted == 6

    def test_a_server_that_was_restarted_in_between(self, catalog):
        request = request_of(self.drafting(0, metrics_before=dump(9999)), catalog.engine("llama.cpp").model)
        assert request.rounds is None

    def test_nothing_drafted(self, read):
        facts = read([sample(index) for index in range(8)]).facts
        assert facts.value("candidate.drafting") is False
        assert facts.number("candidate.drafted") == 0
        assert "candidate.tokens_per_round" not in facts

    def test_a_response_that_counts_its_rounds_needs_no_counters(self, read):
        stats = {
            "mean_acceptance_length": 2.5,
            "draft_acceptance_rate": 0.5,
            "acceptance_histogram": [1, 1, 0, 2],
            "num_spec_steps": 4,
            "num_accepted_draft_tokens": 7,
            "num_draft_tokens": 12,
            "num_spec_tokens": 3,
        }
        response = {
            "usage": {"prompt_tokens": 3, "completion_tokens": 11},
            "metrics": {"speculative_decoding": stats | {"mean_acceptance_length": 2.75}},
        }
        facts = read([sample(index, engine="vllm", response=response) for index in range(8)]).facts
        assert facts.number("candidate.tokens_per_round") == 2.75
        assert facts.number("candidate.draft_length") == 3


class TestWhichSamplesCount:
    """Warm-up, failures, other arms and other levels."""

    def test_warm_up_and_failures_do_not_count(self, read):
        samples = [sample(0, warm_up=True), sample(1, error="boom"), sample(2)]
        reading = read(samples)
        assert reading.facts.number("candidate.requests") == 1
        assert "candidate: 1 requests failed, the last with: boom" in notes(reading)

    def test_arms_are_kept_apart(self, read):
        samples = [sample(0), sample(0, arm="incumbent", chunk_ms=tuple(100.0 + 50.0 * step for step in range(11)))]
        both = read(samples)
        assert both.facts.number("incumbent.rate_tok_s") == 20.0
        assert both.facts.number("candidate.rate_tok_s") == 10.0
        alone = read(samples, "incumbent")
        assert {name.partition(".")[0] for name in alone.facts} == {"incumbent"}

    def test_an_arm_that_was_not_measured(self, read):
        with pytest.raises(EvidenceError) as raised:
            read([sample(0)], "off")
        (problem,) = raised.value.problems
        assert problem.message == "nothing was measured of off: the samples are of candidate"
        assert problem.hint == "measure it as off=URL"

    def test_all_failed(self, read):
        reading = read([sample(0, error="x")])
        assert len(reading.facts) == 0
        assert reading.engine_id == "llama.cpp"

    def test_the_level_of_the_workload(self, read):
        samples = [sample(index, concurrency=level) for level in (1, 4) for index in range(2)]
        assert read(samples).facts.number("candidate.concurrency") == 1
        assert read(samples, "candidate", concurrency=4).facts.number("candidate.concurrency") == 4
        other = read(samples, "candidate", concurrency=8)
        assert other.facts.number("candidate.concurrency") == 1
        assert "measured at concurrency 1, and the workload has 8" in notes(other)


class TestConditions:
    """What the measurement was taken under."""

    def test_shipped_prompts_are_a_data_set(self, read):
        facts = read([sample(index, temperature=0.7) for index in range(8)]).facts
        assert facts.value("candidate.prompts") == "dataset"
        assert facts.number("candidate.temperature") == 0.7
        assert facts.number("candidate.concurrency") == 1
        assert facts.number("candidate.context_tokens") == 10 + 11 / 2

    def test_prompts_of_the_user_are_what_the_user_says(self, read):
        assert "candidate.prompts" not in read([sample(0, own_prompts=True)]).facts

    def test_answers_that_repeat_themselves(self, read):
        loop = "the same passage again and again. " * 12
        reading = read([sample(index, text=loop if index < 5 else "fine") for index in range(8)])
        assert reading.facts.value("candidate.prompts") == "repeated-text"
        assert any("5 of 8 answers repeat themselves" in text for text in notes(reading))
        assert (
            read([sample(index, text=loop if index < 4 else "fine") for index in range(8)]).facts.value(
                "candidate.prompts"
            )
            == "dataset"
        )

    def test_what_repeats_itself(self):
        assert repeats_itself("ha " * 100)
        assert not repeats_itself("ha " * 10)
        assert not repeats_itself("\n".join(f"{index}: {index * index * 7919 % 1000003}" for index in range(60)))


class TestOutputs:
    """Greedy answers of two arms."""

    def test_equal_up_to_the_shorter_one(self, read):
        pairs = [
            sample(0, arm="off", text="abcdef"),
            sample(0, text="abcd"),
            sample(1, arm="off", text="xyz"),
            sample(1, text="xaz"),
        ]
        reading = read(pairs)
        assert reading.facts.number("candidate.same_outputs") == 0.5
        assert "candidate: 1 of 2 greedy answers are those of off; they part in chat/p1 from character 1" in notes(
            reading
        )

    def test_sampled_answers_are_not_compared(self, read):
        pairs = [sample(0, arm="off", temperature=0.7), sample(0, temperature=0.7)]
        assert "candidate.same_outputs" not in read(pairs).facts

    def test_it_is_a_fact_of_the_arm_that_is_asked_for(self, read):
        pairs = [sample(0, arm="off"), sample(0)]
        assert read(pairs, "candidate").facts.number("candidate.same_outputs") == 1.0
        assert "off.same_outputs" not in read(pairs, "off").facts


def test_a_file_is_read_again_to_the_same_facts(tmp_path, catalog, read):
    samples = [sample(index, arm=arm) for index in range(8) for arm in ("off", "candidate")]
    file = tmp_path / "s.jsonl"
    file.write_text("".join(written(item) + "\n" for item in samples) + '{"what":"sample","sch')
    found = read_samples(str(file), lambda name: catalog.engine(name).model, "candidate")
    fresh = read(samples, "candidate")
    assert {name: fact.value for name, fact in found.facts.items()} == {
        name: fact.value for name, fact in fresh.facts.items()
    }
    assert found.warnings[-1].message == "the last line was cut while it was written, and was left out"
