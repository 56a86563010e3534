"""Inputs that evidence files hold in another form."""

from __future__ import annotations

from specrules.derive.spans import inverse, span_of
from specrules.model.fact import Fact, Facts
from specrules.model.quantity import Provenance


def implied_facts(facts: Facts) -> dict[str, Fact]:
    """The price of a drafted token from a run of the drafter alone: 1000 over its rate, in ms."""
    rate = span_of(facts.get("drafter.rate_tok_s"))
    if rate is None:
        return {}
    seen = facts["drafter.rate_tok_s"].provenance
    step = inverse(rate, 1000)
    fact = Fact(
        name="drafter.step_ms",
        value=step.mid,
        unit="ms",
        low=None if step.low == step.high else step.low,
        high=None if step.low == step.high else step.high,
        provenance=Provenance(kind="derived", source=seen.source, observed_at=seen.observed_at),
        formula="d = 1 / rate of the drafter alone",
        substituted=f"1000 / {rate.mid:g}",
    )
    return {fact.name: fact}
