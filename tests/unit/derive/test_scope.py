"""What a verdict holds for, and what was measured under other conditions."""

from __future__ import annotations

from typing import Any

import pytest

from specrules.derive.checks import check_values
from specrules.derive.scope import gap, prompts, prompts_are_valid, ratio, scope
from specrules.derive.steps import step_times

from .build import case, facts, given, thresholds

PLAIN = {"drafting": False, "rate_tok_s": 25.0}
CANDIDATE = {"drafting": True, "rate_tok_s": 30.0, "draft_length": 3}


def held(**parts: Any) -> Any:
    more = parts.pop("more", {})
    one = case(**parts)
    known = facts(one, **more)
    return scope(one, known, step_times(one, known, thresholds()))


def measured(**conditions: Any) -> dict[str, Any]:
    return {"candidate": {**CANDIDATE, "conditions": conditions}}


def test_measured_alone_deployed_with_sixteen() -> None:
    found = held(incumbent=PLAIN, measurements=measured(concurrency=1), workload={"concurrency": 16}).concurrency
    assert found.apart(ratio) == 16
    assert found.note() == "the candidate at 1, the workload has 16"
    assert found.unstated == ("the incumbent",)
    assert found.value == 16


def test_nobody_says_anything() -> None:
    found = held(incumbent=PLAIN, measurements=measured())
    assert [item.apart(ratio) for item in found.dimensions] == [None, None, None]
    assert found.concurrency.unstated == ("the incumbent", "the candidate")
    assert found.temperature.unstated == ("the candidate",)
    assert found.text() == (
        "Holds for: concurrency unstated, context unstated, temperature unstated; says nothing about others"
    )


def test_two_arms_of_different_conditions_contradict_each_other_without_a_workload() -> None:
    incumbent = {**PLAIN, "conditions": {"concurrency": 16}}
    found = held(incumbent=incumbent, measurements=measured(concurrency=1))
    assert found.concurrency.apart(ratio) == 16
    assert found.concurrency.value is None
    assert "concurrency of more than one value" in found.text()
    alike = held(incumbent=incumbent, measurements=measured(concurrency=16))
    assert (alike.concurrency.apart(ratio), alike.concurrency.value) == (1, 16)


def test_conditions_of_all_measurements_count_where_an_arm_has_none_of_its_own() -> None:
    both = {"conditions": {"concurrency": 4, "temperature": 0.7}, **measured(concurrency=8)}
    found = held(incumbent=PLAIN, measurements={**both, "off": {"rate_tok_s": 25.0}})
    assert dict(found.concurrency.measured) == {"drafting off": 4, "the candidate": 8}
    assert dict(found.temperature.measured) == {"the candidate": 0.7}
    # What runs today was not measured for this case.
    assert found.concurrency.unstated == ("the incumbent",)


def test_a_mean_that_a_bench_prints_counts_where_no_limit_is_stated() -> None:
    found = held(measurements={"candidate": CANDIDATE}, more={"candidate__mean_concurrency": 14.2})
    assert dict(found.concurrency.measured) == {"the candidate": 14.2}
    both = {"candidate__mean_concurrency": 14.2, "candidate__concurrency": 16.0}
    assert dict(held(measurements={"candidate": CANDIDATE}, more=both).concurrency.measured) == {"the candidate": 16}


def test_a_workload_that_spans_contexts_holds_what_lies_inside() -> None:
    workload = {"context_tokens": {"low": 2000, "value": 4000, "high": 8000}}

    def apart(context: float) -> float | None:
        distance: float | None = held(
            measurements=measured(context_tokens=context), workload=workload
        ).context_tokens.apart(ratio)
        return distance

    assert [apart(1000), apart(2000), apart(7000), apart(24000)] == [2, 1, 1, 3]
    found = held(measurements=measured(context_tokens=1000), workload=workload).context_tokens
    assert found.note() == "the candidate at 1000, the workload has 2000 to 8000"


