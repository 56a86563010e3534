"""Counters that a known issue keeps from meaning what they say, for each arm and version."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from specrules.derive.values import EvidenceState, input_values

from .build import case, given

NOW = datetime(2026, 9, 1, tzinfo=UTC)
RATIO = {"kind": "ratio", "value": 1.0, "draft_length": 4}


def values(more: dict[str, Any] | None = None, **parts: Any) -> dict[str, object]:
    return input_values(given(case(**parts), more), EvidenceState(), NOW)[0]


def llama(version: str | None, kind: str | None, **ratio: Any) -> tuple[object, object]:
    found = values(
        target={"kind": kind},
        engine={"id": "llama.cpp", "version": version},
        measurements={"acceptance": {**RATIO, **ratio}},
    )
    return found["candidate.untrusted"], found["candidate.untrusted_note"]


def test_an_acceptance_of_1_on_a_hybrid_target_of_a_build_that_counts_full_rounds() -> None:
    count, note = llama("b9000", "hybrid")
    assert count == 1.0
    assert isinstance(note, str)
    assert note.startswith("An acceptance of 1 that counts full rounds only: On hybrid targets")
    assert llama("b9000", "hybrid-moe")[0] == 1.0


@pytest.mark.parametrize(("version", "kind"), [("b8699", "hybrid"), ("b11434", "hybrid"), ("b9000", "dense")])
def test_not_of_other_builds_and_targets(version: str, kind: str) -> None:
    assert llama(version, kind) == (0.0, None)


def test_not_where_rejections_were_counted() -> None:
    assert llama("b9000", "hybrid", value=0.54) == (0.0, None)
    assert llama(None, None, value=0.54) == (0.0, None)


@pytest.mark.parametrize(("version", "kind"), [(None, "hybrid"), ("b9000", None)])
def test_where_build_or_target_is_unknown_so_is_the_counter(version: str | None, kind: str | None) -> None:
    count, note = llama(version, kind)
    assert count is None
    assert isinstance(note, str)


def test_an_issue_of_a_number_that_is_not_at_hand_is_none() -> None:
    found = values(target={"kind": "hybrid"}, engine={"id": "llama.cpp", "version": "b9000"})
    assert found["candidate.untrusted"] == 0.0


def halogen(temperature: float | None, **incumbent: Any) -> tuple[object, object]:
    found = values(
        drafter={"class": "mtp-head"},
        engine={"id": "halogen-flash-server", "version": "0.16.2"},
        incumbent={"drafting": True, "method": "mtp", "tokens_per_round": 1.67, "rate_tok_s": 25.0, **incumbent},
        workload={"temperature": temperature},
    )
    return found["incumbent.untrusted"], found["incumbent.untrusted_note"]


def test_a_head_and_prompt_lookup_share_the_commits_of_greedy_requests() -> None:
    count, note = halogen(0.0)
    assert count == 1.0
    assert isinstance(note, str)
    assert "prompt lookup" in note
    assert halogen(0.8) == (0.0, None)
    assert halogen(None)[0] is None
    assert halogen(0.8, method="mtp+pld") == (1.0, "the incumbent drafts with mtp and pld")
    assert halogen(0.0, tokens_per_round=None)[0] == 0.0


def test_a_bench_of_random_tokens_is_no_acceptance() -> None:
    found = values({"candidate__prompts": "random-tokens", "candidate__drafting": True})
    assert (found["acceptance.prompts"], found["acceptance.prompts_valid"]) == ("random-tokens", False)
    assert found["acceptance.prompts_stated"] is True
    nothing = values()
    assert (nothing["acceptance.prompts_stated"], nothing["acceptance.prompts_valid"]) == (False, None)


def test_what_was_not_counted_is_unknown_and_flags_are_not() -> None:
    found = values()
    flags = {
        name: value for name, value in found.items() if name.endswith(("_comparable", "_counted", "_timed", "_stated"))
    }
    assert set(flags) >= {"incumbent.step_comparable", "curve.step_comparable", "evidence.rounds_counted"}
    assert set(flags.values()) == {False}
    numbers = ("incumbent.round_over_step", "evidence.rounds_over_passes", "evidence.round_mismatch")
    assert [found[name] for name in numbers] == [None, None, None]
    assert found["evidence.mixed_runs"] == 0.0
