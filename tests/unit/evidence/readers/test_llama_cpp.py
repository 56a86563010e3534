"""The readers of llama.cpp against what a real server printed and answered."""

from __future__ import annotations

from pathlib import Path

import pytest

from specrules.evidence.readers.reading import Reading, read_file
from specrules.evidence.readers.reconcile import reconcile

from .support import PAIR, RUNS, read, shipped, values

REFUSALS = {
    "d_tok30000": "draft model vocab type must match target model to use speculation",
    "d_trim200": "draft model vocab type must match target model to use speculation",
    "d_addbos": "draft model bos tokens must match target model to use speculation. add: 0 - 1, id: 1 - 1)",
    "nomd": "draft-simple requires a draft context",
    "nomd2": "draft-simple requires a draft context",
    "e3plain": "draft model is not eagle3 (expected 3 extract layers, got 0)",
    "mdonly": "no implementations specified for speculative decoding",
    "dfnomd": None,
    "base": None,
}
DEATHS = {
    "mtp": "context type MTP requested but model doesn't contain MTP layers",
    "mtpsimple": "context type MTP requested but model doesn't contain MTP layers",
    "dfplain": 'GGML_ASSERT(target_layer_ids_n > 0 && "DFlash model has no target_layer_ids") failed',
    "synth": "synthetic acceptance requires an initialized speculative decoding context",
    "synth3": "synthetic acceptance rates must contain 4 values, got 2",
    "old": 'error while handling argument "--draft-max": the argument has been removed. '
    "use --spec-draft-n-max or --spec-ngram-mod-n-max",
    "bad": 'error while handling argument "--spec-type": unknown speculative type: draft',
}
ACCEPTED = ("d_bosid", "d_eosid", "d_merges", "d_tok3", "d_trim100", "self", "self4")
COUNTS = {
    "requests": 1.0,
    "tokens": 64.0,
    "drafted": 50.0,
    "accepted": 50.0,
    "rounds": 13.0,
    "target_passes": 13.0,
    "tokens_per_round": 63 / 13,
    "mean_draft_length": 50 / 13,
    "accepted_ratio": 1.0,
}


def clean(path: Path) -> Reading:
    """Read a recording that must give no warning, no unread line and no contradiction."""
    reading = read_file(str(path), shipped(), "candidate")
    assert (reading.warnings, reading.unread, reading.unread_lines, reading.contradictions) == ((), (), 0, ())
    return reading


def of_run(name: str, *kinds: str) -> list[Reading]:
    return [clean(RUNS / f"{name}.{kind}") for kind in kinds]


def test_every_recording_is_read_without_complaint() -> None:
    paths = [
        path for folder in (RUNS, PAIR) for path in folder.iterdir() if path.name not in {"SOURCES.md", "help.txt"}
    ]
    assert len(paths) > 100
    for path in paths:
        assert clean(path).facts, path


@pytest.mark.parametrize("name", REFUSALS)
def test_a_healthy_server_that_does_not_draft(name: str) -> None:
    log, metrics, response, slots = of_run(name, "log", "metrics.txt", "response.json", "slots.json")
    for reading in (log, metrics, response, slots):
        assert reading.facts.value("candidate.drafting") is False
    assert log.facts.value("candidate.refusal") == REFUSALS[name]
    assert log.facts.value("candidate.died_at_load") is False
    for reading in (log, metrics, response):
        assert (reading.facts.number("candidate.drafted"), reading.facts.number("candidate.accepted")) == (0.0, 0.0)
        assert "candidate.tokens_per_round" not in reading.facts
        assert "candidate.accepted_ratio" not in reading.facts
    assert metrics.facts.number("candidate.rounds") == 0.0
    assert "candidate.method" not in slots.facts
    assert reconcile({}, [log, metrics, response, slots])[1] == ()


@pytest.mark.parametrize("name", DEATHS)
def test_a_server_that_dies_at_load_says_why(name: str) -> None:
    (log,) = of_run(name, "log")
    assert {name.removeprefix("candidate."): value for name, value in values(log).items()} == {
        "died_at_load": True,
        "load_error": DEATHS[name],
    } | ({"engine.context_tokens": 2048.0} if name in {"dfplain", "synth", "synth3"} else {})