def test_temperature_matters_to_what_drafts_only() -> None:
    cold = {"conditions": {"temperature": 0}}
    plain = held(incumbent={**PLAIN, **cold}, workload={"temperature": 0.8})
    assert plain.temperature.apart(gap) is None
    drafting = held(incumbent={**PLAIN, "drafting": True, **cold}, workload={"temperature": 0.8})
    assert drafting.temperature.apart(gap) == pytest.approx(0.8)
    acceptance = {"kind": "conditional", "value": 0.7}
    stated = held(measurements={"acceptance": acceptance, **cold}, workload={"temperature": 0.8})
    assert stated.temperature.apart(gap) == pytest.approx(0.8)
    assert stated.concurrency.unstated == ()


def test_steps_and_drafters_were_measured_somewhere_too() -> None:
    one = held(
        target={"step_ms": 40.0, "step_is": "plain"},
        drafter={"step_ms": 2.0},
        measurements={"conditions": {"concurrency": 1}},
        workload={"concurrency": 8},
    )
    assert dict(one.concurrency.measured) == {"the plain step": 1, "the drafter": 1}
    assert one.concurrency.apart(ratio) == 8


@pytest.mark.parametrize(
    ("workload", "text"),
    [
        ({"concurrency": 1, "context_tokens": 4096, "temperature": 0}, "concurrency 1, context 4k, temperature 0"),
        (
            {"concurrency": 16, "context_tokens": 32000, "temperature": 0.7},
            "concurrency 16, context 32k, temperature 0.7",
        ),
        ({"concurrency": 2, "context_tokens": 1500}, "concurrency 2, context 1500 tokens, temperature unstated"),
    ],
)
def test_the_line_of_the_report(workload: dict[str, float], text: str) -> None:
    assert held(workload=workload).text() == f"Holds for: {text}; says nothing about others"


def test_an_empty_context_is_one_token() -> None:
    assert ratio(0, 4096) == 4096
    assert ratio(0, 0) == 1
    assert ratio(8, 2) == ratio(2, 8) == 4


def test_prompts_are_those_of_the_acceptance() -> None:
    acceptance = {"kind": "conditional", "value": 0.7}

    def of(**parts: Any) -> str | None:
        one = case(**parts)
        return prompts(one, facts(one))

    assert of() is None
    assert of(measurements=measured(prompts="random-tokens")) == "random-tokens"
    # An acceptance that is stated beside a run is not of that run.
    assert of(measurements={"acceptance": acceptance, **measured(prompts="random-tokens")}) is None
    both = {"conditions": {"prompts": "traffic"}, "acceptance": acceptance, **measured(prompts="random-tokens")}
    assert of(measurements=both) == "traffic"
    valid = [prompts_are_valid(found) for found in ("traffic", "dataset", "random-tokens", "repeated-text", None)]
    assert valid == [True, True, False, False, None]


def test_evidence_files_carry_what_they_do_not_hold() -> None:
    files = [
        {"path": "a.log", "arm": "candidate", "conditions": {"concurrency": 4, "prompts": "dataset"}},
        {"path": "b.log", "arm": "incumbent", "conditions": {"concurrency": 2}},
    ]
    known = facts(case(evidence=files))
    assert known.number("candidate.concurrency") == 4
    assert known.value("candidate.prompts") == "dataset"
    assert known.number("incumbent.concurrency") == 2
    assert known["candidate.concurrency"].provenance.source == "evidence.0.conditions.concurrency"


def test_the_values_that_rules_read() -> None:
    one = case(
        incumbent=PLAIN,
        measurements=measured(concurrency=1, context_tokens=512),
        workload={"concurrency": 16, "temperature": 0},
    )
    values = check_values(given(one))
    expected = {
        "scope.concurrency_factor": 16.0,
        "scope.concurrency_stated": True,
        "scope.concurrency_note": "the candidate at 1, the workload has 16",
        "scope.context_factor": None,
        "scope.context_stated": False,
        "scope.context_note": "the candidate at 512",
        "scope.temperature_gap": None,
        "scope.temperature_stated": False,
        "scope.temperature_note": "the workload has 0",
        "scope.unstated": 3.0,
        "scope.unstated_note": "concurrency of the incumbent, context of the incumbent, temperature of the candidate",
    }
    assert {name: values[name] for name in expected} == expected
