from __future__ import annotations

from datetime import UTC, datetime

from specrules.derive.stated import stated_facts

from .build import case, facts


def test_every_group_of_a_case_has_its_prefix() -> None:
    found = facts(
        case(
            target={"step_ms": 67, "tokenizer": {"size": 100, "add_bos": False}},
            drafter={"tokenizer": {"family": "gpt2"}, "tokenizer_pair": {"last_differing_id": -1}},
            workload={"concurrency": 2, "temperature": 0.0},
            incumbent={"drafting": True, "rate_tok_s": 25},
            measurements={
                "off": {"rate_tok_s": 20},
                "candidate": {"drafting": False},
                "restore_ms": 4,
                "synthetic_zero_tok_s": 11,
            },
        )
    )
    assert {name: found.value(name) for name in found if name not in {"target.name", "drafter.name"}} == {
        "target.step_ms": 67,
        "target.tokenizer.size": 100,
        "target.tokenizer.add_bos": False,
        "drafter.kind": "model",
        "drafter.tokenizer.family": "gpt2",
        "tokenizers.last_differing_id": -1,
        "workload.concurrency": 2,
        "workload.temperature": 0,
        "incumbent.drafting": True,
        "incumbent.rate_tok_s": 25,
        "off.rate_tok_s": 20,
        "candidate.drafting": False,
        "restore.ms": 4,
        "candidate.synthetic_zero_tok_s": 11,
    }


def test_whole_numbers_become_numbers_and_flags_stay_flags() -> None:
    found = facts(case(workload={"concurrency": 2}, incumbent={"drafting": True}))
    assert isinstance(found["workload.concurrency"].value, float)
    assert found["incumbent.drafting"].value is True


def test_a_quantity_keeps_its_spread_and_where_it_comes_from() -> None:
    step = {
        "samples": [66, 68],
        "low": 65,
        "high": 70,
        "kind": "measured",
        "source": "a log",
        "observed_at": "2026-11-20",
    }
    fact = stated_facts(case(target={"step_ms": step}), lambda path: f"case.yaml:{len(path)}")["target.step_ms"]
    assert (fact.value, fact.low, fact.high, fact.samples, fact.unit) == (67, 65, 70, (66, 68), "ms")
    assert fact.provenance.kind == "measured"
    assert fact.provenance.source == "a log (case.yaml:2)"
    assert fact.provenance.observed_at == datetime(2026, 11, 20, tzinfo=UTC)


def test_a_value_without_a_source_names_its_place() -> None:
    assert facts(case(incumbent={"rate_tok_s": 25}))["incumbent.rate_tok_s"].provenance.source == "incumbent.rate_tok_s"
    assert facts(case())["drafter.kind"].provenance.source == "drafter.drafter_class"
    restore = facts(case(measurements={"restore_ms": 4}))["restore.ms"]
    assert restore.provenance.source == "measurements.restore_ms"


def test_what_is_not_stated_is_no_fact() -> None:
    assert set(facts(case())) == {"target.name", "drafter.name", "drafter.kind"}
