"""Facts that follow from others, with formula, substituted values and result."""

from __future__ import annotations

from specrules.derive.situation import Situation
from specrules.derive.spans import Span
from specrules.model.fact import Fact
from specrules.model.quantity import Provenance


def derived_facts(given: Situation) -> dict[str, Fact]:
    """What follows about the incumbent's round, the plain step, and a measured run of the candidate."""
    facts = (*_target(given), *_run(given))
    return {fact.name: fact for fact in facts}


def _target(given: Situation) -> list[Fact]:
    steps, facts = given.sides.steps, []
    tokens, rate = given.facts.number("incumbent.tokens_per_round"), given.facts.number("incumbent.rate_tok_s")
    if steps.incumbent_round is not None and tokens is not None and rate is not None:
        facts.append(
            _fact("incumbent.round_ms", steps.incumbent_round, "ms", "T_i = A_i / R", f"1000 * {tokens:g} / {rate:g}")
        )
    if steps.plain is not None and "target.step_ms" not in given.facts:
        facts.append(
            _fact("target.step_ms", steps.plain, "ms", "t1 = 1 / R_off", f"1000 / {1000 / steps.plain.mid:.6g}")
        )
    length = steps.incumbent_draft_length
    if steps.plain is None and steps.incumbent_round is not None and length is not None:
        floor = steps.pass_floor(length)
        text = f"{steps.incumbent_round.low:.4g} / (1 + {steps.head_share:g})"
        symbols = f"V(w) >= T_i / (1 + h), for w >= {length + 1}"
        facts.append(_fact("target.verify_floor_ms", Span.exact(floor), "ms", symbols, text))
    return facts


def _run(given: Situation) -> list[Fact]:
    run, steps, observed = given.sides.run, given.sides.steps, given.sides.observed
    facts = []
    if observed is not None and observed.conditional is not None and observed.kind != "conditional":
        symbols = "p: A(p, K) = A"
        facts.append(
            _fact("candidate.conditional_acceptance", observed.conditional, "", symbols, f"K = {observed.depth}")
        )
    if run is None or run.tokens is None:
        return facts
    round_ms = 1000 * run.tokens.mid / run.rate.mid
    if "candidate.tokens_per_round" not in given.facts:
        facts.append(
            _fact("candidate.tokens_per_round", run.tokens, "tokens", "A = 1 + r K", f"K = {run.draft_length}")
        )
    text = f"1000 * {run.tokens.mid:.4g} / {run.rate.mid:g}"
    facts.append(_fact("candidate.round_ms", Span.exact(round_ms), "ms", "T = A / rate", text))
    if steps.plain is None:
        return facts
    factor = given.sides.thresholds["ceiling_factor"]
    text = f"{run.rate.mid:g} * {steps.plain.mid:.4g} / 1000, held against {run.tokens.mid:.4g}"
    bound = Span.exact(run.rate.mid * steps.plain.mid / 1000)
    facts.append(_fact("candidate.rate_times_step", bound, "tokens", "rate t1 <= A", text))
    implied = round_ms - factor * steps.plain.mid
    text = f"{round_ms:.4g} - {factor:g} * {steps.plain.mid:.4g}"
    facts.append(_fact("candidate.implied_draft_ms", Span.exact(implied), "ms", "D = T - v t1", text))
    return facts


def _fact(name: str, span: Span, unit: str, formula: str, substituted: str) -> Fact:
    return Fact(
        name=name,
        value=span.mid,
        unit=unit,
        low=None if span.low == span.high else span.low,
        high=None if span.low == span.high else span.high,
        provenance=Provenance(kind="derived", source=formula),
        formula=formula,
        substituted=substituted,
    )