@pytest.mark.parametrize("name", ACCEPTED)
def test_log_metrics_response_and_slots_of_one_run_agree(name: str) -> None:
    readings = of_run(name, "log", "metrics.txt", "response.json", "slots.json")
    facts, disagreements = reconcile({}, readings)
    assert disagreements == ()
    assert {key: facts.number(f"candidate.{key}") for key in COUNTS} == pytest.approx(COUNTS)
    assert facts.value("candidate.drafting") is True
    # Not only the fact that is used: each file says the same on its own.
    for reading in readings:
        said = {key: reading.facts.number(f"candidate.{key}") for key in COUNTS}
        said = {key: value for key, value in said.items() if value is not None}
        assert said == pytest.approx({key: COUNTS[key] for key in said})


def test_the_run_with_statistics_gives_everything() -> None:
    (log,) = of_run("self4", "log")
    expected = {
        **COUNTS,
        "draft_length": 4.0,
        "prompt_tokens": 21.0,
        "prompt_ms": 5069.34,
        "decode_ms": 35570.51,
        "rate_tok_s": 63 * 1000 / 35570.51,
        "round_ms": 35570.51 / 13,
        "draft_ms": 16864.693 / 13,
        "pass_ms": (35570.51 - 16864.693) / 13,
    }
    numbers = {name.removeprefix("candidate."): fact.value for name, fact in log.facts.items()}
    assert {key: numbers[key] for key in expected} == pytest.approx(expected)
    assert (numbers["position_acceptance"], numbers["method"]) == ((1.0, 1.0, 0.923, 0.923), "draft-simple")
    assert (numbers["rate_kind"], numbers["died_at_load"]) == ("decode", False)
    assert log.facts["candidate.tokens_per_round"].substituted == "1 + 50 / 13"
    assert log.facts["candidate.tokens_per_round"].provenance.source.endswith("self4.log:351")
    (metrics,) = of_run("self4", "metrics.txt")
    assert metrics.facts.value("candidate.position_acceptance") == (1.0, 1.0, 12 / 13, 12 / 13)


def test_two_implementations_are_counted_together() -> None:
    readings = of_run("combo", "log", "metrics.txt", "response.json", "slots.json")
    facts, disagreements = reconcile({}, readings)
    assert disagreements == ()
    assert facts.value("candidate.method") == "ngram-simple,draft-simple"
    assert (facts.number("candidate.rounds"), facts.number("candidate.drafted")) == (16.0, 91.0)
    assert facts.number("candidate.tokens_per_round") == 1 + 47 / 16
    vector = facts.value("candidate.position_acceptance")
    assert vector == pytest.approx((0.75, 0.75, 0.75, 0.6877), abs=0.001)
    assert "candidate.draft_length" not in facts


def test_synthetic_acceptance_is_no_acceptance() -> None:
    (log,) = of_run("synth2", "log")
    assert log.facts.value("candidate.synthetic") is True
    assert (log.facts.number("candidate.drafted"), log.facts.number("candidate.rounds")) == (81.0, 21.0)
    for name in ("tokens_per_round", "accepted_ratio", "position_acceptance"):
        assert f"candidate.{name}" not in log.facts


# Rates are those that the servers' own metrics print.
@pytest.mark.parametrize(
    ("run", "rate", "counts", "tokens_per_round"),
    [
        ("pair-k1", 26.0269, (478, 398, 478), 1.833),
        ("pair-k3", 25.5259, (866, 586, 290), 3.021),
        ("pair-k7", 18.2572, (1396, 674, 202), 4.337),
        ("ngram-simple", 59.9117, (234, 108, 31), 4.484),
    ],
)
def test_the_measured_pair(run: str, rate: float, counts: tuple[float, float, float], tokens_per_round: float) -> None:
    drafted, accepted, rounds = counts
    log, metrics, responses = (clean(PAIR / f"{run}.{kind}") for kind in ("log", "metrics.txt", "responses.json"))
    facts, disagreements = reconcile({}, [log, metrics, responses, clean(PAIR / f"{run}.slots.json")])
    assert disagreements == ()
    for reading in (log, metrics, responses):
        assert reading.facts.number("candidate.rate_tok_s") == pytest.approx(rate, rel=1e-5)
        assert reading.facts.number("candidate.drafted") == drafted
        assert reading.facts.number("candidate.accepted") == accepted
        assert reading.facts.number("candidate.tokens") == 888.0
    for reading in (log, metrics):
        assert reading.facts.number("candidate.rounds") == rounds
        assert reading.facts.number("candidate.tokens_per_round") == pytest.approx(tokens_per_round, abs=5e-4)
    for reading in (log, responses):
        assert reading.facts.number("candidate.requests") == 10.0
        assert reading.facts.number("candidate.target_passes") == 888 - 10 - accepted
        assert len(reading.facts["candidate.rate_tok_s"].samples) == 10
    assert facts.value("candidate.drafting") is True


