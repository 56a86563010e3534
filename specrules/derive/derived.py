"""Facts that follow from others, with formula, substituted values and result."""

from __future__ import annotations

from specrules.derive.overheads import per_token
from specrules.derive.sides import run_round
from specrules.derive.situation import Situation
from specrules.derive.spans import Span
from specrules.model.fact import Fact
from specrules.model.quantity import Provenance

_TOKENS_OF = {
    "ratio": "A = 1 + r K",
    "counts": "A = 1 + accepted / rounds",
    "position_vector": "A = 1 + sum(a_i)",
    "histogram": "A = 1 + sum(a_i)",
}


def derived_facts(given: Situation) -> dict[str, Fact]:
    """What follows about the incumbent's round, the plain step, and a measured run of the candidate."""
    facts = (*_target(given), *_run(given))
    return {fact.name: fact for fact in facts}


def _target(given: Situation) -> list[Fact]:
    steps, facts = given.sides.steps, []
    tokens, rate = given.facts.number("incumbent.tokens_per_round"), given.facts.number("incumbent.rate_tok_s")
    if steps.incumbent_round is not None and tokens is not None and rate is not None:
        paid = per_token(given.case, given.facts)
        facts.append(
            _fact(
                "incumbent.round_ms",
                steps.incumbent_round,
                "ms",
                *_behind_rate("T_i = A_i / R", "T_i = A_i (1 / R - c)", rate, tokens, paid),
            )
        )
    if steps.plain is not None and steps.plain_source != "target.step_ms":
        facts.append(_plain_step(given, steps.plain, steps.plain_source))
    length = steps.incumbent_draft_length
    if steps.plain is None and steps.incumbent_round is not None and length is not None:
        floor = steps.round_floor(length)
        text = f"{steps.incumbent_round.low:.4g} / (1 + {steps.head_share:g})"
        symbols = f"V(w) >= T_i / (1 + h), for w >= {length + 1}"
        facts.append(_fact("target.verify_floor_ms", Span.exact(floor), "ms", symbols, text))
    return facts


def _plain_step(given: Situation, plain: Span, source: str) -> Fact:
    """The plain step; under a name of its own where the case states another step as target.step_ms."""
    name = "target.plain_step_ms" if "target.step_ms" in given.facts else "target.step_ms"
    rate = given.facts.number(source)
    if rate is None:
        return _fact(name, plain, "ms", "t1 = V(1)", f"{plain.mid:.6g}")
    decode = given.facts.value(source.replace("rate_tok_s", "rate_kind")) == "decode"
    paid = None if decode else per_token(given.case, given.facts)
    return _fact(name, plain, "ms", *_behind_rate("t1 = 1 / R_off", "t1 = 1 / R_off - c", rate, 1.0, paid))


def _behind_rate(plainly: str, less: str, rate: float, tokens: float, paid: Span | None) -> tuple[str, str]:
    """Formula and substituted values of a time that is read off a rate, c being what both sides pay per token."""
    if paid is None or paid.mid == 0:
        return plainly, f"1000 * {tokens:.4g} / {rate:g}" if tokens != 1 else f"1000 / {rate:g}"
    return less, f"{tokens:.4g} * (1000 / {rate:g} - {paid.mid:g})"


def _run(given: Situation) -> list[Fact]:
    run, steps, observed = given.sides.run, given.sides.steps, given.sides.observed
    facts = []
    inverts = observed is not None and observed.kind != "conditional" and not given.knowledge.drafter_class.is_tree
    if observed is not None and observed.conditional is not None and inverts:
        text = f"K = {observed.length or observed.depth:g}"
        facts.append(_fact("candidate.conditional_acceptance", observed.conditional, "", "p: A(p, K) = A", text))
    if run is None or run.tokens is None:
        return facts
    if "candidate.tokens_per_round" not in given.facts:
        symbols = _TOKENS_OF.get(observed.kind, "A") if observed is not None else "A"
        facts.append(_fact("candidate.tokens_per_round", run.tokens, "tokens", symbols, f"K = {run.draft_length}"))
    if steps.plain is not None:
        text = f"{run.rate.mid:g} * {steps.plain.mid:.4g} / 1000, held against {run.tokens.mid:.4g}"
        bound = Span.exact(run.rate.mid * steps.plain.mid / 1000)
        facts.append(_fact("candidate.rate_times_step", bound, "tokens", "rate t1 <= A", text))
    round_ms = run_round(given.sides)
    if round_ms is None:
        return facts
    facts.append(
        _fact("candidate.round_ms", Span.exact(round_ms), "ms", *_run_formula(given, run.rate.mid, run.tokens.mid))
    )
    if steps.plain is not None:
        factor = given.sides.thresholds["ceiling_factor"]
        implied = Span.exact(round_ms - factor * steps.plain.mid)
        text = f"{round_ms:.4g} - {factor:g} * {steps.plain.mid:.4g}"
        facts.append(_fact("candidate.implied_draft_ms", implied, "ms", "D = T - v t1", text))
    return facts


def _run_formula(given: Situation, rate: float, tokens: float) -> tuple[str, str]:
    paid = per_token(given.case, given.facts)
    if given.knowledge.drafter_class.covers_every_round:
        return _behind_rate("T = A / rate", "T = A (1 / rate - c)", rate, tokens, paid)
    share = given.facts.number("drafter.coverage")
    return (
        "T = ((phi A + 1 - phi) (1 / rate - c) - (1 - phi) t1) / phi",
        f"phi = {share:g}, A = {tokens:.4g}, rate = {rate:g}",
    )


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
