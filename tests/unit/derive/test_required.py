from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from specrules.derive.required import acceptance_fact, evidence_finding
from specrules.model.acceptance import Acceptance
from specrules.model.fact import Fact
from specrules.model.policy import RequiredEvidence
from specrules.model.quantity import Provenance

NOW = datetime(2026, 11, 29, tzinfo=UTC)


def asked(**more: object) -> RequiredEvidence:
    return RequiredEvidence.model_validate({"title": "The rate", "facts": ["a.rate", "b.rate"], **more})


def fact(name: str = "a.rate", kind: str = "measured", days: float | None = 1) -> dict[str, Fact]:
    seen = None if days is None else NOW - timedelta(days=days)
    return {name: Fact(name=name, value=25.0, provenance=Provenance(kind=kind, observed_at=seen))}


@pytest.mark.parametrize(
    ("facts", "limit", "outcome", "said"),
    [
        ({}, 30, "unknown", "The rate: nothing says a.rate or b.rate."),
        (fact(days=30), 30, "pass", "The rate: a.rate is measured, 30 days old."),
        (fact(days=30.5), 30, "fail", "The rate: a.rate is 30.5 days old, and the limit is 30 days."),
        (fact(days=-1), 30, "fail", "The rate: a.rate was observed after now."),
        (
            fact(days=None),
            30,
            "unknown",
            "The rate: nobody says when a.rate was observed, and the limit is 30 days.",
        ),
        (fact(days=None), None, "pass", "The rate: a.rate is measured."),
        (
            fact(kind="reported"),
            30,
            "fail",
            "The rate: a.rate is reported, and the policy takes measured or from-file.",
        ),
        (
            fact(kind="assumed", days=None),
            None,
            "fail",
            "The rate: a.rate is assumed, and the policy takes measured or",
        ),
        (fact("b.rate", "from-file"), 30, "pass", "The rate: b.rate is from-file, 1 day old."),
    ],
)
def test_kind_and_age(facts: dict[str, Fact], limit: float | None, outcome: str, said: str) -> None:
    found = evidence_finding(asked(max_age_days=limit), facts, NOW)
    assert found.outcome == outcome
    assert found.message.startswith(said)
    assert bool(found.missing) is (outcome == "unknown")


def test_the_best_of_several_facts_counts() -> None:
    old, undated = fact("a.rate", days=99), fact("b.rate", days=None)
    found = evidence_finding(asked(max_age_days=30), old | undated, NOW)
    assert (found.outcome, found.fact, found.missing) == ("unknown", "b.rate", ("b.rate",))
    assert evidence_finding(asked(max_age_days=30), old | fact("b.rate"), NOW).outcome == "pass"


def test_what_is_shown() -> None:
    found = evidence_finding(asked(max_age_days=30, kinds=["measured"]), fact(days=2.5), NOW)
    assert found.expression == 'kind in ["measured"] and age_days <= 30'
    assert found.observed == '"measured" in ["measured"] and 2.5 <= 30'
    assert evidence_finding(asked(max_age_days=30), {}, NOW).observed == '? in ["measured", "from-file"] and ? <= 30'
    assert evidence_finding(asked(), fact(), NOW).observed == '"measured" in ["measured", "from-file"]'


def test_a_stated_acceptance_has_its_own_provenance() -> None:
    stated = Acceptance(kind="conditional", value=0.7, provenance_kind="measured", observed_at=NOW - timedelta(days=2))
    facts = acceptance_fact("acceptance", stated)
    assert evidence_finding(asked(facts=["acceptance"], max_age_days=7), facts, NOW).outcome == "pass"
    assert acceptance_fact("acceptance", None) == {}