def test_the_samples_of_a_request_are_exact_where_the_printed_mean_length_tells_its_rounds() -> None:
    facts = clean(PAIR / "pair-k3.log").facts
    samples = facts["candidate.tokens_per_round"].samples
    assert samples[:4] == pytest.approx((1 + 52 / 26, 1 + 61 / 33, 1 + 67 / 28, 1 + 25 / 15))
    assert len(samples) == 10
    assert facts["candidate.draft_length"].value == 3.0
    # In a request that accepted nothing the printed 1.00 is exact.
    assert min(clean(PAIR / "ngram-simple.log").facts["candidate.tokens_per_round"].samples) == 1.0


def test_the_pieces_of_a_round() -> None:
    facts = clean(PAIR / "pair-k3.log").facts
    assert facts.number("candidate.draft_ms") == pytest.approx(12841.472 / 290)
    assert facts.number("candidate.pass_ms") == pytest.approx((34396.43 - 12841.472) / 292)
    # 292 passes and 290 rounds: the last token of a request is not always drafted for.
    assert facts.number("candidate.round_ms") == pytest.approx(34396.43 / 292)
    # n-gram drafts fill 31 of 770 passes: there is no time of a drafting round.
    assert "candidate.round_ms" not in clean(PAIR / "ngram-simple.log").facts


@pytest.mark.parametrize(("run", "rate"), [("target-a", 69.4182), ("drafter-alone", 76.8551)])
def test_models_served_alone(run: str, rate: float) -> None:
    kinds = ("log", "metrics.txt", "responses.json", "slots.json")
    facts, disagreements = reconcile({}, [clean(PAIR / f"{run}.{kind}") for kind in kinds])
    assert disagreements == ()
    assert facts.number("candidate.rate_tok_s") == pytest.approx(rate, rel=1e-5)
    assert facts.value("candidate.drafting") is False
    # The line about implementations is there without a drafter too, and refuses nothing then.
    assert "candidate.refusal" not in facts


def without(run: str, *words: str) -> str:
    """The log of a run without the lines that hold one of the words."""
    lines = (PAIR / f"{run}.log").read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(line for line in lines if not any(word in line for word in words))


def test_a_log_at_the_default_verbosity_gives_rounds_too() -> None:
    facts = read(without("pair-k7", "statistics", "per pos"), shipped()).facts
    assert (facts.number("rounds"), facts.number("tokens_per_round")) == (202.0, 1 + 674 / 202)
    assert "position_acceptance" not in facts
    # Of four requests the mean length of 1.00 does not tell the rounds: no count, and a weighted mean instead.
    facts = read(without("ngram-simple", "statistics"), shipped()).facts
    assert "rounds" not in facts
    assert facts.number("tokens_per_round") == pytest.approx(1 + 108 / 31, rel=0.01)


def test_benches() -> None:
    alone = clean(PAIR / "llama-bench-SmolLM2-drop12.json").facts
    assert (alone.number("candidate.rate_tok_s"), alone.value("candidate.rate_kind")) == (69.02857, "decode")
    widths = clean(PAIR / "batched-bench-target.jsonl").facts
    assert widths.value("candidate.verify_widths") == (1.0, 2.0, 3.0, 4.0, 5.0, 8.0)
    times = widths.value("candidate.verify_ms")
    assert isinstance(times, tuple)
    assert times == pytest.approx((14.3719, 28.0464, 40.5704, 40.2321, 48.0893, 66.9269), abs=1e-4)
