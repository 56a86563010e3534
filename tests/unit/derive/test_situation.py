from __future__ import annotations

from .build import case, given

RUN = {"draft_length": 7, "rate_tok_s": 43.5}


def test_a_situation_is_derived_from_a_case_alone() -> None:
    one = case(
        drafter={"class": "block"},
        incumbent={"drafting": False, "rate_tok_s": 18.8},
        engine={"methods": ["draft-dspark"]},
        measurements={"candidate": {**RUN, "acceptance": {"kind": "ratio", "value": 0.41, "draft_length": 7}}},
    )
    found = given(one)
    assert found.case is one
    assert found.sides.method is not None
    assert found.sides.method.id == "draft-dspark"
    assert found.sides.observed is not None
    assert found.sides.run is not None
    assert found.sides.steps.plain is not None
    assert found.sides.facts is found.facts
    assert found.projections.verdict_length == 7


def test_a_situation_of_a_case_that_says_nothing_knows_nothing() -> None:
    found = given(case(drafter={"class": "block"}))
    assert (found.sides.method, found.sides.observed, found.sides.run, found.sides.steps.declared) == (None,) * 4
    assert found.projections.verdict_length is None
    assert found.projections.break_even_best is None


def test_facts_that_were_read_count_like_stated_ones() -> None:
    read = {
        "incumbent.drafting": False,
        "incumbent.rate_tok_s": 18.8,
        "candidate.drafting": True,
        "candidate.rate_tok_s": 43.5,
        "candidate.draft_length": 7.0,
        "candidate.tokens_per_round": 3.87,
    }
    found = given(case(drafter={"class": "block"}), read)
    depth = found.projections.at(7)
    assert depth is not None
    assert depth.inputs.basis == "measured-run"
    assert depth.outcome.at_mid("speedup") == 43.5 / 18.8
