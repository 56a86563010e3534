"""Where the round time of each draft length comes from, best source first, as inputs of the formulas.

A measured run at the very depth, a measured verify curve with a measured drafter, a measured run at another depth, a
run with synthetic acceptance zero, a stated slope, a prior, and last the stated step time with an assumed factor, which
may reject but never approve.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import hypot, isnan

from specrules.derive.acceptance import Observed
from specrules.derive.curve import verify_curve
from specrules.derive.overheads import per_round, per_token
from specrules.derive.priors import Beliefs, span_of_prior
from specrules.derive.spans import UNBOUNDED, Span, from_quantity, is_point, span_of, widened
from specrules.derive.steps import Steps
from specrules.economics import verify
from specrules.model.case import Case
from specrules.model.drafter import DrafterClass
from specrules.model.engine import Method
from specrules.model.fact import Facts
from specrules.model.prior import Prior
from specrules.model.quantity import Quantity

BASES = {
    "measured-run": "a measured run at this draft length",
    "curve": "a measured verify curve and a measured drafter",
    "run-slope": "a measured run at another draft length",
    "synthetic": "a run with synthetic acceptance zero",
    "slope": "the stated slope of the round",
    "prior-verify": "a prior of the verify slope, and the drafter's own price",
    "prior-round": "a prior of the round's slope",
    "step": "the stated step time and an assumed factor",
}


@dataclass(frozen=True, slots=True)
class Run:
    """A measured run of this very candidate that really drafted: its rate, tokens per drafting round and depth.

    `rate` is that of the run, with the error of timing it; its round follows from it. `delivered` is what the candidate
    delivers on other requests too, whose acceptance may differ as far as its own error says.
    """

    rate: Span
    delivered: Span
    tokens: Span | None
    draft_length: int | None


@dataclass(frozen=True, slots=True)
class Sides:
    """Everything that the formulas are fed from."""

    case: Case
    facts: Facts
    steps: Steps
    drafter_class: DrafterClass
    method: Method | None
    observed: Observed | None
    run: Run | None
    thresholds: Mapping[str, float]
    beliefs: Beliefs


@dataclass(frozen=True, slots=True)
class RoundInputs:
    """The inputs of the formulas for one draft length, and where the round comes from."""

    basis: str
    fixed: dict[str, object]
    spans: dict[str, Span]


def priors_used(sides: Sides, inputs: RoundInputs) -> tuple[Prior, ...]:
    """The priors that stand in for measurements at this draft length."""
    found = [
        sides.beliefs.about("conditional_acceptance") if sides.observed and sides.observed.kind == "prior" else None,
        sides.beliefs.about("round_slope") if inputs.basis == "prior-round" else None,
        sides.beliefs.about("verify_slope") if inputs.basis == "prior-verify" else None,
        sides.beliefs.about("draft_cost") if inputs.basis == "curve" and not _drafter_cost_is_known(sides) else None,
        sides.beliefs.about("coverage") if _coverage_is_believed(sides) else None,
    ]
    return tuple(prior for prior in found if prior is not None)


def measured_run(
    case: Case, facts: Facts, observed: Observed | None, thresholds: Mapping[str, float], *, is_tree: bool = False
) -> Run | None:
    """The candidate's run, where one was measured and did draft. Its rate gets an error where nobody stated one.

    Its depth is the stated one, else that of its acceptance, else the one that the case wants to deploy at.
    """
    rate = span_of(facts.get("candidate.rate_tok_s"))
    if rate is None or facts.value("candidate.drafting") is False:
        return None
    length = facts.number("candidate.draft_length")
    depth = int(length) if length is not None else (observed.depth if observed else None) or case.engine.draft_length
    tokens = span_of(facts.get("candidate.tokens_per_round"))
    if tokens is None and observed is not None and observed.depth == depth:
        tokens = observed.tokens
        if tokens is None and observed.ratio is not None and depth is not None and not is_tree:
            ratio = observed.ratio
            tokens = Span(1 + ratio.low * depth, 1 + ratio.mid * depth, 1 + ratio.high * depth, ratio.shape)
    timed = widened(rate, thresholds["unknown_error"])
    return Run(timed, _delivered(timed, observed), tokens, depth)


def _delivered(timed: Span, observed: Observed | None) -> Span:
    """The rate with the error of its acceptance, both relative errors added as independent ones."""
    tokens = None if observed is None else observed.tokens
    if tokens is None or is_point(tokens):
        return timed
    low = hypot(1 - timed.low / timed.mid, 1 - tokens.low / tokens.mid)
    high = hypot(timed.high / timed.mid - 1, tokens.high / tokens.mid - 1)
    return Span(timed.mid * (1 - low), timed.mid, timed.mid * (1 + high))


def round_inputs(sides: Sides, draft_length: int, *, spread: bool = True) -> RoundInputs:
    """Choose the best source of the round at this draft length and collect its inputs."""
    basis = _basis(sides, draft_length)
    fixed: dict[str, object] = {
        "draft_length": float(draft_length),
        "basis": basis,
        "drafter.is_tree": sides.drafter_class.is_tree,
        "drafter.covers_every_round": sides.drafter_class.covers_every_round,
        **{f"policy.{name}": value for name, value in sides.thresholds.items()},
    }
    spans = {
        **_incumbent(sides),
        **_drafter(sides, draft_length),
        **_overheads(sides),
        **_request(sides),
        **_basis_spans(sides, basis, draft_length),
    }
    if sides.observed is not None:
        how, intervals = sides.observed.at(draft_length, spread=spread, chain=not sides.drafter_class.is_tree)
        fixed |= how
        spans |= intervals
    if basis == "measured-run" and sides.run is not None and sides.run.tokens is not None:
        fixed |= {"how": "measured"}
        spans = {name: span for name, span in spans.items() if not name.startswith("acceptance.")}
        spans["acceptance.tokens"] = sides.run.tokens
    return RoundInputs(basis, fixed, spans)


def _basis(sides: Sides, draft_length: int) -> str:
    measurements, run = sides.case.measurements, sides.run
    if run is not None and run.draft_length == draft_length:
        return "measured-run"
    if _from_curve(sides, draft_length) is not None and _drafter_step(sides) is not None:
        return "curve"
    if _has_slope(sides):
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
    if _drafter_cost_is_known(sides) and sides.beliefs.about("verify_slope") is not None:
        return "prior-verify"
    return "step" if sides.beliefs.about("round_slope") is None else "prior-round"


def _has_slope(sides: Sides) -> bool:
    """Whether the run at another depth gives a slope: not for trees, whose width is no function of their depth.

    A round shorter than a plain step says that the two are not of one time base, and then nothing about other depths.
    """
    run, plain, round_ms = sides.run, sides.steps.plain, run_round(sides)
    if run is None or run.draft_length is None or plain is None or round_ms is None or sides.drafter_class.is_tree:
        return False
    return round_ms >= plain.mid


def run_round(sides: Sides) -> float | None:
    """The round that the measured run implies, in ms: its tokens over its rate, less what both sides pay per token.

    Where a share phi of the rounds drafts, it is that of a drafting round, whose tokens the run counts; the others take
    a plain step and commit one token. None where the run, its tokens or that share is not known.
    """
    run, paid = sides.run, per_token(sides.case, sides.facts)
    if run is None or run.tokens is None or paid is None:
        return None
    per_rate = 1000 / run.rate.mid - paid.mid
    if sides.drafter_class.covers_every_round:
        return run.tokens.mid * per_rate
    share, plain = sides.facts.number("drafter.coverage"), sides.steps.plain
    if not share or plain is None:
        return None
    return ((share * run.tokens.mid + 1 - share) * per_rate - (1 - share) * plain.mid) / share


def _drafter_cost_is_known(sides: Sides) -> bool:
    return all(sides.facts.number(name) is not None for name in sides.drafter_class.cost_inputs)


def _drafter_step(sides: Sides) -> Span | None:
    """What a drafted token costs: as measured, 0 for a class that costs nothing, else a prior over the plain step.

    The prior counts beside a measured curve only: elsewhere a prior of the whole round says more.
    """
    if _drafter_cost_is_known(sides):
        return span_of(sides.facts.get("drafter.step_ms")) or Span.exact(0.0)
    prior, plain = sides.beliefs.about("draft_cost"), sides.steps.plain
    if prior is None or plain is None or not verify_curve(sides.case, sides.facts):
        return None
    share = span_of_prior(prior)
    return Span(share.low * plain.mid, share.mid * plain.mid, share.high * plain.mid, prior.shape)


def _incumbent(sides: Sides) -> dict[str, Span]:
    found = {
        "incumbent.rate_tok_s": span_of(sides.facts.get("incumbent.rate_tok_s")),
        "target.step_ms": sides.steps.plain,
        "target.declared_ms": sides.steps.declared,
    }
    return {name: span for name, span in found.items() if span is not None}


def _drafter(sides: Sides, draft_length: int) -> dict[str, Span]:
    spans: dict[str, Span] = {}
    step = span_of(sides.facts.get("drafter.step_ms"))
    if step is None and sides.drafter_class.cost_inputs:
        step = _drafter_step(sides)
    if step is not None:
        spans["drafter.step_ms"] = step
    catch_up = span_of(sides.facts.get("drafter.catch_up_ms"))
    if catch_up is None:
        catch_up = _assumed_catch_up(sides, step, draft_length)
    if catch_up is not None:
        spans["drafter.catch_up_ms"] = catch_up
    coverage = span_of(sides.facts.get("drafter.coverage")) or span_of(sides.facts.get("candidate.coverage"))
    prior = sides.beliefs.about("coverage")
    if prior is not None and _coverage_is_believed(sides):
        coverage = span_of_prior(prior)
    if coverage is not None:
        spans["drafter.coverage"] = coverage
    return spans


def _coverage_is_believed(sides: Sides) -> bool:
    """Whether the drafter drafts in a share of the rounds that nobody counted."""
    counted = any(sides.facts.number(name) is not None for name in ("drafter.coverage", "candidate.coverage"))
    return not counted and not sides.drafter_class.covers_every_round


def _assumed_catch_up(sides: Sides, step: Span | None, draft_length: int) -> Span | None:
    """A batch of K+1 drafter rows per round costs at least one pass, and at most K+1 of them, or one block."""
    if sides.method is None or sides.method.round.catch_up == "none":
        return Span.exact(0.0)
    if step is None:
        return None
    passes = 1 if sides.drafter_class.constant_in_depth else draft_length + 1
    return Span(step.low, step.mid, passes * step.high, "bounds")


def _overheads(sides: Sides) -> dict[str, Span]:
    found = {
        "overhead.per_round_ms": per_round(sides.case),
        "overhead.per_token_ms": per_token(sides.case, sides.facts),
        "restore_ms": _restore(sides),
        "overlap": _overlap(sides),
    }
    return {name: span for name, span in found.items() if span is not None}


def _request(sides: Sides) -> dict[str, Span]:
    """What a request pays beside its rounds. A drafter without weights has no prompt to pass over."""
    measurements = sides.case.measurements
    prefill = measurements.drafter_prefill_ms
    found = {
        "request.output_tokens": span_of(sides.facts.get("workload.output_tokens")),
        "request.first_token_ms": _stated(measurements.time_to_first_token_ms),
        "request.drafter_prefill_ms": Span.exact(0.0)
        if prefill is None and not sides.drafter_class.needs_weights
        else _stated(prefill),
    }
    return {name: span for name, span in found.items() if span is not None}


def _stated(quantity: Quantity | None) -> Span | None:
    return None if quantity is None else from_quantity(quantity)


def _restore(sides: Sides) -> Span:
    stated = span_of(sides.facts.get("restore.ms"))
    if stated is not None:
        return stated
    return Span(0.0, 0.0, UNBOUNDED) if _restores(sides) else Span.exact(0.0)


def _restores(sides: Sides) -> bool:
    hybrid = sides.case.target.kind in {"hybrid", "hybrid-moe"}
    return hybrid and sides.method is not None and sides.method.round.restores_hybrid


def _overlap(sides: Sides) -> Span:
    stated = sides.case.measurements.overlap
    order = None if sides.method is None else sides.method.round.order
    if sides.drafter_class.reads_hidden_states or order in {None, "serial", "cpu-overlap"}:
        return Span.exact(0.0)
    if stated is not None:
        return from_quantity(stated)
    return Span(0.0, 0.0, 1.0, "bounds")


def _basis_spans(sides: Sides, basis: str, draft_length: int) -> dict[str, Span]:
    measurements, run = sides.case.measurements, sides.run
    if basis in {"measured-run", "run-slope"} and run is not None:
        spans = {"run.rate_tok_s": run.delivered if basis == "measured-run" else run.rate}
        if run.tokens is not None:
            spans["run.tokens_per_round"] = run.tokens
        if run.draft_length is not None:
            spans["run.draft_length"] = Span.exact(float(run.draft_length))
        block = sides.drafter_class.constant_in_depth
        spans["run.depth_share"] = Span(0.0, 0.5, 1.0, "bounds") if block else Span.exact(1.0)
        return spans
    if basis == "curve":
        curve = _from_curve(sides, draft_length)
        return {} if curve is None else {"verify.curve_ms": curve}
    if basis == "synthetic" and measurements.synthetic_zero_tok_s is not None:
        return {"synthetic.rate_tok_s": _synthetic(sides, from_quantity(measurements.synthetic_zero_tok_s))}
    if basis == "slope" and measurements.round_slope is not None:
        low, high = measurements.round_slope
        return {"slope.round": Span(low, (low + high) / 2, high), **_floor(sides, draft_length)}
    verify_prior, round_prior = sides.beliefs.about("verify_slope"), sides.beliefs.about("round_slope")
    if basis == "prior-verify" and verify_prior is not None:
        return {"slope.verify": span_of_prior(verify_prior), **_floor(sides, draft_length)}
    if basis == "prior-round" and round_prior is not None:
        return {"slope.round": span_of_prior(round_prior), **_floor(sides, draft_length)}
    return {"verify.factor": _assumed_factor(sides, draft_length)}


def _floor(sides: Sides, draft_length: int) -> dict[str, Span]:
    """The least that a pass over K+1 rows takes, whatever a slope says."""
    return {"verify.floor_ms": Span.exact(sides.steps.pass_floor(draft_length))}


def _synthetic(sides: Sides, rate: Span) -> Span:
    """The rate with nothing accepted. On a target that restores every one of its rounds did, so that its round is an
    upper bound: one that accepts everything can be as short as a plain step.
    """
    rate = widened(rate, sides.thresholds["unknown_error"])
    if not _restores(sides):
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
    floor = 0.0 if declared is None else sides.steps.pass_floor(draft_length) / declared.mid
    floor = min(floor, UNBOUNDED)
    return Span(floor, max(floor, factor), UNBOUNDED)


def _from_curve(sides: Sides, draft_length: int) -> Span | None:
    """V(K+1) between the measured widths around it. Beyond the last width only the low end is known: no curve then.

    None for trees: they verify all their nodes, and how many those are is not known.
    """
    curve = verify_curve(sides.case, sides.facts)
    if not curve or sides.drafter_class.is_tree:
        return None
    widths = [point.width for point in curve]
    ends = [
        verify.verify_from_curve(draft_length + 1, widths, times)
        for times in zip(*((point.ms.low, point.ms.mid, point.ms.high) for point in curve), strict=True)
    ]
    low, mid, high = ends[0].low, ends[1].mid, ends[2].high
    if any(isnan(end) for end in (low, mid, high)):
        return None
    measured = draft_length + 1 in widths
    return Span(float(low), float(mid), float(high), "interval" if measured else "bounds")
