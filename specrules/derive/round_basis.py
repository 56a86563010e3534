"""Where the round time of each draft length comes from, best source first, as inputs of the formulas.

A measured run at the very depth, a measured verify curve with a measured drafter, a measured run at another depth, a
run with synthetic acceptance zero, a stated slope, a prior, and last the stated step time with an assumed factor, which
may reject but never approve.
"""

from __future__ import annotations

from specrules.derive.curve import at_width, least_at, verify_curve
from specrules.derive.predicted_verify import predicted_verify
from specrules.derive.priors import span_of_prior
from specrules.derive.round_costs import drafter_cost_is_known, drafter_step, drafting_step, restores
from specrules.derive.sides import Sides, run_round
from specrules.derive.spans import UNBOUNDED, Span, from_quantity, widened

BASES = {
    "measured-run": "a measured run at this draft length",
    "curve": "a measured verify curve and a measured drafter",
    "run-slope": "a measured run at another draft length",
    "synthetic": "a run with synthetic acceptance zero",
    "slope": "the stated slope of the round",
    "predicted": "what the rows read and compute as the case states it, and a prior where there is one",
    "prior-verify": "a prior of the verify slope, and the drafter's own price",
    "prior-round": "a prior of the round's slope",
    "step": "the stated step time and an assumed factor",
}


def basis_of(sides: Sides, draft_length: int) -> str:
    """The best source of the round at this draft length, a key of `BASES`."""
    measurements, run = sides.case.measurements, sides.run
    if run is not None and run.draft_length == draft_length:
        return "measured-run"
    if _from_curve(sides, draft_length) is not None and drafter_step(sides, draft_length) is not None:
        return "curve"
    if _has_slope(sides, draft_length):
        return "run-slope"
    if measurements.synthetic_zero_tok_s is not None and sides.case.engine.draft_length == draft_length:
        return "synthetic"
    if sides.steps.plain is None:
        return "step"
    if measurements.round_slope is not None:
        return "slope"
    if measurements.verify_factor is not None:
        return "step"
    if sides.drafter_class.is_tree:
        return "step"
    if drafter_cost_is_known(sides) and predicted_verify(sides.case, draft_length + 1, sides.steps.plain) is not None:
        return "predicted"
    if drafter_cost_is_known(sides) and sides.beliefs.about("verify_slope", draft_length) is not None:
        return "prior-verify"
    return "step" if sides.beliefs.about("round_slope", draft_length) is None else "prior-round"


def _has_slope(sides: Sides, draft_length: int) -> bool:
    """Whether the run at another depth gives a slope: not for trees, whose width is no function of their depth.

    A round shorter than a plain step by more than the errors of both says that the two are not of one time base, and
    then nothing about other depths.
    """
    run, plain, round_ms = sides.run, sides.steps.plain, run_round(sides, draft_length)
    if run is None or run.draft_length is None or plain is None or round_ms is None or sides.drafter_class.is_tree:
        return False
    return round_ms >= plain.mid * (1 - sides.thresholds["unknown_error"])


def basis_spans(sides: Sides, basis: str, draft_length: int) -> dict[str, Span]:
    """The inputs that the formulas of this source read."""
    measurements, run = sides.case.measurements, sides.run
    if basis in {"measured-run", "run-slope"} and run is not None:
        spans = {"run.rate_tok_s": run.delivered if basis == "measured-run" else run.rate}
        if run.tokens is not None:
            spans["run.tokens_per_round"] = run.tokens
        if run.draft_length is not None:
            spans["run.draft_length"] = Span.exact(float(run.draft_length))
        spans["run.depth_share"] = _depth_share(sides, draft_length)
        return spans
    if basis == "curve":
        curve = _from_curve(sides, draft_length)
        return {} if curve is None else {"verify.curve_ms": curve}
    if basis == "synthetic" and measurements.synthetic_zero_tok_s is not None:
        return {"synthetic.rate_tok_s": _synthetic(sides, from_quantity(measurements.synthetic_zero_tok_s))}
    if basis == "slope" and measurements.round_slope is not None:
        low, high = measurements.round_slope
        return {"slope.round": Span(low, (low + high) / 2, high), **_floor(sides, draft_length)}
    if basis == "predicted":
        return {"verify.factor": _predicted_factor(sides, draft_length)}
    verify_prior, round_prior = (
        sides.beliefs.about("verify_slope", draft_length),
        sides.beliefs.about("round_slope", draft_length),
    )
    if basis == "prior-verify" and verify_prior is not None:
        return {"slope.verify": span_of_prior(verify_prior), **_floor(sides, draft_length)}
    if basis == "prior-round" and round_prior is not None:
        return {"slope.round": span_of_prior(round_prior), **_floor(sides, draft_length)}
    return {"verify.factor": _assumed_factor(sides, draft_length)}


def _depth_share(sides: Sides, draft_length: int) -> Span:
    """How much of what the run's round costs beyond a plain step grows with K: a prior, else what the class says."""
    prior, kind = sides.beliefs.about("depth_share", draft_length), sides.drafter_class
    if kind.constant_in_depth:
        return Span(*kind.depth_share, "bounds") if prior is None else span_of_prior(prior)
    share = Span(*kind.depth_share) if prior is None else span_of_prior(prior)
    least = _least_share(sides)
    return Span(max(share.low, least), max(share.mid, least), max(share.high, least), share.shape)


def _least_share(sides: Sides) -> float:
    """Each further token costs at least a pass of a drafter that passes per token, where that is known."""
    run, plain, round_ms, drafting = sides.run, sides.steps.plain, run_round(sides), drafting_step(sides)
    if run is None or not run.draft_length or plain is None or round_ms is None or drafting is None:
        return 0.0
    grown = round_ms - plain.mid
    return min(1.0, drafting * run.draft_length / grown) if grown > 0 else 0.0


def _floor(sides: Sides, draft_length: int) -> dict[str, Span]:
    """The least that a pass over K+1 rows takes, whatever a slope says."""
    return {"verify.floor_ms": Span.exact(_pass_floor(sides, draft_length))}


def _pass_floor(sides: Sides, draft_length: int) -> float:
    curve = () if sides.drafter_class.is_tree else verify_curve(sides.case, sides.facts)
    measured = least_at(curve, draft_length + 1, sides.thresholds["unknown_error"])
    return max(sides.steps.pass_floor(draft_length), measured)


def _synthetic(sides: Sides, rate: Span) -> Span:
    """The rate with nothing accepted. On a target that restores every one of its rounds did, so that its round is an
    upper bound: one that accepts everything can be as short as a plain step.
    """
    rate = widened(rate, sides.thresholds["unknown_error"])
    if not restores(sides):
        return rate
    plain = sides.steps.plain
    return Span(rate.low, rate.mid, max(rate.high, 1000 / plain.low if plain is not None else UNBOUNDED))


def _assumed_factor(sides: Sides, draft_length: int) -> Span:
    """V(K+1) over the stated step: as it is believed, else from its floor over the policy's factor to anything."""
    believed = sides.case.measurements.verify_factor
    if believed is not None and sides.steps.plain is not None:
        return from_quantity(believed)
    factor = sides.thresholds["ceiling_factor"]
    declared = sides.steps.declared
    floor = 0.0 if declared is None else _pass_floor(sides, draft_length) / declared.mid
    floor = min(floor, UNBOUNDED)
    return Span(floor, max(floor, factor), UNBOUNDED)


def _predicted_factor(sides: Sides, draft_length: int) -> Span:
    """V(K+1) over the plain step as predicted, with the interval of a prior beside it where one matches.

    The prediction knows this target but no launches or kernels; the prior has met these and knows kinds of targets
    only. Neither is an estimate of the other, so that both of their intervals count, as bounds.
    """
    predicted = predicted_verify(sides.case, draft_length + 1, sides.steps.plain)
    known = Span.exact(1.0) if predicted is None else predicted.factor
    factor = Span(known.low, known.mid, known.high, "bounds")
    prior = sides.beliefs.about("verify_slope", draft_length)
    if prior is None:
        return factor
    low, high = 1 + prior.low * draft_length, 1 + prior.high * draft_length
    return Span(min(low, factor.low), factor.mid, max(high, factor.high), "bounds")


def _from_curve(sides: Sides, draft_length: int) -> Span | None:
    """V(K+1) between the measured widths around it.

    None for trees: they verify all their nodes, and how many those are is not known.
    """
    if sides.drafter_class.is_tree:
        return None
    return at_width(verify_curve(sides.case, sides.facts), draft_length + 1)
